// The one public error type: a code, its HTTP status and a message that is safe to show.
// A refusal is data: functions return or throw a Problem; anything else that is thrown is a bug.

/** Every public error code, its HTTP status and its default text (decisions.md, section 2). */
export const problemCodes = {
  invalid_request: { status: 400, message: 'The request is invalid.' },
  context_length_exceeded: {
    status: 400,
    message: 'The input does not fit into the context window of the model.',
  },
  not_available: { status: 400, message: 'This is not available here.' },
  unauthenticated: { status: 401, message: 'Credentials are missing.' },
  invalid_api_key: { status: 401, message: 'The API key is unknown, revoked or mistyped.' },
  session_expired: { status: 401, message: 'The session is unknown or has expired.' },
  insufficient_credits: { status: 402, message: 'The wallet does not cover this request.' },
  spend_limit_exceeded: { status: 402, message: 'A spending limit does not allow this request.' },
  insufficient_scope: { status: 403, message: 'The credential lacks the required scope.' },
  forbidden: { status: 403, message: 'This is not allowed for the caller.' },
  policy_blocked: { status: 403, message: 'A policy does not allow this request.' },
  not_found: { status: 404, message: 'There is no such resource.' },
  model_not_found: { status: 404, message: 'There is no such model.' },
  method_not_allowed: { status: 405, message: 'The method is not allowed on this path.' },
  not_acceptable: { status: 406, message: 'The reply cannot have the media type asked for.' },
  conflict: { status: 409, message: 'The request conflicts with the state of the resource.' },
  invalid_state: { status: 409, message: 'The state of the resource does not allow this.' },
  request_too_large: { status: 413, message: 'The request body is too large.' },
  unsupported_media_type: { status: 415, message: 'The media type is not supported.' },
  idempotency_key_reused: {
    status: 422,
    message: 'The idempotency key was used with another request body.',
  },
  unprocessable_media: { status: 422, message: 'The media cannot be processed.' },
  input_too_long: { status: 422, message: 'The input is too long.' },
  upgrade_required: { status: 426, message: 'This protocol is not available on this path.' },
  rate_limited: { status: 429, message: 'Too many requests a minute for this key.' },
  concurrency_limited: { status: 429, message: 'Too many requests at once for this key or user.' },
  internal: { status: 500, message: 'An internal error occurred.' },
  upstream_error: { status: 502, message: 'The model provider failed.' },
  overloaded: { status: 503, message: 'The service is overloaded. Try again shortly.' },
  no_route_available: { status: 503, message: 'No route can serve this model at the moment.' },
  dependency_unavailable: { status: 503, message: 'A dependency is unavailable. Try again.' },
  upstream_busy: { status: 503, message: 'Every provider of this model is busy. Try again.' },
  upstream_timeout: { status: 504, message: 'The model provider did not answer in time.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ProblemCode = keyof typeof problemCodes;

/** What a problem may add to its code; `param` is the path of the field at fault. */
export interface ProblemOptions {
  message?: string;
  param?: string;
  details?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** A refusal that a client may see. Everything in it is safe to send. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly param: string | null;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(options.message ?? problemCodes[code].message, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = problemCodes[code].status;
    this.param = options.param ?? null;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

/** A Problem as plain data: it crosses threads and can be stored. */
export interface PlainProblem {
  code: ProblemCode;
  message: string;
  param: string | null;
  details: Record<string, unknown> | null;
  headers: Record<string, string>;
}

/** A problem of this code as plain data; without a message it has the code's own. */
export function plainProblem(
  code: ProblemCode,
  message?: string,
  details?: Record<string, unknown>,
): PlainProblem {
  return {
    code,
    message: message ?? problemCodes[code].message,
    param: null,
    details: details ?? null,
    headers: {},
  };
}

/** The Problem that plain data stand for. */
export function toProblem(plain: PlainProblem): Problem {
  return new Problem(plain.code, {
    message: plain.message,
    ...(plain.param === null ? {} : { param: plain.param }),
    ...(plain.details === null ? {} : { details: plain.details }),
    headers: plain.headers,
  });
}
