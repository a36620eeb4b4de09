// Who asks. In development mode a session and a key are lent to pages on the developer's machine.
// Elsewhere it is who is signed in, or a key that the visitor types. That is kept nowhere.

/** What went wrong, for people. */
export class CallProblem extends Error {
  readonly code: string;
  /** The member of the request that is wrong. */
  readonly param: string | null;
  readonly status: number;
  /** Seconds until another look may do, as the server says. */
  readonly retryAfter: number | null;

  constructor(
    message: string,
    {
      code = '',
      param = null as string | null,
      status = 0,
      retryAfter = null as number | null,
    } = {},
  ) {
    super(message);
    this.code = code;
    this.param = param;
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Whether there may be another answer in a moment. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export interface Answer<T> {
  body: T;
  headers: Headers;
}

const DEADLINE_MS = 15_000;
/** The largest file that there is, over a slow line. */
const FILE_DEADLINE_MS = 300_000;
const UNREACHABLE = 'The server cannot be reached. Is it running?';
const LIST = '/v1/video/generations';

type Method = 'GET' | 'POST' | 'DELETE';

export class Account {
  /** In development mode. */
  #lent: string | null = null;
  #given: string | null = null;
  /** A cookie that no script reads signs in: media elements send it, too. */
  hasSession = false;

  /** Rejects with a CallProblem where that cannot be found out now. */
  static async open(isDevelopment: boolean): Promise<Account> {
    const account = new Account();
    if (isDevelopment) await account.#borrow();
    if (account.#lent !== null) return account;
    try {
      await account.make('GET', `${LIST}?limit=1`);
      account.hasSession = true;
    } catch (error) {
      if (!(error instanceof CallProblem) || error.isPassing) throw error;
    }
    return account;
  }

  get isLent(): boolean {
    return this.#lent !== null;
  }

  get canMake(): boolean {
    return this.hasSession || this.canDescribe;
  }

  /** Descriptions take a key, never a session. */
  get canDescribe(): boolean {
    return this.#lent !== null || this.#given !== null;
  }

  giveKey(key: string | null): void {
    this.#given = key;
  }

  /** Calls a route of generations. */
  async make<T>(
    method: Method,
    path: string,
    options: { body?: string; onceKey?: string } = {},
  ): Promise<Answer<T>> {
    const key = () => this.#lent ?? (this.hasSession ? null : this.#given);
    return await this.#call<T>(method, path, key, options);
  }

  /** Calls a route of analyses. */
  async describe<T>(
    method: Method,
    path: string,
    options: { body?: string; onceKey?: string } = {},
  ): Promise<Answer<T>> {
    return await this.#call<T>(method, path, () => this.#lent ?? this.#given, options);
  }

  /** Calls a route that takes the session alone. */
  async own<T>(method: Method, path: string): Promise<Answer<T>> {
    return await this.#call<T>(method, path, () => null, {});
  }

  /** The file of a job, for who has a key and no session. */
  async file(jobId: string): Promise<Blob> {
    const headers = headersOf(this.#lent ?? this.#given, {});
    const reply = await request('GET', `${LIST}/${jobId}/content`, headers, FILE_DEADLINE_MS);
    if (!reply.ok) throw await problemOf(reply);
    return await reply.blob().catch(() => {
      throw new CallProblem('The video did not arrive whole. Try again.');
    });
  }

  async #call<T>(
    method: Method,
    path: string,
    keyOf: () => string | null,
    options: { body?: string; onceKey?: string },
  ): Promise<Answer<T>> {
    const send = () =>
      request(method, path, headersOf(keyOf(), options), DEADLINE_MS, options.body);
    let reply = await send();
    if (reply.status === 401 && this.#lent !== null) {
      // The server was started anew on other data.
      await this.#borrow();
      reply = await send();
    }
    if (!reply.ok) throw await problemOf(reply);
    const body = (await reply.json().catch(() => {
      throw new CallProblem('The server sent half an answer.');
    })) as T;
    return { body, headers: reply.headers };
  }

  async #borrow(): Promise<void> {
    const reply = await request('POST', '/video/session', {}, DEADLINE_MS);
    this.#lent = reply.ok ? ((await reply.json()) as { api_key: string }).api_key : null;
    this.hasSession = this.#lent !== null;
  }
}

function headersOf(
  key: string | null,
  { body, onceKey }: { body?: string; onceKey?: string },
): Record<string, string> {
  return {
    ...(key === null ? {} : { 'x-api-key': key }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(onceKey === undefined ? {} : { 'idempotency-key': onceKey }),
  };
}

async function request(
  method: string,
  path: string,
  headers: Record<string, string>,
  deadlineMs: number,
  body?: string,
): Promise<Response> {
  const signal = AbortSignal.timeout(deadlineMs);
  const init: RequestInit = { method, headers, signal, credentials: 'same-origin' };
  if (body !== undefined) init.body = body;
  try {
    return await fetch(path, init);
  } catch {
    throw new CallProblem(UNREACHABLE);
  }
}

/** Both envelopes of the API: that of `/v1`, and the plain one. */
interface Refusal {
  error?: { code?: string; message?: string; param?: string; details?: { path?: string } };
}

async function problemOf(reply: Response): Promise<CallProblem> {
  const { error = {} } = (await reply.json().catch(() => ({}))) as Refusal;
  const { code = '', message = `The server answered ${reply.status}.` } = error;
  const after = Number(reply.headers.get('retry-after') ?? Number.NaN);
  return new CallProblem(reply.status === 402 ? shortage(reply, message) : message, {
    code,
    param: error.param ?? error.details?.path ?? null,
    status: reply.status,
    retryAfter: Number.isFinite(after) ? after : null,
  });
}

/** The amounts stand in headers. */
function shortage({ headers }: Response, message: string): string {
  const amounts = ['required', 'available'].map((name) =>
    Number(headers.get(`x-svc-${name}-microcredits`) ?? Number.NaN),
  );
  const [needed = Number.NaN, left = Number.NaN] = amounts.map((micros) => micros / 1_000_000);
  if (Number.isNaN(needed) || Number.isNaN(left)) return message;
  return `This needs ${needed} credits, and ${left} are left.`;
}

/**
 * One idempotency key for one request, however often it is sent: a request whose answer was lost is
 * asked for again under its own name. The next one that is meant gets another.
 */
export class Once {
  #body = '';
  #key = '';

  keyFor(body: string): string {
    if (this.#body !== body || this.#key === '') {
      this.#body = body;
      // Not randomUUID, which only secure pages have.
      const bytes = crypto.getRandomValues(new Uint8Array(16));
      const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
      this.#key = `page-${digits.join('')}`;
    }
    return this.#key;
  }

  /** It was answered: the same body is meant anew. */
  done(): void {
    this.#key = '';
  }
}
