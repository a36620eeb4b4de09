// The error envelope of Messages (decisions.md, section 2). 529 is never used: overload stays 503.
import type { Problem } from '../../../../runtime/problem.ts';

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** The reply body, and the data of the `error` event. */
export function messagesError(problem: Problem, requestId: string): Record<string, unknown> {
  const fallback = problem.status >= 500 ? 'api_error' : 'invalid_request_error';
  const type = types[problem.status] ?? fallback;
  const error = { type, message: problem.message, ...detailsOf(problem) };
  return { type: 'error', error, request_id: requestId };
}

/** The vendor's own `error_code`, where a problem names one: clients recover from some by it. */
function detailsOf({ details }: Problem): { details?: Record<string, unknown> } {
  return typeof details?.error_code === 'string' ? { details } : {};
}
