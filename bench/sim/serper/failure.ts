// Errors as the search provider words them: a message and the status again.
import type { SimReply } from '../contract.ts';
import type { SearchRefusal } from '../search/serve.ts';

export interface SerperError {
  statusCode: number;
  message: string;
}

export const wrongKey: SerperError = { statusCode: 403, message: 'Unauthorized.' };
export const missingQuery: SerperError = { statusCode: 400, message: 'Missing query parameter' };
const spent: SerperError = { statusCode: 400, message: 'Not enough credits' };

const messages: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  401: 'Unauthorized.',
  403: 'Unauthorized.',
  404: 'Not found',
  429: 'Rate limit exceeded.',
};

/** The error that goes with a status that a directive or an outage asks for. */
export function errorOfStatus(status: SearchRefusal): SerperError {
  if (status === 'unpaid' || status === 'exhausted') return spent;
  return { statusCode: status, message: messages[status] ?? 'Internal server error' };
}

export function errorReply(error: SerperError, retryAfterSeconds: number): SimReply {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const { message, statusCode } = error;
  if (statusCode === 429 || statusCode === 503) headers['retry-after'] = String(retryAfterSeconds);
  return { status: statusCode, headers, body: JSON.stringify({ message, statusCode }) };
}
