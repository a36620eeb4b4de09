// What is due for video jobs beside their actors. Jobs that nobody has are put into the queue
// again. Files whose time is over are removed, and so are epochs of jobs that are over.
import type { Sql } from '../../db/driver/sql.ts';
import { listOldVideos, noteVideoRemoved } from '../../db/generated-videos.ts';
import { erasing, isHeld } from '../../db/organizations/hold.ts';
import { forgetEpochs, freeVideoJobs, listLeftVideoJobs } from '../../db/video-jobs/left.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { VideoLimits } from './limits.ts';

const pageLength = 200;

/**
 * `add` puts a job into the queue and to work here. The entry of a dead worker stands in the way of
 * a new one for a while. Rejects when the database cannot be read.
 */
export async function sweepVideoJobs(
  sql: Sql,
  add: (id: string) => void,
  { leftMs, leftMax }: Pick<VideoLimits, 'leftMs' | 'leftMax'>,
): Promise<number> {
  const left = await listLeftVideoJobs(sql, leftMs, leftMax);
  for (const id of left) add(id);
  return left.length;
}

/** Removes files that are older than they are kept; 0 keeps all. */
export async function sweepVideos(
  sql: Sql,
  blobs: BlobStore,
  { keptMs }: Pick<VideoLimits, 'keptMs'>,
): Promise<number> {
  await forgetEpochs(sql, pageLength);
  if (keptMs === 0) return 0;
  const old = await listOldVideos(sql, keptMs, pageLength);
  for (const { id, blobId, accountId } of old) {
    const isGone = await erasing(sql, async (transaction) => {
      // The hold may have been set since the list was read.
      if (await isHeld(transaction, accountId)) return false;
      await noteVideoRemoved(transaction, id);
      return true;
    });
    // First the row: an object that no row names is removed in any case.
    if (isGone) await blobs.remove(blobId);
  }
  return old.length;
}

/** At the start of a process that nobody shares the database with: nobody works on any job. */
export async function takeOverVideoJobs(sql: Sql, add: (id: string) => void): Promise<void> {
  await freeVideoJobs(sql);
  for (const id of await listLeftVideoJobs(sql, 0, pageLength)) add(id);
}
