// What extraction must keep, for each segment: what any user turn asks for, and what the assistant
// has mentioned when the segment is sealed. Nothing else may decide, or prefixes would change.
import type { Message } from '../request.ts';
import { type Asks, addAsks, createAsks } from './asks.ts';
import type { Segment } from './boundary.ts';
import type { Demand } from './extraction.ts';
import type { OptimizerSettings } from './settings.ts';

const ASK_LEAST = 6;
/** What an assistant mentions must be rarer than what the user asks for. */
const MENTION_SHARE = 0.05;
const MENTION_LEAST = 3;

/** The demands of a segment; made once for each, when they are first asked for. */
export function createDemands(
  messages: readonly Message[],
  { extraction }: OptimizerSettings,
): (segment: Segment) => readonly Demand[] {
  if (extraction === null) return () => [];
  const user: Demand = { asks: userAsks(messages), share: extraction.askShare, least: ASK_LEAST };
  const known = new Map<Segment, readonly Demand[]>();
  return (segment) => {
    const demands = known.get(segment) ?? [user, mentions(messages, segment)];
    known.set(segment, demands);
    return demands;
  };
}

function userAsks(messages: readonly Message[]): Asks {
  const asks = createAsks();
  for (const { role, parts } of messages) {
    if (role !== 'user') continue;
    for (const part of parts) if (part.type === 'text') addAsks(asks, part.text, 'all');
  }
  return asks;
}

function mentions(messages: readonly Message[], { from, to }: Segment): Demand {
  const asks = createAsks();
  for (const { role, parts, toolCalls } of messages.slice(from, to)) {
    if (role !== 'assistant') continue;
    for (const part of parts) if (part.type === 'text') addAsks(asks, part.text, 'figuresAndPairs');
    for (const call of toolCalls) addAsks(asks, call.arguments, 'figuresAndPairs');
  }
  return { asks, share: MENTION_SHARE, least: MENTION_LEAST };
}
