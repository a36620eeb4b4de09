// Errors as the search provider words them: a message and the status again.
import type { SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';

export interface SerperError {
  statusCode: number;
  message: string;
}

export const wrongKey: SerperError = { statusCode: 403, message: 'Unauthorized.' };
export const missingQuery: SerperError = { statusCode: 400, message: 'Missing query parameter' };

const messages: Readonly<Record<number, string>> = {
  400: 'Not enough credits',
  403: 'Unauthorized.',
  404: 'Not found',
  429: 'Rate limit exceeded.',
};

/** The error that goes with a status that a directive or an outage asks for. */
export function errorOfStatus(status: Refusal): SerperError {
  const statusCode = status === 'unpaid' ? 400 : status;
  return { statusCode, message: messages[statusCode] ?? 'Internal server error' };
}

export function errorReply(error: SerperError, retryAfterSeconds: number): SimReply {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (error.statusCode === 429) headers['retry-after'] = String(retryAfterSeconds);
  const { message, statusCode } = error;
  return { status: statusCode, headers, body: JSON.stringify({ message, statusCode }) };
}
