// The words by which providers say why an answer ended, in one table for all families. A reason
// that nobody knows is never a success: the answer may have been broken off.
import type { FinishReason } from '../../model/events.ts';

/** `failed`: there is no answer, or not the whole of one, and another attempt may give it. */
type Meaning = FinishReason | 'failed';

const words: Readonly<Record<Meaning, readonly string[]>> = {
  stop: [
    // The vendors' own, and what the runners of open models say.
    'stop',
    'end_turn',
    'stop_sequence',
    'completed',
    'complete',
    'eos',
    'eos_token',
    'end_of_sequence',
    'end',
    'done',
    'finished',
    // The provider's own tools run on when the turn is sent back as it is.
    'pause_turn',
    // What was said before is summed up, and the turn is sent back.
    'compaction',
  ],
  tool_calls: ['tool_calls', 'tool_call', 'tool_use', 'function_call', 'function_calls'],
  length: [
    'length',
    'max_tokens',
    'max_output_tokens',
    'max_length',
    'model_length',
    'model_context_window_exceeded',
    'context_length_exceeded',
    'token_limit',
    'continuation',
    'incomplete',
    'max_tool_calls',
  ],
  content_filter: [
    'content_filter',
    'content_filtered',
    'refusal',
    'sensitive',
    'moderation',
    'guardrail_intervened',
    'safety',
    'recitation',
    'language',
    'blocklist',
    'prohibited_content',
    'spii',
    'image_safety',
    'image_prohibited_content',
    'image_recitation',
  ],
  failed: [
    'error',
    'failed',
    'abort',
    'aborted',
    'cancelled',
    'canceled',
    'interrupted',
    'timeout',
    'network_error',
    'server_error',
    'internal_error',
    'insufficient_system_resource',
    // Calls that the model wrote badly.
    'malformed_function_call',
    'malformed_response',
    'malformed_model_output',
    'malformed_tool_use',
    'too_many_tool_calls',
    'unexpected_tool_call',
  ],
};

const meanings: ReadonlyMap<string, Meaning> = new Map(
  (Object.keys(words) as Meaning[]).flatMap((meaning) =>
    words[meaning].map((word) => [word, meaning] as const),
  ),
);

/** What came of the answer before its end. */
export interface Ended {
  /** There are calls that wait for the client. */
  called: boolean;
  /** There is text, a refusal or a call. */
  answered: boolean;
}

/** Whether the reason says anything: empty words stand in chunks of answers that go on. */
export function isEnding(reason: unknown): boolean {
  if (typeof reason === 'string') return reason !== '' && !reason.endsWith('_UNSPECIFIED');
  return reason !== null && reason !== undefined;
}

/** Whether what follows may still say what it means: a word, or the calls that it tells of. */
export function isOpen(reason: unknown, { called }: Pick<Ended, 'called'>): boolean {
  return (
    typeof reason !== 'string' || (!called && meanings.get(lowerCase(reason)) === 'tool_calls')
  );
}

/**
 * What the reason means. `stop` behind calls means that they are wanted. One that nobody knows is a
 * failure of an answer without words, and the incomplete end of every other. So are calls that did
 * not come: they are lost.
 */
export function meaningOf(reason: unknown, { called, answered }: Ended): Meaning {
  const meaning = meanings.get(lowerCase(reason));
  if (meaning === 'stop') return called ? 'tool_calls' : 'stop';
  const isLost = meaning === 'tool_calls' && !called;
  if (meaning !== undefined && !isLost) return meaning;
  return answered ? 'length' : 'failed';
}

/** What is no text is no word of the table. */
function lowerCase(reason: unknown): string {
  return typeof reason === 'string' ? reason.toLowerCase() : '';
}
