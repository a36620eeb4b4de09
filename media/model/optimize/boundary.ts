// Where a conversation is cut: messages before the boundary are sealed, those behind it are sent as
// they came. It moves in steps, so that a provider's prompt cache loses at most one step, seldom.
import type { Message } from '../request.ts';
import { messageBytes } from './size.ts';

/** One sealed stretch: from the boundary before it up to its own. */
export interface Segment {
  from: number;
  to: number;
}

/**
 * The sealed segments of a conversation. A boundary is a user message that begins a turn and has
 * `sealBytes` between itself and the boundary before it. Whether message k is one follows from the
 * messages up to k alone, so a longer conversation has the same boundaries and perhaps more. The
 * last user turn begins at the last candidate, so it lies behind every boundary.
 */
export function sealedSegments(messages: readonly Message[], sealBytes: number): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  let bytes = 0;
  let before: Message['role'] | null = null;
  for (const [index, message] of messages.entries()) {
    const beginsTurn = message.role === 'user' && before !== 'user';
    if (beginsTurn && bytes >= sealBytes) {
      segments.push({ from, to: index });
      from = index;
      bytes = 0;
    }
    bytes += messageBytes(message);
    // A system note between two user messages does not end the turn.
    if (message.role !== 'system' && message.role !== 'developer') before = message.role;
  }
  return segments;
}
