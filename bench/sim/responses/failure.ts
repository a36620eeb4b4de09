// What is particular to errors of Responses: its error event is flat and numbered, and an answer
// that failed says so in itself. Statuses and bodies are those of the same provider's Chat.
import { type ChatError, errorOfStatus, invalidRequest } from '../chat/failure.ts';
import type { Refusal } from '../directive.ts';

const message = 'The server had an error while processing your request. Sorry about that!';

/** The `error` member of a response that failed. */
export const failedMember = { code: 'server_error', message };

/** A bare `error` event. */
export function streamErrorEvent(index: number): string {
  const error = { code: 'server_error', message, param: null };
  const members = { type: 'error', sequence_number: index, ...error };
  return `event: error\ndata: ${JSON.stringify(members)}\n\n`;
}

export function badInput(message: string): ChatError {
  return invalidRequest(message, 'input');
}

export function belowMinimum(name: string, least: number, given: number): ChatError {
  const rule = 'integer below minimum value.';
  const expected = `Expected a value >= ${least}, but got ${given} instead.`;
  const error = invalidRequest(`Invalid '${name}': ${rule} ${expected}`, name);
  return { ...error, code: 'integer_below_min_value' };
}

export function missingParameter(name: string): ChatError {
  const error = invalidRequest(`Missing required parameter: '${name}'.`, name);
  return { ...error, code: 'missing_required_parameter' };
}

export function unknownParameter(name: string): ChatError {
  const error = invalidRequest(`Unknown parameter: '${name}'.`, name);
  return { ...error, code: 'unknown_parameter' };
}

export function unknownResponse(id: string): ChatError {
  const error = invalidRequest(
    `Previous response with id '${id}' not found.`,
    'previous_response_id',
  );
  return { ...error, code: 'previous_response_not_found' };
}

export function refusalOfStatus(status: Refusal): ChatError {
  const error = errorOfStatus(status);
  return error.param === 'messages' ? { ...error, param: 'input' } : error;
}
