// What speech and transcription have in common as routes: headers, and the codes that they answer.
import type { ProblemCode } from '../../runtime/problem.ts';
import { retryAfterHeader, shouldRetryHeader } from '../problems.ts';

export const audioHeaders = {
  'idempotency-key': {
    description:
      'Names this request: a retry with it never charges twice. 1 to 255 visible ASCII characters.',
  },
  'x-stainless-retry-count': { description: 'How often the client library has tried before.' },
};

export const audioReplyHeaders = {
  'x-svc-request-id': 'Our id of the request, for GET /v1/generations/{request_id}.',
};

/** Where a request had begun. */
export const audioProblemHeaders = {
  ...audioReplyHeaders,
  ...shouldRetryHeader,
  ...retryAfterHeader,
};

export const audioProblems: ProblemCode[] = [
  'invalid_request',
  'model_not_found',
  'insufficient_credits',
  'spend_limit_exceeded',
  'policy_blocked',
  'idempotency_key_reused',
  'input_too_long',
  'conflict',
  'upstream_error',
  'overloaded',
  'no_route_available',
  'dependency_unavailable',
  'upstream_busy',
  'upstream_timeout',
];
