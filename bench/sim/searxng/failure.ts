// Errors as the metasearch engine tells them: its own are JSON, those of its web framework and of
// its limiter are pages.
import type { SimReply } from '../contract.ts';
import type { SearchRefusal } from '../search/serve.ts';

const names: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** What the engines say that have had enough, where nobody else could be spent. */
export const refusedEngines: readonly (readonly [string, string])[] = [
  ['simulated almanac', 'Suspended: too many requests'],
  ['simulated gazette', 'Suspended: access denied'],
];

export function parameterError(message: string): SimReply {
  return told(400, message);
}

export function refusalOf(status: SearchRefusal, retryAfterSeconds: number): SimReply {
  if (status === 'unpaid' || status === 'exhausted') {
    const body = JSON.stringify({ ...nothing(''), unresponsive_engines: refusedEngines });
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }
  if (status === 400) return parameterError('Invalid value "" for parameter safesearch');
  const name = names[status];
  if (name === undefined) return told(status, 'search error');
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      ...(status === 429 || status === 503 ? { 'retry-after': String(retryAfterSeconds) } : {}),
    },
    body:
      `<!doctype html>\n<html lang=en>\n<title>${status} ${name}</title>\n<h1>${name}</h1>\n` +
      "<p>You don't have the permission to access the requested resource.</p>\n",
  };
}

/** A reply in which every list is empty. */
export function nothing(query: string) {
  return {
    query,
    number_of_results: 0,
    results: [],
    answers: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: [],
  };
}

function told(status: number, error: string): SimReply {
  const headers = { 'content-type': 'application/json' };
  return { status, headers, body: JSON.stringify({ error }) };
}
