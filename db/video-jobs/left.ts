// Video jobs that were left behind: by who worked on them, and by their own end.
import type { Queryable } from '../driver/sql.ts';

/** Open jobs that nobody has had for so long, the oldest first. */
export async function listLeftVideoJobs(
  sql: Queryable,
  leftMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM video_jobs
    WHERE status IN ('queued', 'submitting', 'running')
      AND lease_until <= now() - ${leftMs}::float8 * interval '1 ms'
    ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/** Nobody works on any job: of a process that has the database alone. */
export async function freeVideoJobs(sql: Queryable): Promise<void> {
  await sql`
    UPDATE video_jobs SET lease_until = now()
    WHERE status IN ('queued', 'submitting', 'running') AND lease_until > now()`;
}

/** Ends of epochs say nothing once their job has been over for a day. */
export async function forgetEpochs(sql: Queryable, limit: number): Promise<void> {
  await sql`
    DELETE FROM video_job_epochs WHERE (job_id, epoch) IN (
      SELECT e.job_id, e.epoch FROM video_job_epochs e JOIN video_jobs j ON j.id = e.job_id
      WHERE j.completed_at < now() - interval '1 day' ORDER BY e.job_id LIMIT ${limit})`;
}
