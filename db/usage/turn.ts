// Who writes the tables of usage has a turn, one transaction at a time in the whole deployment.
// One of two at once does nothing. So each goes on from what the one before has left.
import type { Sql, Transaction } from '../driver/sql.ts';
import { classifyError } from '../driver/sql.ts';

/** Rows of one kind of holder that the quarters have: ids from `sinceId`, below `untilId`. */
export interface Counted {
  sinceId: string;
  untilId: string;
}

/** What is counted, and which quarters are in the days. */
export interface UsageState {
  /** The bounds of each kind of holder. */
  counted: ReadonlyMap<string, Counted>;
  closedFromMs: number;
  closedUntilMs: number;
  repairedUntilMs: number;
  /** The database's clock. */
  nowMs: number;
}

type Row = {
  holder: string;
  since_id: string;
  until_id: string;
  from_ms: number;
  until_ms: number;
  repaired_ms: number;
  now_ms: number;
};

const momentMs = (text: string): string => `floor(extract(epoch FROM ${text}) * 1000)::float8`;
const stateText = `SELECT p.holder, p.since_id, p.until_id, ${momentMs('s.closed_from')} AS from_ms,
    ${momentMs('s.closed_until')} AS until_ms, ${momentMs('s.repaired_until')} AS repaired_ms,
    ${momentMs('clock_timestamp()')} AS now_ms, set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('max_parallel_workers_per_gather', '0', true),
    set_config('plan_cache_mode', 'force_generic_plan', true)
  FROM usage_state s CROSS JOIN usage_progress p`;

/**
 * As the transaction's snapshot has it. From here on its plans are made once and use indexes, as
 * the ledger's do. One of empty tables would read them whole later. Making one for each look costs
 * more than the look. Rows between two pairs are a hundred times fewer than the server takes them
 * for, so it may not prepare for many.
 */
export async function readUsageState(transaction: Transaction): Promise<UsageState> {
  const rows = await transaction.unsafe<Row[]>(stateText, [], { prepare: true });
  const [first] = rows;
  if (first === undefined) throw new Error('usage has no state');
  return {
    counted: new Map(
      rows.map((row) => [row.holder, { sinceId: row.since_id, untilId: row.until_id }]),
    ),
    closedFromMs: first.from_ms,
    closedUntilMs: first.until_ms,
    repairedUntilMs: first.repaired_ms,
    nowMs: first.now_ms,
  };
}

/** What is counted of one source. */
export function countedOf(state: UsageState, holder: string): Counted {
  const counted = state.counted.get(holder);
  if (counted === undefined) throw new Error(`usage of ${holder} has no progress`);
  return counted;
}

/**
 * Works in one transaction that nobody else writes usage beside. Null: somebody has the turn, or
 * had it since this one's snapshot.
 */
export async function takeTurn<T>(
  sql: Sql,
  work: (transaction: Transaction, state: UsageState) => Promise<T>,
): Promise<T | null> {
  try {
    return (await sql.begin('isolation level repeatable read', async (transaction) => {
      const free = await transaction`
        SELECT FROM usage_state WHERE is_one FOR NO KEY UPDATE SKIP LOCKED`;
      if (free.length === 0) return null;
      await transaction`UPDATE usage_state SET turn = turn + 1 WHERE is_one`;
      return await work(transaction, await readUsageState(transaction));
    })) as T | null;
  } catch (error) {
    if (classifyError(error) === 'retry') return null;
    throw error;
  }
}

/** The millisecond of a bound; 0 of the one that is below all ids. */
function momentOf(id: string): number {
  return id === '' ? 0 : Number.parseInt(id.slice(id.indexOf('_') + 1).slice(0, 12), 16);
}

/** Requests that began before it are in the quarters, of every kind, back to the other bound. */
export function countedUntilMs(state: UsageState): number {
  return Math.min(...[...state.counted.values()].map(({ untilId }) => momentOf(untilId)));
}

/** From it on they are; 0: all are. Of the millisecond of a bound some may be missing. */
export function countedSinceMs(state: UsageState): number {
  const bounds = [...state.counted.values()].map(({ sinceId }) => momentOf(sinceId));
  const latest = Math.max(...bounds);
  return latest === 0 ? 0 : latest + 1;
}
