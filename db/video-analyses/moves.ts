// Moves of analyses: whose turn it is, and what whoever has the epoch notes. A write of an epoch
// that is over changes nothing.
import { arrayLiteral } from '../driver/array.ts';
import { lookedUp } from '../driver/lookup.ts';
import type { Queryable, Sql } from '../driver/sql.ts';
import { erasing, heldText } from '../organizations/hold.ts';
import { analysisColumns, readAnalysis, type VideoAnalysis } from '../video-analyses.ts';

/** An analysis with the epoch under which somebody works on it. */
export interface HeldAnalysis {
  id: string;
  epoch: number;
}

/**
 * Sets the next one aside for the caller. It is of the account that has waited longest for a turn,
 * among those with one that nobody has. Null: there is none.
 */
export async function setAsideNext(sql: Sql, leaseMs: number): Promise<HeldAnalysis | null> {
  return sql.begin(async (transaction) => {
    // Others would choose the same one, and find nothing.
    await transaction`SELECT pg_advisory_xact_lock(hashtext('next video analysis'))`;
    const [next] = await transaction<HeldAnalysis[]>`
      UPDATE video_analyses SET lease_until = now() + ${leaseMs}::float8 * interval '1 ms',
        taken_at = clock_timestamp()
      WHERE id = (
        SELECT w.id FROM (
          SELECT DISTINCT ON (account_id) account_id, id FROM video_analyses
          WHERE completed_at IS NULL AND lease_until <= now() ORDER BY account_id, id) AS w,
          LATERAL (SELECT max(t.taken_at) AS at FROM video_analyses t
            WHERE t.account_id = w.account_id) AS turn
        ORDER BY turn.at NULLS FIRST, w.id LIMIT 1)
      RETURNING id, epoch::float8 AS epoch`;
    return next ?? null;
  });
}

/** Takes the one that was set aside, or left, under this epoch; the next epoch is the caller's. */
export async function takeVideoAnalysis(
  sql: Queryable,
  { id, epoch }: HeldAnalysis,
  leaseMs: number,
): Promise<VideoAnalysis | null> {
  const [row] = await sql.unsafe<VideoAnalysis[]>(
    `UPDATE video_analyses a SET epoch = a.epoch + 1, status = 'running',
        running_at = coalesce(a.running_at, now()), progress = greatest(a.progress, 1),
        lease_until = now() + $3::float8 * interval '1 ms', updated_at = now()
      WHERE a.id = $1 AND a.epoch = $2 AND a.completed_at IS NULL
      RETURNING ${analysisColumns}`,
    [id, epoch, leaseMs],
    { prepare: true },
  );
  return row === undefined ? null : readAnalysis(row);
}

/** Renews leases and notes progress, which never falls. Returns the ids that are still held. */
export async function renewVideoAnalyses(
  sql: Queryable,
  held: readonly (HeldAnalysis & { progress: number })[],
  leaseMs: number,
): Promise<Set<string>> {
  const rows = await sql.unsafe<{ id: string }[]>(
    `UPDATE video_analyses a SET lease_until = now() + $4::float8 * interval '1 ms',
        progress = greatest(a.progress, r.progress),
        updated_at = CASE WHEN r.progress > a.progress THEN now() ELSE a.updated_at END
      FROM unnest($1::text[], $2::bigint[], $3::integer[]) AS r (id, epoch, progress)
      WHERE ${lookedUp('a.id', 'r.id')} AND a.epoch = r.epoch AND a.completed_at IS NULL
      RETURNING a.id`,
    [
      arrayLiteral(held.map(({ id }) => id)),
      arrayLiteral(held.map(({ epoch }) => epoch)),
      arrayLiteral(held.map(({ progress }) => progress)),
      leaseMs,
    ],
    { prepare: true },
  );
  return new Set(rows.map(({ id }) => id));
}

