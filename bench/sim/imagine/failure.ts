// Errors as the provider of Grok Imagine words them: a sentence as the code, and a text. A wrong
// key is a 400.
import type { SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';

export interface ImagineError {
  status: number;
  code: string;
  error: string;
}

const invalid = 'Client specified an invalid argument';

export function invalidArgument(error: string): ImagineError {
  return { status: 400, code: invalid, error };
}

export const wrongKey: ImagineError = invalidArgument(
  'Incorrect API key provided: si***. You can obtain an API key from the console.',
);

export const moderated: ImagineError = invalidArgument(
  'Generated video rejected by content moderation.',
);

export function unknownModel(model: string): ImagineError {
  const code = 'Some requested entity was not found';
  return { status: 404, code, error: `The model ${model} does not exist.` };
}

/** The error that goes with a status that a directive or an outage asks for. */
export function errorOfStatus(status: Refusal): ImagineError {
  switch (status) {
    case 'unpaid': {
      const error =
        'Your newly created team does not have any credits yet. You can purchase credits on the ' +
        'console.';
      return { status: 403, code: 'The caller does not have permission', error };
    }
    case 401:
      return { status, code: 'Unauthenticated', error: 'No credentials were presented.' };
    case 403:
      return { status, code: 'The caller does not have permission', error: 'Not allowed.' };
    case 404:
      return { status, code: 'Some requested entity was not found', error: 'Not found.' };
    case 429:
      return {
        status,
        code: 'Some resource has been exhausted',
        error: 'Too many requests. Try again later.',
      };
    default: {
      if (status < 500) return { ...invalidArgument('The simulator was asked to refuse.'), status };
      return { status, code: 'The service is currently unavailable', error: 'Try again later.' };
    }
  }
}

export function errorReply({ status, code, error }: ImagineError, retryAfter: number): SimReply {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (status === 429 || status === 503) headers['retry-after'] = String(retryAfter);
  return { status, headers, body: JSON.stringify({ code, error }) };
}
