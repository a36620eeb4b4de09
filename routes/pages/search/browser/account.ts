// Who asks. In development mode a key is lent to pages on the developer's machine. Elsewhere it is
// who is signed in, or a key that the visitor types. That is kept nowhere.

/** What went wrong, for people. */
export class CallProblem extends Error {
  readonly status: number;
  /** The member of the request that is wrong. */
  readonly path: string | null;

  constructor(message: string, { status = 0, path = null as string | null } = {}) {
    super(message);
    this.status = status;
    this.path = path;
  }
}

/** A cited answer takes a search and a model. */
const DEADLINE_MS = 60_000;
const UNREACHABLE = 'The server cannot be reached. Is it running?';

export class Account {
  #key: string | null = null;
  isLent = false;
  #isSignedIn = false;

  static async open(isDevelopment: boolean): Promise<Account> {
    const account = new Account();
    if (isDevelopment) await account.#borrow();
    if (!account.isLent) account.#isSignedIn = await isSignedIn();
    return account;
  }

  get canAsk(): boolean {
    return this.#key !== null || this.#isSignedIn;
  }

  giveKey(key: string): void {
    this.#key = key;
  }

  async get<T>(path: string): Promise<T> {
    return (await this.#send('GET', path, null, null)) as T;
  }

  async post<T>(path: string, body: string, onceKey: string): Promise<T> {
    try {
      return (await this.#send('POST', path, body, onceKey)) as T;
    } catch (error) {
      // The server was started anew on other data.
      const isForgotten = error instanceof CallProblem && error.status === 401 && this.isLent;
      if (!isForgotten) throw error;
      await this.#borrow();
      return (await this.#send('POST', path, body, onceKey)) as T;
    }
  }

  async #send(
    method: string,
    path: string,
    body: string | null,
    onceKey: string | null,
  ): Promise<unknown> {
    const headers: Record<string, string> = {};
    if (this.#key !== null) headers['x-api-key'] = this.#key;
    if (body !== null) headers['content-type'] = 'application/json';
    if (onceKey !== null) headers['idempotency-key'] = onceKey;
    const reply = await request(method, path, headers, body);
    if (!reply.ok) throw await problemOf(reply);
    return await reply.json().catch(() => {
      throw new CallProblem('The server sent half an answer.');
    });
  }

  async #borrow(): Promise<void> {
    const reply = await request('POST', '/search/key', {}, null);
    this.#key = reply.ok ? ((await reply.json()) as { api_key: string }).api_key : null;
    this.isLent = this.#key !== null;
  }
}

async function isSignedIn(): Promise<boolean> {
  const reply = await request('GET', '/api/auth/session', {}, null);
  if (!reply.ok) return false;
  return ((await reply.json()) as { authenticated?: boolean }).authenticated === true;
}

async function request(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | null,
): Promise<Response> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const init: RequestInit = { method, headers, signal, credentials: 'same-origin' };
  if (body !== null) init.body = body;
  try {
    return await fetch(path, init);
  } catch {
    throw new CallProblem(UNREACHABLE);
  }
}

async function problemOf(reply: Response): Promise<CallProblem> {
  const { error = {} } = (await reply.json().catch(() => ({}))) as {
    error?: { message?: string; details?: { path?: string } };
  };
  const { message = `The server answered ${reply.status}.`, details } = error;
  const after = reply.headers.get('retry-after');
  const wait = after === null ? '' : ` Try again in ${after} s.`;
  return new CallProblem(`${message}${wait}`, {
    status: reply.status,
    path: details?.path ?? null,
  });
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
