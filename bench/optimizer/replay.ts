// A conversation as the requests that it was: one at each user turn, one after each tool result.
// Says what of each request a provider's prompt cache still had from the one before.
import { messageBytes } from '../../media/model/optimize/size.ts';
import type { Message } from '../../media/model/request.ts';

export interface Replay {
  requests: number;
  /** Over all requests but the first: bytes of the one before, and how many of them came again. */
  before: number;
  kept: number;
  /** Bytes over all requests: what was sent, and what of it no cache had. */
  sent: number;
  fresh: number;
}

/** Replays the conversation with `optimize` at each user turn: between two it changes nothing. */
export function replay(messages: Message[], optimize: (messages: Message[]) => Message[]): Replay {
  const tally: Replay = { requests: 0, before: 0, kept: 0, sent: 0, fresh: 0 };
  let last: readonly Message[] = [];
  let sealed: readonly Message[] = [];
  let turn = 0;
  for (const [index, { role }] of messages.entries()) {
    if (role !== 'user' && role !== 'tool') continue;
    if (role === 'user') {
      turn = index + 1;
      sealed = optimize(messages.slice(0, turn));
    }
    const request = [...sealed, ...messages.slice(turn, index + 1)];
    count(tally, last, request);
    last = request;
  }
  return tally;
}

function count(tally: Replay, last: readonly Message[], request: readonly Message[]): void {
  let same = 0;
  while (same < last.length && isSame(last[same], request[same])) same += 1;
  const kept = bytesOf(request.slice(0, same));
  const sent = bytesOf(request);
  tally.requests += 1;
  tally.before += bytesOf(last);
  tally.kept += kept;
  tally.sent += sent;
  tally.fresh += sent - kept;
}

/** Whole messages only: caches work in blocks. */
function isSame(left: Message | undefined, right: Message | undefined): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  return left.parts.every((part, index) => {
    const other = right.parts[index];
    return part.type === 'text' && other?.type === 'text'
      ? part.text === other.text
      : part === other;
  });
}

function bytesOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageBytes(message), 0);
}
