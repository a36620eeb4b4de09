// Generated videos: made with the settlement of their job, and there until their file is removed.
import type { BlobNamer } from './blobs/namer.ts';
import type { Queryable } from './driver/sql.ts';
import { heldText } from './organizations/hold.ts';
import type { GeneratedVideoRow } from './video-jobs/rows.ts';
import { millisecondsOf } from './video-jobs.ts';

/** Videos of jobs that ended so long ago, whose files are there and on no legal hold. */
export async function listOldVideos(
  sql: Queryable,
  keptMs: number,
  limit: number,
): Promise<{ id: string; blobId: string; accountId: string }[]> {
  return sql<{ id: string; blobId: string; accountId: string }[]>`
    SELECT v.id, v.blob_id AS "blobId", v.account_id AS "accountId" FROM generated_videos v
    WHERE v.blob_id IS NOT NULL AND NOT ${sql.unsafe(heldText('v.account_id'))}
      AND v.created_at <= now() - ${keptMs}::float8 * interval '1 ms'
    ORDER BY v.id LIMIT ${limit}`;
}

/** The file of a video is gone. */
export async function noteVideoRemoved(sql: Queryable, id: string): Promise<void> {
  await sql`
    UPDATE generated_videos SET blob_id = NULL, removed_at = now()
    WHERE id = ${id} AND blob_id IS NOT NULL`;
}

/** A video that has its file; null: there is none of this account. */
export async function findGeneratedVideo(
  sql: Queryable,
  accountId: string,
  id: string,
): Promise<(GeneratedVideoRow & { createdMs: number }) | null> {
  const [video] = await sql.unsafe<(GeneratedVideoRow & { createdMs: number })[]>(
    `SELECT v.id, v.job_id AS "jobId", v.account_id AS "accountId", v.blob_id AS "blobId", v.title,
      v.mime_type AS "mimeType", v.duration_seconds AS "durationSeconds",
      v.aspect_ratio AS "aspectRatio", v.resolution, v.size_bytes::float8 AS "sizeBytes",
      v.sha256, ${millisecondsOf('v.created_at')} AS "createdMs"
    FROM generated_videos v
    WHERE v.id = $1 AND v.account_id = $2 AND v.blob_id IS NOT NULL`,
    [id, accountId],
    { prepare: true },
  );
  return video ?? null;
}

/** The files of videos. */
export const generatedVideoBlobs: BlobNamer = {
  noun: 'generated video',
  named: `SELECT v.blob_id FROM generated_videos v WHERE v.blob_id = ANY ($1::text[])`,
  rows: `SELECT v.id AS row_id, v.blob_id, v.size_bytes AS bytes, v.sha256
    FROM generated_videos v WHERE v.id > $1 AND v.blob_id IS NOT NULL ORDER BY v.id LIMIT $2`,
};
