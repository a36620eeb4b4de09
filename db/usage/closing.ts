// Makes days of quarters: forward once the watermark has passed a day's end, and backward as old
// rows are added. An hour at a time; the bounds say which hours are in the days.
import type { Transaction } from '../driver/sql.ts';
import { dayKeys, figureList, figureSums, figuresAdded } from './figures.ts';
import { mendQuarter, quarterMs } from './mending.ts';
import { usageSources } from './sources.ts';
import { countedSinceMs, countedUntilMs, type UsageState } from './turn.ts';

const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

const dayKeyList = ['day', ...dayKeys].join(', ');
const moment = (place: number) => `to_timestamp($${place}::float8 / 1000)`;
const closeText = `INSERT INTO usage_days AS q (${dayKeyList}, ${figureList})
  SELECT (at AT TIME ZONE 'UTC')::date AS day, ${dayKeys.join(', ')}, ${figureSums}
  FROM usage_quarters WHERE at >= ${moment(1)} AND at < ${moment(2)} GROUP BY ${dayKeyList}
  ON CONFLICT (${dayKeyList}) DO UPDATE SET ${figuresAdded}`;

async function closeHour(transaction: Transaction, atMs: number): Promise<void> {
  await transaction.unsafe(closeText, [atMs, atMs + hourMs], { prepare: true });
}

/** The first moment of a day. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/** A transaction ends after so long, and one hour more: nobody else counts meanwhile. */
const stepMs = 200;

/** The first hour from here on that has a quarter, or the end. */
async function nextHour(transaction: Transaction, fromMs: number, endMs: number): Promise<number> {
  const [row] = await transaction.unsafe<{ first: number | null }[]>(
    `SELECT (extract(epoch FROM min(at)) * 1000)::float8 AS first
      FROM usage_quarters WHERE at >= ${moment(1)} AND at < ${moment(2)}`,
    [fromMs, endMs],
    { prepare: true },
  );
  const first = row?.first ?? null;
  return first === null ? endMs : Math.floor(first / hourMs) * hourMs;
}

/** Closes hours of the next day that is over. True: there is none. */
export async function closeNext(transaction: Transaction, state: UsageState): Promise<boolean> {
  const untilMs = performance.now() + stepMs;
  const overMs = dayOf(countedUntilMs(state));
  let atMs = state.closedUntilMs;
  if (atMs >= overMs || countedSinceMs(state) > atMs) return true;
  do {
    await closeHour(transaction, atMs);
    atMs = await nextHour(transaction, atMs + hourMs, overMs);
  } while (atMs < overMs && performance.now() < untilMs);
  await transaction.unsafe(
    `UPDATE usage_state SET closed_until = ${moment(1)} WHERE is_one`,
    [atMs],
    { prepare: true },
  );
  return atMs >= overMs;
}

/** Closes the newest hour before those that are closed. True: there is none. */
export async function closeBefore(transaction: Transaction, state: UsageState): Promise<boolean> {
  const { closedFromMs } = state;
  if (closedFromMs === 0) return true;
  const [row] = await transaction.unsafe<{ last: number | null }[]>(
    `SELECT (extract(epoch FROM max(at)) * 1000)::float8 AS last
      FROM usage_quarters WHERE at < ${moment(1)}`,
    [closedFromMs],
    { prepare: true },
  );
  const lastMs = row?.last ?? null;
  const sinceMs = countedSinceMs(state);
  const atMs = lastMs === null ? 0 : Math.floor(lastMs / hourMs) * hourMs;
  if (sinceMs > atMs) return true;
  if (lastMs !== null) await closeHour(transaction, atMs);
  await transaction.unsafe(
    `UPDATE usage_state SET closed_from = ${moment(1)} WHERE is_one`,
    [atMs],
    {
      prepare: true,
    },
  );
  return lastMs === null;
}

/** What a comparison found: how many rows differed, and whether all closed days are compared. */
export interface Compared {
  differing: number;
  isDone: boolean;
}

/** Compares the next quarters of closed days. */
export async function repairNext(transaction: Transaction, state: UsageState): Promise<Compared> {
  const untilMs = performance.now() + stepMs;
  const closedMs = dayOf(state.closedUntilMs);
  let atMs = state.repairedUntilMs;
  let differing = 0;
  if (atMs >= closedMs) return { differing, isDone: true };
  do {
    for (const source of usageSources) {
      differing += await mendQuarter(transaction, state, source, atMs);
    }
    atMs += quarterMs;
  } while (atMs < closedMs && performance.now() < untilMs);
  await transaction.unsafe(
    `UPDATE usage_state SET repaired_until = ${moment(1)} WHERE is_one`,
    [atMs],
    { prepare: true },
  );
  return { differing, isDone: atMs >= closedMs };
}

/** Forgets quarters that are in the days, at most `limit`. Returns how many. */
export async function forgetQuarters(
  transaction: Transaction,
  state: UsageState,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const untilMs = Math.min(beforeMs, state.closedUntilMs);
  const rows = await transaction.unsafe(
    `DELETE FROM usage_quarters WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM usage_quarters WHERE at >= ${moment(1)} AND at < ${moment(2)}
      ORDER BY at LIMIT $3)) RETURNING 1`,
    [state.closedFromMs, untilMs, limit],
    { prepare: true },
  );
  return rows.length;
}
