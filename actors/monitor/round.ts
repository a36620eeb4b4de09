// One round of probes: which routes are due, and asking them spread over time, few at once.
import { setTimeout as sleep } from 'node:timers/promises';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import { identityOf } from '../provider-health/identity.ts';
import type { ProbedRoute } from './protocol.ts';

/** A route is due again a little before its period is over, as rounds begin a little early. */
const dueShare = 0.9;

export interface RoundOptions {
  /** Whether the route works. Never rejects, and answers within seconds. */
  probe(target: UpstreamTarget): Promise<boolean>;
  roundMs: number;
  /** Each probe waits a random part of this first: many processes do not ask at once. */
  jitterMs: number;
  atOnceMax: number;
}

/** The routes of which nothing is known, or nothing of this period. */
export function dueRoutes(
  targets: readonly UpstreamTarget[],
  known: ReadonlyMap<string, ProbedRoute>,
  nowMs: number,
  periodMs: number,
): UpstreamTarget[] {
  return targets.filter((target) => {
    const last = known.get(target.routeId);
    if (last === undefined || last.identity !== identityOf(target)) return true;
    return nowMs - last.roundMs >= periodMs * dueShare;
  });
}

/** Probes the routes. Takes the jitter and the slowest probes, together. */
export async function probeRound(
  targets: readonly UpstreamTarget[],
  { probe, roundMs, jitterMs, atOnceMax }: RoundOptions,
): Promise<ProbedRoute[]> {
  const waiting = targets.map((target) => ({ target, delayMs: Math.random() * jitterMs }));
  waiting.sort((left, right) => left.delayMs - right.delayMs);
  const startedAt = performance.now();
  const probed: ProbedRoute[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { target, delayMs } = next;
      const leftMs = delayMs - (performance.now() - startedAt);
      if (leftMs > 0) await sleep(leftMs, undefined, { ref: false });
      const isWell = await probe(target);
      probed.push({ routeId: target.routeId, isWell, identity: identityOf(target), roundMs });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, targets.length) }, work));
  return probed;
}
