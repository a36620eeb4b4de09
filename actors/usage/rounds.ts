// The rounds of usage: rows are added to quarters, quarters to days, and the day before is compared
// with what it was made of. Each step is a transaction of its own, so a crash loses nothing.
import type { Sql } from '../../db/driver/sql.ts';
import { closeBefore, closeNext, forgetQuarters, repairNext } from '../../db/usage/closing.ts';
import { foldBefore, foldNext } from '../../db/usage/folding.ts';
import { usageSources } from '../../db/usage/sources.ts';
import { takeTurn } from '../../db/usage/turn.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import type { UsageLimits } from './limits.ts';
import { createUsageMetrics, type UsageMetrics } from './metrics.ts';

type RoundLimits = Pick<UsageLimits, 'behindMs' | 'rowsMax' | 'roundForMs'>;

/**
 * Repeats a step until it has nothing to do, somebody else has the turn, or the time is over. The
 * step says whether it was the last one.
 */
async function repeatStep(step: () => Promise<boolean | null>, untilMs: number): Promise<boolean> {
  for (;;) {
    const isDone = await step();
    if (isDone !== false) return isDone === true;
    if (performance.now() >= untilMs) return false;
  }
}

/**
 * Counts what has ended since the last round, then as much of older rows as there is time for.
 * Rejects when the database cannot be asked. True: nothing is left for the next round.
 */
export async function countUsage(sql: Sql, limits: RoundLimits): Promise<boolean> {
  const untilMs = performance.now() + limits.roundForMs;
  let isDone = true;
  for (const add of [foldNext, foldBefore]) {
    for (const source of usageSources) {
      const step = () => takeTurn(sql, (turn, state) => add(turn, state, source, limits));
      isDone = (await repeatStep(step, untilMs)) && isDone;
    }
  }
  return isDone;
}

type CloseLimits = Pick<UsageLimits, 'roundForMs' | 'quartersKeptMs' | 'forgottenMax'>;

/** Closes days that are over, compares the newest of them, and forgets quarters that are old. */
export async function closeUsage(
  sql: Sql,
  limits: CloseLimits,
  metrics: UsageMetrics,
): Promise<boolean> {
  const untilMs = performance.now() + limits.roundForMs;
  const repair = async () => {
    const compared = await takeTurn(sql, repairNext);
    if (compared === null) return null;
    metrics.repaired(compared.differing);
    return compared.isDone;
  };
  const forget = () =>
    takeTurn(sql, async (turn, state) => {
      const beforeMs = state.nowMs - limits.quartersKeptMs;
      const gone = await forgetQuarters(turn, state, beforeMs, limits.forgottenMax);
      return gone < limits.forgottenMax;
    });
  const steps = [() => takeTurn(sql, closeNext), () => takeTurn(sql, closeBefore), repair, forget];
  let isDone = true;
  for (const step of steps) isDone = (await repeatStep(step, untilMs)) && isDone;
  return isDone;
}

export interface UsageRoundOptions {
  sql: Sql;
  limits: UsageLimits;
  registry: MetricsRegistry;
  log: Pick<Logger, 'debug'>;
}

/** Both rounds are due once in the whole deployment; two at once would do no harm. */
export function scheduleUsage(
  queue: Pick<MaintenanceQueue, 'schedule'>,
  { sql, limits, registry, log }: UsageRoundOptions,
): void {
  const metrics = createUsageMetrics(registry);
  queue.schedule('usage', limits.roundMs, async () => {
    const isDone = await countUsage(sql, limits);
    log.debug({ isDone }, 'counted usage');
  });
  queue.schedule('usage-close', limits.closeMs, async () => {
    const isDone = await closeUsage(sql, limits, metrics);
    log.debug({ isDone }, 'closed days of usage');
  });
}
