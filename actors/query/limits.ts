// The bounds of queries, with the arithmetic behind them.
import assert from 'node:assert/strict';
import type { Widened } from '../../runtime/limits.ts';
import type { LedgerLimits } from '../wallet/limits.ts';

const KIB = 1_024;

export const queryLimits = {
  bodyBytesMax: 64 * KIB,
  maxAgeSecondsMax: 86_400,
  runningMax: 4_096,
  /** 1,000 clients that wait for one query, and what it tells itself. */
  mailboxLengthMax: 2_048,
  batchLengthMax: 64,
  /** Searches end by themselves: the longest, with a cited answer, after 45 s. */
  lateMs: 55_000,
  /** Who waits for another's query waits as long as it may last, and for its settlement. */
  attachMs: 65_000,
  /** An end is a commit away: after this a client may ask again. */
  lookAgainMs: 2_500,
  pauseMsMax: 200,
  /** Unpaid answers of one surface in an hour that an account may have in any case. */
  unpaidMax: 100,
} as const;

export type QueryLimits = Widened<typeof queryLimits>;

/** The bounds of queries in this process. Throws where one breaks a relation to others. */
export function createQueryLimits({ holdExpiryMs, askTimeoutMs }: LedgerLimits): QueryLimits {
  const { lateMs, attachMs } = queryLimits;
  assert.ok(lateMs + askTimeoutMs < holdExpiryMs, 'a hold outlives its query');
  assert.ok(lateMs + askTimeoutMs < attachMs, 'who waits hears of the end');
  return queryLimits;
}
