// How this provider says no.
import type { CardError, Intent } from './objects.ts';

export interface Failure {
  failed: true;
  status: number;
  error: Record<string, unknown>;
}

function failure(status: number, error: Record<string, unknown>): Failure {
  return { failed: true, status, error };
}

export function isFailure(value: object): value is Failure {
  return 'failed' in value && value.failed === true;
}

export function invalid(param: string, message: string): Failure {
  return failure(400, { type: 'invalid_request_error', param, message });
}

export function missing(kind: string, id: string): Failure {
  return failure(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    param: kind,
    message: `No such ${kind}: '${id}'`,
  });
}

export function wrongState(message: string): Failure {
  return failure(400, { type: 'invalid_request_error', code: 'resource_state', message });
}

export function cardDeclined(error: CardError, intent: Intent): Failure {
  return failure(402, { ...error, payment_intent: intent });
}

export const wrongKey = failure(401, {
  type: 'invalid_request_error',
  message: 'Invalid API Key provided: sk_test_****',
});

export const otherRequest = failure(400, {
  type: 'idempotency_error',
  message: 'Keys for idempotent requests can only be used with the same parameters.',
});

export const ownFault = failure(500, {
  type: 'api_error',
  message: 'An unknown error occurred.',
});

export function ofStatus(status: number): Failure {
  return failure(status, {
    type: status === 429 ? 'rate_limit_error' : 'api_error',
    message: `This is a ${status}.`,
  });
}
