// Errors as the provider of Chat Completions, Responses, speech and transcription words them, with
// status and headers.
import type { SimExchange, SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';

export interface ChatError {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

export function invalidRequest(message: string, param: string | null): ChatError {
  return { status: 400, message, type: 'invalid_request_error', param, code: null };
}

export function unknownModel(model: string): ChatError {
  return {
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    type: 'invalid_request_error',
    param: null,
    code: 'model_not_found',
  };
}

export const wrongKey: ChatError = {
  status: 401,
  message: 'Incorrect API key provided: sim-****. You can find your API key in your settings.',
  type: 'invalid_request_error',
  param: null,
  code: 'invalid_api_key',
};

/** The error that goes with a status that a directive or an outage asks for. */
export function errorOfStatus(status: Refusal): ChatError {
  switch (status) {
    case 'unpaid':
      return {
        status: 429,
        message:
          'You exceeded your current quota, please check your plan and billing details. For more ' +
          'information on this error, read the docs.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      };
    case 401:
      return wrongKey;
    case 403:
      return {
        status,
        message: 'Country, region, or territory not supported',
        type: 'request_forbidden',
        param: null,
        code: 'unsupported_country_region_territory',
      };
    case 404:
      return unknownModel('simulated');
    case 429:
      return {
        status,
        message: 'Rate limit reached for requests. Please try again shortly.',
        type: 'requests',
        param: null,
        code: 'rate_limit_exceeded',
      };
    default:
      if (status < 500) {
        return { ...invalidRequest('The simulator was asked to refuse.', 'messages'), status };
      }
      return {
        status,
        message: 'The server had an error while processing your request. Sorry about that!',
        type: 'server_error',
        param: null,
        code: null,
      };
  }
}

export function errorBody(error: ChatError): string {
  const { message, type, param, code } = error;
  return `{"error":${JSON.stringify({ message, type, param, code })}}`;
}

/** A `data:` event in the middle of a stream. */
export const streamErrorEvent = `data: ${errorBody(errorOfStatus(500))}\n\n`;

export function errorHeaders(
  error: ChatError,
  requestId: string,
  retryAfterSeconds: number,
): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-request-id': requestId,
  };
  if (error.status === 429 || error.status === 503) {
    headers['retry-after'] = String(retryAfterSeconds);
    headers['retry-after-ms'] = String(retryAfterSeconds * 1000);
  }
  return headers;
}

/** The reply to a request that is refused. */
export function refusal(
  exchange: SimExchange,
  error: ChatError,
  retryAfterSeconds: number,
): SimReply {
  const headers = errorHeaders(error, requestIdOf(exchange), retryAfterSeconds);
  return { status: error.status, headers, body: errorBody(error) };
}

/** What `x-request-id` says. */
export function requestIdOf(exchange: SimExchange): string {
  return `req_${exchange.id(32).toLowerCase()}`;
}
