// The words by which providers say why an answer ended, in one table for all families. A word that
// nobody knows is never a success: an answer that it ends may have been broken off.
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

/** Whether the word says anything: empty ones stand in chunks of answers that go on. */
export function isEnding(word: unknown): word is string {
  return typeof word === 'string' && word !== '' && !word.endsWith('_UNSPECIFIED');
}

/**
 * What the word means. `stop` behind calls means that they are wanted. An unknown word is a failure
 * of an answer without words, and the incomplete end of every other.
 */
export function meaningOf(word: string, { called, answered }: Ended): Meaning {
  const meaning = meanings.get(word.toLowerCase());
  if (meaning === 'stop') return called ? 'tool_calls' : 'stop';
  return meaning ?? (answered ? 'length' : 'failed');
}
