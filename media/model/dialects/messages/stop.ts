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

/** A cancelled or cut answer has lost what its upstream said of its own end. */
export function stopMembers(answer: Answer): StopMembers {
  const { finishReason, stopSequence, finishNative } = answer;
  const own = finishNative?.format === 'messages' ? finishNative.value : {};
  const reason = finishReason ?? 'stop';
  const refused = reason === 'content_filter' || answerRefusal(answer) !== '';
  if (refused) {
    const stop_details = own.stop_details ?? unsaid;
    return { stop_reason: 'refusal', stop_sequence: null, stop_details, container: null };
  }
  const container = own.container ?? null;
  const named = typeof own.stop_reason === 'string' && ends(own.stop_reason) === reason;
  const members = { stop_sequence: null, stop_details: null, container };
  if (named) return { ...members, stop_reason: String(own.stop_reason) };
  if (reason === 'stop' && stopSequence !== null) {
    return { ...members, stop_reason: 'stop_sequence', stop_sequence: stopSequence };
  }
  return { ...members, stop_reason: reasons[reason] };
}

/** The neutral reason that one of this format's own belongs to. */
function ends(stopReason: string): FinishReason | null {
  if (stopReason === 'pause_turn' || stopReason === 'end_turn') return 'stop';
  if (stopReason === 'model_context_window_exceeded' || stopReason === 'max_tokens') {
    return 'length';
  }
  return stopReason === 'tool_use' ? 'tool_calls' : null;
}
