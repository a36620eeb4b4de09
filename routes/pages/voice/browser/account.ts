// Who talks, and in which voices: a signed-in user by the session's cookie; in development mode a
// key that can do nothing but talk, lent to pages on the developer's own machine.

export interface VoiceCatalog {
  model: string;
  voices: string[];
}

/** What went wrong, for people. */
export class AccountProblem extends Error {
  /** Whether there may be another answer in a moment. */
  readonly isPassing: boolean;

  constructor(message: string, { isPassing = false }: { isPassing?: boolean } = {}) {
    super(message);
    this.isPassing = isPassing;
  }
}

export interface Account {
  readonly isLent: boolean;
  catalog(): Promise<VoiceCatalog>;
  /** Single use, a minute: it stands in an address, where nothing longer-lived may. */
  ticket(): Promise<string>;
}

const DEADLINE_MS = 10_000;
export const UNREACHABLE = 'The server cannot be reached. Is it running?';

interface Refusal {
  error?: { code?: string; message?: string };
}

/** Rejects with an AccountProblem when nobody is signed in. */
export async function openAccount(isDevelopment: boolean): Promise<Account> {
  let key = isDevelopment ? await lentKey() : null;
  const call = async <T>(method: 'GET' | 'POST', path: string): Promise<T> => {
    const send = () => request(method, path, key === null ? {} : { 'x-api-key': key });
    let reply = await send();
    if (reply.status === 401 && isDevelopment) {
      // The server was started anew on other data.
      key = await lentKey();
      reply = await send();
    }
    if (reply.ok) return (await reply.json()) as T;
    throw await problemOf(reply);
  };
  return {
    isLent: key !== null,
    catalog: async () => {
      const list = await call<{ model: string; data: { id: string }[] }>('GET', '/v1/voice/voices');
      return { model: list.model, voices: list.data.map(({ id }) => id) };
    },
    ticket: async () => (await call<{ ticket: string }>('POST', '/v1/voice/tickets')).ticket,
  };
}

/** Null where the server lends none: then the cookie has to do. */
async function lentKey(): Promise<string | null> {
  const reply = await request('POST', '/voice/key', {});
  if (!reply.ok) return null;
  return ((await reply.json()) as { api_key: string }).api_key;
}

async function request(
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    return await fetch(path, { method, headers, signal, credentials: 'same-origin' });
  } catch {
    throw new AccountProblem(UNREACHABLE, { isPassing: true });
  }
}

async function problemOf(reply: Response): Promise<AccountProblem> {
  if (reply.status === 401) {
    return new AccountProblem('Sign in first: a conversation is charged to your account.');
  }
  if (reply.status === 404) return new AccountProblem('This server has no voices to talk to.');
  const isPassing = reply.status === 429 || reply.status >= 500;
  if (reply.status === 503) {
    const message = 'All places are taken at the moment. Try again in a minute.';
    return new AccountProblem(message, { isPassing });
  }
  const refusal = (await reply.json().catch(() => ({}))) as Refusal;
  const message = refusal.error?.message ?? `The server answered ${reply.status}.`;
  return new AccountProblem(message, { isPassing });
}
