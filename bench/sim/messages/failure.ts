// Errors as the provider of Messages words them, with status, headers and its envelope.
import type { SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';
import type { Members } from '../members.ts';

export interface MessagesError {
  status: number;
  type: string;
  message: string;
  details?: Members;
}

/** Conversations that the provider would keep: for an account that may not, clients send it all. */
export const noThreads: MessagesError = {
  ...invalidRequest('thread: not supported together with a setting of your organization.'),
  details: { error_code: 'thread_unsupported_request', unsupported: ['hipaa'] },
};

export function invalidRequest(message: string): MessagesError {
  return { status: 400, type: 'invalid_request_error', message };
}

export function unknownModel(model: string): MessagesError {
  return { status: 404, type: 'not_found_error', message: `model: ${model}` };
}

export const wrongKey: MessagesError = {
  status: 401,
  type: 'authentication_error',
  message: 'invalid x-api-key',
};

const errors: Readonly<Record<number, readonly [string, string]>> = {
  400: ['invalid_request_error', 'The simulator was asked to refuse.'],
  402: ['billing_error', 'Your credit balance is too low to access the API.'],
  403: ['permission_error', 'Your account does not have permission to use this resource.'],
  404: ['not_found_error', 'Not found'],
  409: ['conflict_error', 'The request conflicts with the current state of the resource.'],
  413: ['request_too_large', 'Request exceeds the maximum size'],
  429: [
    'rate_limit_error',
    'This request would exceed the rate limit for your organization. Please try again later.',
  ],
  500: ['api_error', 'Internal server error'],
  504: ['timeout_error', 'The request timed out while processing.'],
  529: ['overloaded_error', 'Overloaded'],
};

/** The error that goes with a status that a directive or an outage asks for. */
export function errorOfStatus(status: Refusal): MessagesError {
  if (status === 'unpaid') {
    return invalidRequest(
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing ' +
        'to upgrade or purchase credits.',
    );
  }
  if (status === 401) return wrongKey;
  const known = errors[status] ?? errors[status < 500 ? 400 : 500] ?? ['api_error', 'Error'];
  return { status, type: known[0], message: known[1] };
}

export function errorReply(
  error: MessagesError,
  requestId: string,
  retryAfterSeconds: number,
): SimReply {
  const { status } = error;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'request-id': requestId,
    'x-should-retry': status === 408 || status === 429 || status >= 500 ? 'true' : 'false',
  };
  if (status === 429 || status === 503 || status === 529) {
    headers['retry-after'] = String(retryAfterSeconds);
  }
  if (status === 429) headers['anthropic-ratelimit-requests-remaining'] = '0';
  return { status, headers, body: errorBody(error, requestId) };
}

/** An `error` event after the status was already 200. */
export function streamErrorEvent(requestId: string): string {
  return `event: error\ndata: ${errorBody(errorOfStatus(529), requestId)}\n\n`;
}

function errorBody({ type, message, details }: MessagesError, requestId: string): string {
  const error = { details: details ?? null, type, message };
  return JSON.stringify({ type: 'error', error, request_id: requestId });
}