/** Lets others take them at once. */
export async function leaveVideoAnalyses(
  sql: Queryable,
  held: readonly HeldAnalysis[],
): Promise<void> {
  await sql.unsafe(
    `UPDATE video_analyses a SET lease_until = now()
      FROM unnest($1::text[], $2::bigint[]) AS r (id, epoch)
      WHERE ${lookedUp('a.id', 'r.id')} AND a.epoch = r.epoch AND a.completed_at IS NULL`,
    [arrayLiteral(held.map(({ id }) => id)), arrayLiteral(held.map(({ epoch }) => epoch))],
    { prepare: true },
  );
}

/** What the source is, before the model is asked. False: it is another's. */
export async function noteSource(
  sql: Queryable,
  { id, epoch }: HeldAnalysis,
  sourceJson: string,
  progress: number,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE video_analyses SET source = ${sourceJson}, updated_at = now(),
      progress = greatest(progress, ${progress})
    WHERE id = ${id} AND epoch = ${epoch} AND completed_at IS NULL`;
  return count > 0;
}

export type AnalysisEnd =
  | { status: 'completed'; resultJson: string }
  | { status: 'failed'; errorCode: string; errorMessage: string };

/** The end. One that failed and cost nothing frees its key. False: it is another's, or over. */
export async function endVideoAnalysis(
  sql: Queryable,
  { id, epoch }: HeldAnalysis,
  end: AnalysisEnd,
  usageJson: string | null,
): Promise<boolean> {
  const isGood = end.status === 'completed';
  const { count } = await sql`
    UPDATE video_analyses SET status = ${end.status}, usage = ${usageJson},
      result = ${isGood ? end.resultJson : null},
      error_code = ${isGood ? null : end.errorCode},
      error_message = ${isGood ? null : end.errorMessage},
      keyed = keyed AND ${isGood || usageJson !== null},
      progress = CASE WHEN ${isGood} THEN 100 ELSE progress END,
      completed_at = now(), updated_at = now()
    WHERE id = ${id} AND epoch = ${epoch} AND completed_at IS NULL`;
  return count > 0;
}

/** Ends what has waited too long for its turn. Returns how many. */
export async function endLateAnalyses(
  sql: Queryable,
  queuedForMs: number,
  { code, message }: { code: string; message: string },
): Promise<number> {
  const { count } = await sql`
    UPDATE video_analyses SET status = 'failed', keyed = false, error_code = ${code},
      error_message = ${message}, epoch = epoch + 1, completed_at = now(), updated_at = now()
    WHERE status = 'queued' AND completed_at IS NULL
      AND created_at <= now() - ${queuedForMs}::float8 * interval '1 ms'`;
  return count;
}

/** Lists those that nobody has had for so long, the oldest first. */
export async function listLeftAnalyses(
  sql: Queryable,
  leftMs: number,
  limit: number,
): Promise<HeldAnalysis[]> {
  return sql<HeldAnalysis[]>`
    SELECT id, epoch::float8 AS epoch FROM video_analyses
    WHERE completed_at IS NULL AND lease_until <= now() - ${leftMs}::float8 * interval '1 ms'
    ORDER BY id LIMIT ${limit}`;
}

/** Nobody works on any: of a process that has the database alone. */
export async function freeVideoAnalyses(sql: Queryable): Promise<void> {
  await sql`
    UPDATE video_analyses SET lease_until = now()
    WHERE completed_at IS NULL AND lease_until > now()`;
}

/** Removes those that ended so long ago and are on no legal hold. Returns how many. */
export async function forgetAnalyses(sql: Sql, keptMs: number, limit: number): Promise<number> {
  const { count } = await erasing(
    sql,
    (transaction) => transaction`
      DELETE FROM video_analyses WHERE id IN (
        SELECT id FROM video_analyses v
        WHERE completed_at <= now() - ${keptMs}::float8 * interval '1 ms'
          AND NOT ${transaction.unsafe(heldText('v.account_id'))}
        ORDER BY completed_at LIMIT ${limit})`,
  );
  return count;
}
