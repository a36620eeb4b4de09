// Handles of sessions that can be resumed, with what they had heard: the last thousand.
import type { TokenPair } from '../voice/tokens.ts';

const handlesMax = 1000;
const histories = new Map<string, TokenPair>();

/** The handle under which this history can be recalled. */
export function keepHistory(id: string, history: TokenPair): string {
  const handle = `sim-handle-${id}`;
  const [oldest] = histories.keys();
  if (histories.size >= handlesMax && oldest !== undefined) histories.delete(oldest);
  histories.set(handle, { ...history });
  return handle;
}

export function recallHistory(handle: unknown): TokenPair | null {
  const history = typeof handle === 'string' ? histories.get(handle) : undefined;
  return history === undefined ? null : { ...history };
}
