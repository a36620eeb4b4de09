// How a shard comes to its end. What runs is given time, then ended with what was used settled.
// Then clients are told, and everything is closed in order.
import type { Component } from '../shard/component.ts';

/** How the time of a close is spent, at most: settling has this share. */
const settleShare = 0.7;
/** A failing shard settles as long as it gets on with it: what was used is not given away. */
const failingSettleMs = 3_500;
/** Nothing more is expected of settlements of which none has ended for so long. */
const settleIdleMs = 2_000;
/** Thousands of clients are told of their end in this time, beyond the deadline if need be. */
export const lastWordsMs = 700;

/** How long what runs may go on by itself: who is many is ended earlier, to be settled in time. */
export function drainPatienceMs(components: readonly Component[], deadlineMs: number): number {
  const settlingMs = components.reduce((ms, each) => ms + each.size() * each.settleMsEach, 0);
  return deadlineMs - Math.min(deadlineMs * 0.8, Math.max(deadlineMs * 0.3, settlingMs));
}

interface Drain {
  /** Milliseconds until the deadline. */
  left(): number;
  /** What runs may end by itself for so long. */
  patienceMs: number;
  isFailing: boolean;
  /** Exchanges that are open: what is still read, decoded or counted will want a hold. */
  countExchanges(): number;
}

/**
 * Ends what runs, with what was used settled. What cannot be settled in time is told to its clients
 * while their sockets are open; reconciliation or the next start releases its hold.
 */
export async function endRunning(
  components: readonly Component[],
  { left, patienceMs, isFailing, countExchanges }: Drain,
): Promise<void> {
  const running = () => components.reduce((sum, component) => sum + component.size(), 0);
  for (const component of components) component.drain();
  await quiet(() => running() + countExchanges(), patienceMs);
  for (const component of components) component.finish(left());
  if (isFailing) await quiet(running, failingSettleMs, settleIdleMs);
  else await quiet(running, left() * settleShare);
  for (const component of components) component.giveUp();
  await quiet(running, lastWordsMs);
}

/** Resolves when nothing is left, nothing has ended for `idleMs`, or `timeoutMs` have passed. */
async function quiet(count: () => number, timeoutMs: number, idleMs = timeoutMs): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let idleUntil = performance.now() + idleMs;
  for (let before = Infinity; ; ) {
    const left = count();
    const now = performance.now();
    if (left < before) idleUntil = now + idleMs;
    if (left === 0 || now >= Math.min(deadline, idleUntil)) return;
    before = left;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
