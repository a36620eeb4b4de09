// Moves of video jobs: each changes nothing where the epoch is no longer the caller's.
import { arrayLiteral } from '../driver/array.ts';
import { lookedUp } from '../driver/lookup.ts';
import type { Queryable, Sql } from '../driver/sql.ts';
import { jobColumns, type VideoJob } from '../video-jobs.ts';
import { openStatuses, type VideoJobStatus } from './rows.ts';

/**
 * Takes a job that nobody works on, or, with `fromOthers`, one that somebody does. Null: it is not
 * in one of these states, or another has it. The epoch before is over from now on.
 */
export async function takeVideoJob(
  sql: Queryable,
  id: string,
  taking: { leaseMs: number; fromOthers: boolean; statuses?: readonly VideoJobStatus[] },
): Promise<VideoJob | null> {
  const statuses = arrayLiteral(taking.statuses ?? openStatuses);
  const [taken] = await sql.unsafe<VideoJob[]>(
    `WITH taken AS (
      UPDATE video_jobs SET epoch = epoch + 1,
        lease_until = now() + $2::float8 * interval '1 ms'
      WHERE id = $1 AND completed_at IS NULL AND status = ANY ($3::text[])
        AND (lease_until <= now() OR $4::text = 'others')
      RETURNING *),
    over AS (INSERT INTO video_job_epochs (job_id, epoch) SELECT id, epoch - 1 FROM taken)
    SELECT ${jobColumns}, NULL AS video FROM taken j`,
    [id, taking.leaseMs, statuses, taking.fromOthers ? 'others' : 'nobody'],
    { prepare: true },
  );
  return taken ?? null;
}

/** Lets others take a job at once. */
export async function leaveVideoJobs(sql: Queryable, jobs: readonly HeldJob[]): Promise<void> {
  await sql.unsafe(
    `UPDATE video_jobs j SET lease_until = now()
      FROM unnest($1::text[], $2::bigint[]) AS r (id, epoch)
      WHERE ${lookedUp('j.id', 'r.id')} AND j.epoch = r.epoch AND j.completed_at IS NULL`,
    [arrayLiteral(jobs.map(({ id }) => id)), arrayLiteral(jobs.map(({ epoch }) => epoch))],
    { prepare: true },
  );
}

/** A job with the epoch under which somebody works on it. */
export interface HeldJob {
  id: string;
  epoch: number;
}

/**
 * Renews leases and notes progress, which never falls. Returns the ids of those that are still
 * held.
 */
export async function renewVideoJobs(
  sql: Queryable,
  jobs: readonly (HeldJob & { progress: number })[],
  leaseMs: number,
): Promise<Set<string>> {
  const rows = await sql.unsafe<{ id: string }[]>(
    `UPDATE video_jobs j SET lease_until = now() + $4::float8 * interval '1 ms',
        progress = greatest(j.progress, r.progress),
        updated_at = CASE WHEN r.progress > j.progress THEN now() ELSE j.updated_at END
      FROM unnest($1::text[], $2::bigint[], $3::integer[]) AS r (id, epoch, progress)
      WHERE ${lookedUp('j.id', 'r.id')} AND j.epoch = r.epoch AND j.completed_at IS NULL
      RETURNING j.id`,
    [
      arrayLiteral(jobs.map(({ id }) => id)),
      arrayLiteral(jobs.map(({ epoch }) => epoch)),
      arrayLiteral(jobs.map(({ progress }) => progress)),
      leaseMs,
    ],
    { prepare: true },
  );
  return new Set(rows.map(({ id }) => id));
}

/** What a submission needs before its request may leave. */
export interface SlotRequest extends HeldJob {
  candidate: number;
  provider: string;
  slotsMax: number;
}

/**
 * Takes a slot of the provider and opens the attempt, durably. `full`: others have all of its
 * slots. `gone`: the job is another's, or over.
 */
export async function beginSubmission(
  sql: Sql,
  { id, epoch, candidate, provider, slotsMax }: SlotRequest,
): Promise<'begun' | 'full' | 'gone'> {
  return sql.begin(async (transaction) => {
    // Whoever counts must see who counted before.
    await transaction`SELECT pg_advisory_xact_lock(hashtext(${`video slots of ${provider}`}))`;
    const [row] = await transaction<{ begun: boolean; full: boolean }[]>`
      WITH used AS (
        SELECT count(*) >= ${slotsMax} AS "full" FROM video_jobs
        WHERE slot_of = ${provider} AND id <> ${id}),
      begun AS (
        UPDATE video_jobs SET status = 'submitting', candidate = ${candidate},
          attempt_open = true, slot_of = ${provider}, provider = ${provider},
          submitting_at = coalesce(submitting_at, now()), attempt_at = now(), updated_at = now()
        WHERE id = ${id} AND epoch = ${epoch} AND status IN ('queued', 'submitting')
          AND NOT attempt_open AND NOT (SELECT "full" FROM used)
        RETURNING 1)
      SELECT EXISTS (SELECT FROM begun) AS begun, "full" FROM used`;
    if (row?.begun === true) return 'begun';
    return row?.full === true ? 'full' : 'gone';
  });
}

/** Whether a write found the job in the caller's epoch. */
async function changed(query: Promise<{ count: number }>): Promise<boolean> {
  return (await query).count > 0;
}

/** The attempt was refused for certain: another may begin. */
export function closeAttempt(sql: Queryable, { id, epoch }: HeldJob): Promise<boolean> {
  return changed(sql`
    UPDATE video_jobs SET attempt_open = false, slot_of = NULL, updated_at = now()
    WHERE id = ${id} AND epoch = ${epoch} AND status = 'submitting'`);
}

/** The provider has it under this id. */
export function noteAccepted(
  sql: Queryable,
  { id, epoch }: HeldJob,
  upstreamId: string,
): Promise<boolean> {
  return changed(sql`
    UPDATE video_jobs SET status = 'running', upstream_id = ${upstreamId}, attempt_open = false,
      running_at = now(), updated_at = now()
    WHERE id = ${id} AND epoch = ${epoch} AND status = 'submitting'`);
}

/** The provider is done: its slot is free, and the file is to be fetched. */
export function noteRendered(
  sql: Queryable,
  { id, epoch }: HeldJob,
  { usageJson, costTicks }: { usageJson: string | null; costTicks: number | null },
): Promise<boolean> {
  return changed(sql`
    UPDATE video_jobs SET finalizing_at = coalesce(finalizing_at, now()), slot_of = NULL,
      usage = ${usageJson}::text::jsonb, cost_ticks = ${costTicks}, updated_at = now()
    WHERE id = ${id} AND epoch = ${epoch} AND status = 'running'`);
}

/** What the provider says that a failure cost. */
export function noteCost(
  sql: Queryable,
  { id, epoch }: HeldJob,
  costTicks: number,
): Promise<boolean> {
  return changed(sql`
    UPDATE video_jobs SET cost_ticks = ${costTicks} WHERE id = ${id} AND epoch = ${epoch}`);
}

/** The file is in the store. */
export function noteStored(
  sql: Queryable,
  { id, epoch }: HeldJob,
  fileJson: string,
): Promise<boolean> {
  return changed(sql`
    UPDATE video_jobs SET file = ${fileJson}::text::jsonb, stored_at = now(), updated_at = now()
    WHERE id = ${id} AND epoch = ${epoch} AND status = 'running'`);
}
