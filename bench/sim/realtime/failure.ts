// Errors of the Realtime WebSocket: most are events after which the session goes on.

export interface RealtimeError {
  type: string;
  code: string | null;
  message: string;
  param: string | null;
}

function invalid(code: string | null, message: string, param: string | null = null): RealtimeError {
  return { type: 'invalid_request_error', code, message, param };
}

export const invalidJson = invalid('invalid_json', 'The event could not be parsed as JSON.');

export const noActiveResponse = invalid(
  'response_cancel_not_active',
  'Cancellation failed: no active response found',
);

export const sessionExpired = invalid(
  'session_expired',
  'Your session hit the maximum duration of 60 minutes.',
);

export const serverError: RealtimeError = {
  type: 'server_error',
  code: 'internal_error',
  message: 'The server had an error while processing your request. Sorry about that!',
  param: null,
};

export function unknownModel(model: string): RealtimeError {
  const message = `The model \`${model}\` does not exist or you do not have access to it.`;
  return invalid('model_not_found', message);
}

export function unknownParameter(param: string): RealtimeError {
  return invalid('unknown_parameter', `Unknown parameter: '${param}'.`, param);
}

export function missingParameter(param: string): RealtimeError {
  return invalid('missing_required_parameter', `Missing required parameter: '${param}'.`, param);
}

export function invalidValue(param: string, expected: string): RealtimeError {
  return invalid('invalid_value', `Invalid value for '${param}': expected ${expected}.`, param);
}

export function activeResponse(id: string): RealtimeError {
  return invalid(
    'conversation_already_has_active_response',
    `Conversation already has an active response in progress: ${id}. ` +
      'Wait until the response is finished before creating a new one.',
  );
}

export function emptyCommit(heldMs: number): RealtimeError {
  return invalid(
    'input_audio_buffer_commit_empty',
    'Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, ' +
      `but buffer only has ${heldMs.toFixed(2)}ms of audio.`,
  );
}

export function noSuchItem(what: 'delete' | 'retrieve' | 'truncate', id: string): RealtimeError {
  const verb = { delete: 'deleting', retrieve: 'retrieving', truncate: 'truncating' }[what];
  const message = `Error ${verb} item: the item with id '${id}' does not exist.`;
  return invalid(`item_${what}_invalid_item_id`, message);
}

export const notTruncatable = invalid(
  'unsupported_content_type',
  'Only model output audio messages can be truncated',
);

/** Also for 0: nothing may be kept of nothing. */
export function badTruncation(actualMs: number, askedMs: number): RealtimeError {
  const message =
    askedMs > 0
      ? `Audio content of ${actualMs}ms is already shorter than ${askedMs}ms`
      : `Audio content of ${actualMs}ms cannot be truncated to ${askedMs}ms`;
  return invalid('invalid_value', message, 'audio_end_ms');
}
