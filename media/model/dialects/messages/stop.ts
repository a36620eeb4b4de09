// Why an answer ended, as `stop_reason` and its companions.
import { type Answer, answerRefusal } from '../../answer.ts';
import type { FinishReason } from '../../events.ts';

export interface StopMembers {
  stop_reason: string;
  stop_sequence: string | null;
  stop_details: unknown;
  container: unknown;
}

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};
const unsaid = { type: 'refusal', category: null, explanation: null };

/**
 * A cancelled or cut answer has lost what its upstream said of its own end. Servers have stop
 * sequences of their own: only one that was `asked` for is told.
 */
export function stopMembers(answer: Answer, asked: readonly string[]): StopMembers {
  const { finishReason, stopSequence, finishNative } = answer;
  const own = finishNative?.format === 'messages' ? finishNative.value : {};
  const reason = finishReason ?? 'stop';
  const container = own.container ?? null;
  const refused = reason === 'content_filter' || answerRefusal(answer) !== '';
  if (refused) return stopped('refusal', container, null, own.stop_details ?? unsaid);
  if (typeof own.stop_reason === 'string' && isSaid(own.stop_reason, reason)) {
    return stopped(own.stop_reason, container);
  }
  if (reason === 'stop' && stopSequence !== null && asked.includes(stopSequence)) {
    return stopped('stop_sequence', container, stopSequence);
  }
  return stopped(reasons[reason], container);
}

function stopped(
  stop_reason: string,
  container: unknown,
  stop_sequence: string | null = null,
  stop_details: unknown = null,
): StopMembers {
  return { stop_reason, stop_sequence, stop_details, container };
}

/**
 * Whether the upstream's own word is what is told: of one that has a neutral reason, only while the
 * answer ended for it. `stop_sequence` is told with the sequence.
 */
function isSaid(stopReason: string, reason: FinishReason): boolean {
  if (stopReason === 'stop_sequence') return false;
  const neutral = Object.hasOwn(neutralReasons, stopReason) ? neutralReasons[stopReason] : 'stop';
  return neutral === reason;
}

const neutralReasons: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};
