// What happens after a crash: a pure decision from strategy, intensity and the recent crashes.
import type { Supervision } from './contract.ts';

export type Verdict = 'restart' | 'resume' | 'stop';

/**
 * Decides on one crash at `nowMs` and remembers it in `crashTimes`, bounded by `crashesMax`.
 * More than `crashesMax` crashes within `withinMs` end the actor whatever its strategy is.
 * `hasState` is false when `start` itself failed: there is nothing to resume, so it is a restart.
 */
export function judge(
  supervision: Supervision,
  crashTimes: number[],
  nowMs: number,
  hasState: boolean,
): Verdict {
  while (crashTimes[0] !== undefined && crashTimes[0] <= nowMs - supervision.withinMs) {
    crashTimes.shift();
  }
  if (supervision.strategy === 'stop') return 'stop';
  if (crashTimes.length >= supervision.crashesMax) return 'stop';
  crashTimes.push(nowMs);
  if (!hasState) return 'restart';
  return supervision.strategy;
}
