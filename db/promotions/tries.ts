// How often an account tried something lately. A try is counted before anything is looked at, so
// that nobody guesses codes, or fills the queue alone.
import type { Queryable, Sql } from '../driver/sql.ts';

export type TriedKind = 'code' | 'evidence';

export interface TryBounds {
  triesMax: number;
  withinMs: number;
}

/** Counts a try. Null: there is room for it; else how long until there is. */
export async function countTry(
  sql: Sql,
  { accountId, kind }: { accountId: string; kind: TriedKind },
  { triesMax, withinMs }: TryBounds,
): Promise<number | null> {
  const waitMs = await sql.begin(async (transaction) => {
    const lock = `${kind} tries of ${accountId}`;
    await transaction`SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0))`;
    const [row] = await transaction<{ wait_ms: number | null }[]>`
      SELECT extract(epoch FROM t.at - clock_timestamp())::float8 * 1000 + ${withinMs} AS wait_ms
      FROM promotion_tries t
      WHERE t.account_id = ${accountId} AND t.kind = ${kind}
        AND t.at > clock_timestamp() - ${withinMs}::float8 * interval '1 ms'
      ORDER BY t.at DESC OFFSET ${triesMax - 1} LIMIT 1`;
    if (row !== undefined) return { ms: Math.max(1, row.wait_ms ?? withinMs) };
    await transaction`
      INSERT INTO promotion_tries (account_id, kind) VALUES (${accountId}, ${kind})`;
    return { ms: null };
  });
  return waitMs.ms;
}

/** Forgets what is not counted any more. */
export async function forgetTries(sql: Queryable, withinMs: number, limit: number): Promise<void> {
  await sql`
    DELETE FROM promotion_tries WHERE ctid IN (
      SELECT ctid FROM promotion_tries
      WHERE at <= now() - ${withinMs}::float8 * interval '1 ms' ORDER BY at LIMIT ${limit})`;
}
