// Calls of the service by its own pages. A refusal is data: each page knows what to say of it.

/** A refusal, in any of the envelopes of the service. */
export interface Refusal {
  /** 0: there was no answer. */
  status: number;
  code: string;
  /** What is meant more exactly than by the code. */
  reason: string | null;
  /** The member of the request that is wrong. */
  path: string | null;
  message: string;
  /** Seconds after which another try may do. */
  retryAfter: number | null;
}

export type Outcome<T> = { ok: true; body: T } | { ok: false; refusal: Refusal };

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

const deadlineMs = 20_000;
const none = { code: '', reason: null, path: null, message: '', retryAfter: null };

export async function call<T>(
  method: Method,
  path: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<Outcome<T>> {
  const init: RequestInit = {
    method,
    signal: AbortSignal.timeout(deadlineMs),
    credentials: 'same-origin',
  };
  if (body !== undefined) {
    init.headers = { 'content-type': 'application/json' };
    init.body = JSON.stringify(body);
  }
  try {
    const reply = await fetch(path, init);
    const answer: unknown = await reply.json().catch(() => null);
    if (reply.ok) return { ok: true, body: answer as T };
    return { ok: false, refusal: readRefusal(reply.status, reply.headers, answer) };
  } catch {
    return { ok: false, refusal: { ...none, status: 0 } };
  }
}

interface Envelope {
  error?: string | null | { code?: string; message?: string; details?: Details };
  error_description?: string;
  details?: Details;
}

interface Details {
  reason?: string;
  path?: string;
}

/** The envelope of the API, and that of OAuth (RFC 6749, 5.2). */
export function readRefusal(
  status: number,
  headers: Pick<Headers, 'get'>,
  answer: unknown,
): Refusal {
  const { error, error_description, details = {} } = (answer ?? {}) as Envelope;
  const after = Number.parseInt(headers.get('retry-after') ?? '', 10);
  const retryAfter = Number.isFinite(after) ? after : null;
  const said =
    typeof error === 'object' && error !== null
      ? error
      : { code: error ?? '', message: error_description ?? '', details };
  return {
    status,
    code: said.code ?? '',
    reason: said.details?.reason ?? null,
    path: said.details?.path ?? null,
    message: said.message ?? '',
    retryAfter,
  };
}
