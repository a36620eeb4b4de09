// One call of a payment provider's API over undici: JSON out and in, a bound on the answer, and a
// fault where there is none.
import { request } from 'undici';
import { readBounded } from '../transport/bounded-text.ts';
import { isMembers, type Members } from '../transport/members.ts';
import { retryAfterMs } from '../transport/refusal.ts';
import { PaymentFault } from './contract.ts';
import { withinDeadline } from './deadline.ts';

const answerBytesMax = 4 * 1_024 * 1_024;

export interface ApiCall {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: Members;
}

/** The answer's members. @throws PaymentFault */
export async function callApi(call: ApiCall, signal: AbortSignal): Promise<Members> {
  return withinDeadline(signal, (given) => answerTo(call, given));
}

async function answerTo(call: ApiCall, signal: AbortSignal): Promise<Members> {
  const { method, url, headers, body } = call;
  const hasBody = body !== undefined;
  try {
    const reply = await request(url, {
      method,
      headers: { accept: 'application/json', ...headers, ...(hasBody ? jsonType : {}) },
      ...(hasBody ? { body: JSON.stringify(body) } : {}),
      signal,
      // Ours is the one that counts.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const text = await readBounded(reply.body, answerBytesMax);
    const members = membersIn(text ?? '');
    const { statusCode: status } = reply;
    if (status >= 200 && status < 300 && members !== null) return members;
    const texts = Object.entries(reply.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    throw refusalOf(status, members ?? {}, retryAfterMs(Object.fromEntries(texts)));
  } catch (error) {
    if (error instanceof PaymentFault) throw error;
    // Nobody here knows how much of it arrived.
    throw new PaymentFault('unknown', `no answer: ${codeOf(error)}`);
  }
}

const jsonType = { 'content-type': 'application/json' };

function membersIn(text: string): Members | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return isMembers(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'unknown');
}

/** What a status means; the vendors' own words are for logs and administrators alone. */
export function kindOfStatus(status: number): PaymentFault['kind'] {
  if (status === 401 || status === 403) return 'misconfigured';
  if (status === 404) return 'not_found';
  if (status === 429) return 'slow_down';
  // 409: the same call is being done at this moment.
  if (status === 409 || status === 408 || status >= 500 || status < 400) return 'unknown';
  return 'refused';
}

function refusalOf(status: number, members: Members, waitMs: number | null): PaymentFault {
  const error = isMembers(members.error) ? members.error : {};
  const kind = isNotThere(error) ? 'not_found' : kindOfStatus(status);
  const providerCode = typeof error.code === 'string' ? error.code : null;
  const told = typeof error.description === 'string' ? error.description : error.message;
  const words = typeof told === 'string' ? told.slice(0, toldMax) : 'no reason';
  return new PaymentFault(kind, `status ${status}: ${words}`, {
    providerCode,
    retryAfterMs: waitMs,
  });
}

const toldMax = 300;

/** One vendor has a 400 for it. */
function isNotThere({ description }: Members): boolean {
  return typeof description === 'string' && /does not exist/.test(description);
}
