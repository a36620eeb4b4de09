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
 * The event for a message's stop members; `stop_reason` is known to be set. `own`: what a client of
 * this format is told besides.
 */
export function finishEvent(
  stop: Members,
  own: Members,
  toolCalled: boolean,
): ModelEvent & { type: 'finish' } {
  const event: ModelEvent & { type: 'finish' } = {
    type: 'finish',
    reason: readStopReason(stop.stop_reason, toolCalled),
  };
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

function readStopReason(reason: unknown, toolCalled: boolean): FinishReason {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
    // The provider's own tools run on when the turn is sent back as it is.
    case 'pause_turn':
      return 'stop';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'tool_use':
      return 'tool_calls';
    case 'refusal':
      return 'content_filter';
    default:
      return toolCalled ? 'tool_calls' : 'stop';
  }
}
