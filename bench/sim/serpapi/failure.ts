// Errors as SerpApi words them: `{error}`, and an envelope where the search itself has failed. One
// status stands for a rate and for a spent plan: the words tell which.
import type { SimReply } from '../contract.ts';
import type { SearchRefusal } from '../search/serve.ts';

const words: Readonly<Record<number, string>> = {
  400: 'Unsupported value for a parameter.',
  401: 'Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key',
  403: "The account associated with this API key doesn't have permission to do this request.",
  404: "The resource doesn't exist.",
  410: 'This search has expired.',
  429: 'You have exceeded your hourly throughput limit. Please try again later.',
};
const spent = {
  exhausted: 'Your account has run out of searches.',
  unpaid: 'Your searches for the month have run out. You can upgrade plans on SerpApi.com website.',
};

export function errorReply(status: number, error: string): SimReply {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers, body: JSON.stringify({ error }) };
}

export const wrongKey = (): SimReply => errorReply(401, words[401] ?? '');

/** `failed`: the envelope of a search that did not succeed. */
export function refusalOf(
  wanted: SearchRefusal,
  retryAfterSeconds: number,
  failed: (error: string) => unknown,
): SimReply {
  if (wanted === 'unpaid' || wanted === 'exhausted') return errorReply(429, spent[wanted]);
  const known = words[wanted];
  if (known === undefined) {
    const body = failed("We couldn't get valid results for this search. Please try again later.");
    return { ...errorReply(wanted, ''), body: JSON.stringify(body) };
  }
  const reply = errorReply(wanted, known);
  if (wanted !== 429) return reply;
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfterSeconds) } };
}
