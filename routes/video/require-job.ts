// The caller's job by its id.
import { withDeadline } from '../../db/driver/sql.ts';
import { findVideoJob, type VideoJob } from '../../db/video-jobs.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

/** `accountId` null: of any account. @throws Problem not_found */
export async function requireJob(
  { sql }: Pick<Services, 'sql'>,
  accountId: string | null,
  id: string,
): Promise<VideoJob> {
  const job = await withDeadline(findVideoJob(sql, accountId, id));
  if (job === null) throw new Problem('not_found', { param: 'job_id' });
  return job;
}
