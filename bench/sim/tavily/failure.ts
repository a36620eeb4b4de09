// Errors as Tavily words them. A spent plan has statuses of its own: 432, and 433 for the limit of
// those who pay as they go.
import type { SimReply } from '../contract.ts';
import type { SearchRefusal } from '../search/serve.ts';

const words: Readonly<Record<number, string>> = {
  400: 'Invalid request.',
  401: 'Unauthorized: missing or invalid API key.',
  403: 'This URL is not supported.',
  429: 'Your request has been blocked due to excessive requests.',
  432: "This request exceeds your plan's set usage limit. Please upgrade your plan.",
  433: 'This request exceeds the pay-as-you-go limit.',
};

export function refusalOf(wanted: SearchRefusal, retryAfterSeconds: number): SimReply {
  const status = wanted === 'exhausted' ? 432 : wanted === 'unpaid' ? 433 : wanted;
  const reply = errorReply(status, words[status] ?? 'Internal Server Error');
  if (status !== 429 && status !== 503) return reply;
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfterSeconds) } };
}

export const wrongKey = (): SimReply => refusalOf(401, 0);

export function errorReply(status: number, error: string): SimReply {
  return detailReply(status, { error });
}

/** What its framework says of a body that is no object, or has no query. */
export function missingReply(loc: readonly string[]): SimReply {
  return detailReply(422, [{ type: 'missing', loc, msg: 'Field required', input: null }]);
}

function detailReply(status: number, detail: unknown): SimReply {
  const headers = { 'content-type': 'application/json' };
  return { status, headers, body: JSON.stringify({ detail }) };
}
