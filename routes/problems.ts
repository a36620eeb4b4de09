// How a problem looks on the wire: four envelopes, chosen by the path of the route (never by an
// alias), and the headers that clients act on. decisions.md, section 2.
import { chatError } from '../media/model/dialects/chat/error.ts';
import { messagesError } from '../media/model/dialects/messages/error.ts';
import { Problem, type ProblemCode, problemCodes } from '../runtime/problem.ts';

export type Envelope = 'v1' | 'messages' | 'plain' | 'oauth';

export interface RenderedProblem {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** What refusals of a request that had begun may carry, as the reference tells it. */
export const shouldRetryHeader = {
  'x-should-retry':
    '`false` where a retry would be charged again, refused again, or fail until the operator acts.',
};

/** A 409 for what is still under way says when to ask again. */
export const retryAfterHeader = {
  'retry-after': 'Where the same request will do later: seconds to wait.',
};

/** Response headers that browsers of any origin may read. */
export const exposedHeaderNames: readonly string[] = [
  'x-request-id',
  'request-id',
  'retry-after',
  'www-authenticate',
  'etag',
  'location',
  'accept-ranges',
  'content-range',
  'content-disposition',
  'x-should-retry',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-concurrency',
  'x-ratelimit-remaining-concurrency',
  'x-ratelimit-reset-concurrency',
  'x-svc-request-id',
  'x-svc-routing-receipt-id',
  'x-svc-required-microcredits',
  'x-svc-available-microcredits',
  'x-svc-catalog-version',
  'x-svc-dropped-members',
  'x-svc-charge-microcredits',
];

/** What a refusal looks like, for the reference: with what those who refuse add to the code. */
export function sampleProblem(code: ProblemCode): Problem {
  const { status } = problemCodes[code];
  if (status === 402) {
    const details = { required_microcredits: 17_063, available_microcredits: 5_000 };
    return new Problem(code, { details });
  }
  if (status !== 429) return new Problem(code);
  const rates = exposedHeaderNames.filter((name) => name.startsWith('x-ratelimit-'));
  const headers = Object.fromEntries(['retry-after', ...rates].map((name) => [name, '1']));
  return new Problem(code, { headers });
}

/**
 * What our own codes are called where a route names no error itself: RFC 6749, 4.1.2.1 and 5.2, and
 * RFC 6750, 3.1. Only who a client is makes an `invalid_client`, and that is named.
 */
const oauthErrors: Record<number, string> = {
  401: 'invalid_token',
  402: 'access_denied',
  403: 'access_denied',
  429: 'temporarily_unavailable',
  500: 'server_error',
  502: 'server_error',
  503: 'temporarily_unavailable',
  504: 'temporarily_unavailable',
};

/** The envelope of a route's path; an unknown path under /api is an alias of nothing. */
export function envelopeOf(path: string): Envelope {
  if (isUnder(path, '/oauth')) return 'oauth';
  if (isUnder(path, '/v1/messages')) return 'messages';
  if (isUnder(path, '/v1/voice')) return 'plain';
  return isUnder(path, '/v1') ? 'v1' : 'plain';
}

/** Status, headers and JSON body of a problem on a route. */
export function renderProblem(path: string, problem: Problem, requestId: string): RenderedProblem {
  const envelope = envelopeOf(path);
  const headers = headersOf(problem);
  if (envelope === 'messages') headers['request-id'] = requestId;
  if (envelope === 'oauth') headers['cache-control'] = 'no-store';
  return { status: problem.status, headers, body: bodyOf(envelope, problem, requestId) };
}

/** The error object of `/v1` alone, as it stands in a reply's or a stream's `error`. */
export function v1Error(problem: Problem): Record<string, unknown> {
  return { ...chatError(problem) };
}

/** The `error` member of every other reply, also of voice events. */
export function plainError(problem: Problem, requestId: string): Record<string, unknown> {
  const { code, message, param } = problem;
  // This envelope has no member for the field but here.
  const details = param === null ? problem.details : { path: param, ...problem.details };
  const error = { code, message, request_id: requestId };
  return details === undefined ? error : { ...error, details: plainDetails(details) };
}

/** Amounts are bigint inside and JSON integers outside (below 2^53). */
function plainDetails(details: Record<string, unknown>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(details)) {
    plain[name] = typeof value === 'bigint' ? Number(value) : value;
  }
  return plain;
}

function bodyOf(envelope: Envelope, problem: Problem, requestId: string): Record<string, unknown> {
  if (envelope === 'v1') return { error: v1Error(problem) };
  if (envelope === 'messages') return messagesError(problem, requestId);
  if (envelope === 'plain') return { ok: false, error: plainError(problem, requestId) };
  return { error: oauthError(problem), error_description: oauthDescription(problem.message) };
}

/** A route of /oauth names the RFC's own error in `details.error`, e.g. `invalid_grant`. */
function oauthError(problem: Problem): string {
  const named = problem.details?.error;
  return typeof named === 'string' ? named : (oauthErrors[problem.status] ?? 'invalid_request');
}

/** RFC 6749, 5.2 allows only printable ASCII without quote and backslash. */
function oauthDescription(message: string): string {
  return message.replace(/["\\]/g, "'").replace(/[^ -~]/g, '?');
}

function headersOf(problem: Problem): Record<string, string> {
  const { status, details } = problem;
  const headers: Record<string, string> = {};
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (status === 503 || status === 504) headers['retry-after'] = '1';
  if (status === 402 || status === 422) headers['x-should-retry'] = 'false';
  if (status === 402) {
    addAmount(headers, 'x-svc-required-microcredits', details?.required_microcredits);
    addAmount(headers, 'x-svc-available-microcredits', details?.available_microcredits);
  }
  return Object.assign(headers, problem.headers);
}

function addAmount(headers: Record<string, string>, name: string, amount: unknown): void {
  if (typeof amount === 'number' || typeof amount === 'bigint' || typeof amount === 'string') {
    headers[name] = String(amount);
  }
}

function isUnder(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };

function closed(properties: Record<string, unknown>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

const envelopeSchemas: Record<Envelope, { name: string; schema: Record<string, unknown> }> = {
  v1: {
    name: 'Error',
    schema: closed({
      error: closed({ message: text, type: text, code: text, param: textOrNull }),
    }),
  },
  messages: {
    name: 'MessagesError',
    schema: closed({
      type: { const: 'error' },
      error: closed({ type: text, message: text, details: { type: 'object' } }, ['details']),
      request_id: text,
    }),
  },
  plain: {
    name: 'PlainError',
    schema: closed({
      ok: { const: false },
      error: closed({ code: text, message: text, request_id: text, details: { type: 'object' } }, [
        'details',
      ]),
    }),
  },
  oauth: { name: 'OAuthError', schema: closed({ error: text, error_description: text }) },
};

/** The JSON Schema of a route's error replies, with its name for the OpenAPI document. */
export function envelopeSchemaOf(path: string): { name: string; schema: Record<string, unknown> } {
  return envelopeSchemas[envelopeOf(path)];
}
