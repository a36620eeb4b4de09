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
 * The sealed segments of a conversation. A boundary is the beginning of a user's turn that has
 * `sealBytes` between itself and the boundary before it. Messages have the results of tools in the
 * turn, before the user's words, which make it one. Whether they do follows from the messages up to
 * them alone, so a longer conversation has the same boundaries and perhaps more. The last user turn
 * begins at the last candidate, so it lies behind every boundary.
 */
export function sealedSegments(messages: readonly Message[], sealBytes: number): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  let bytes = 0;
  /** Null: an assistant spoke last. Bytes are those before it. */
  let turn: { at: number; bytes: number; isUsers: boolean } | null = null;
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    // A system note between two user messages does not end the turn.
    if (role === 'assistant') turn = null;
    else if (role === 'user' || role === 'tool') turn ??= { at: index, bytes, isUsers: false };
    if (role === 'user' && turn !== null && !turn.isUsers) {
      turn.isUsers = true;
      if (turn.bytes >= sealBytes) {
        segments.push({ from, to: turn.at });
        from = turn.at;
        bytes -= turn.bytes;
      }
    }
    bytes += messageBytes(message);
  }
  return segments;
}
