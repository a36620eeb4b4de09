// stop_reason of Messages → the neutral end. What a neutral reason cannot say is kept beside it.
import type { FinishReason, ModelEvent } from '../../../model/events.ts';
import type { Members } from '../../../transport/members.ts';

/** Reasons that are told from the neutral one without loss. */
const plainReasons: ReadonlySet<unknown> = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'refusal',
]);
const nativeMembers = ['stop_reason', 'stop_details', 'container'] as const;

/**
 * The event for a message's stop members; `reason`: what their word means. `own`: what a
 * client of this format is told besides.
 */
export function finishEvent(
  stop: Members,
  own: Members,
  reason: FinishReason,
): ModelEvent & { type: 'finish' } {
  const event: ModelEvent & { type: 'finish' } = { type: 'finish', reason };
  if (typeof stop.stop_sequence === 'string') event.stopSequence = stop.stop_sequence;
  const value: Members = own;
  for (const name of nativeMembers) {
    const member = stop[name];
    if (member !== null && member !== undefined) value[name] = member;
  }
  const says = Object.keys(value).length > 1 || !plainReasons.has(stop.stop_reason);
  if (says) event.native = { format: 'messages', value };
  return event;
}
