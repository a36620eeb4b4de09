// Errors as the provider of generateContent words them: a code, a status name, and details.
import type { SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';
import type { Members } from '../members.ts';

export interface GeminiError {
  code: number;
  status: string;
  message: string;
  details?: readonly Members[];
}

const rpc = 'type.googleapis.com/google.rpc';

export function invalidArgument(message: string): GeminiError {
  return { code: 400, status: 'INVALID_ARGUMENT', message };
}

export function unknownModel(model: string, method: string): GeminiError {
  const rest = `is not found for API version v1beta, or is not supported for ${method}.`;
  return { code: 404, status: 'NOT_FOUND', message: `models/${model} ${rest}` };
}

/** This provider answers a wrong key with 400. */
export const wrongKey: GeminiError = {
  ...invalidArgument('API key not valid. Please pass a valid API key.'),
  details: [
    {
      '@type': `${rpc}.ErrorInfo`,
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'generativelanguage.googleapis.com' },
    },
  ],
};

const unpaid: GeminiError = {
  code: 402,
  status: 'RESOURCE_EXHAUSTED',
  message:
    'Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects ' +
    'to manage your project and billing.',
};

const errors: Readonly<Record<number, readonly [string, string]>> = {
  400: ['INVALID_ARGUMENT', 'The simulator was asked to refuse.'],
  401: ['UNAUTHENTICATED', 'Request had invalid authentication credentials.'],
  403: ['PERMISSION_DENIED', 'The caller does not have permission.'],
  404: ['NOT_FOUND', 'Requested entity was not found.'],
  409: ['ABORTED', 'The operation was aborted.'],
  429: ['RESOURCE_EXHAUSTED', 'You exceeded your current quota. Please retry later.'],
  500: ['INTERNAL', 'An internal error has occurred. Please retry or report.'],
  503: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  504: ['DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'],
};

/** The error that goes with a status that a directive or an outage asks for. */
export function errorOfStatus(code: Refusal, retryAfterSeconds: number): GeminiError {
  if (code === 'unpaid') return unpaid;
  const known = errors[code] ?? errors[code < 500 ? 400 : 500] ?? ['UNKNOWN', 'Unknown'];
  const error = { code, status: known[0], message: known[1] };
  if (code !== 429) return error;
  const retry = { '@type': `${rpc}.RetryInfo`, retryDelay: `${retryAfterSeconds}s` };
  return { ...error, details: [retry] };
}

export function errorReply(error: GeminiError, retryAfterSeconds: number): SimReply {
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=UTF-8' };
  if (error.code === 429 || error.code === 503) headers['retry-after'] = String(retryAfterSeconds);
  return { status: error.code, headers, body: JSON.stringify({ error }, null, 2) };
}

/** An error after the status was already 200: as an event, or bare. Clients meet both. */
export const bareErrorEvent = JSON.stringify({ error: errorOfStatus(503, 0) });
export const streamErrorEvent = `data: ${bareErrorEvent}\n\n`;
