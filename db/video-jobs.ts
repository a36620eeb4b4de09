// Video jobs as they are read. The ledger's statement makes and ends them (`video-jobs/rows.ts`),
// whoever works on one moves it (`video-jobs/moves.ts`). Times are those of the database's clock.
import type { BlobNamer } from './blobs/namer.ts';
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';
import type { GeneratedVideoRow, VideoJobStatus } from './video-jobs/rows.ts';

/** A job as its row has it. Times are epoch milliseconds by the database's clock. */
export interface VideoJob {
  id: string;
  accountId: string;
  walletId: string;
  apiKeyId: string | null;
  requestId: string;
  fingerprint: string;
  conversationId: string | null;
  holdId: string;
  prompt: string;
  durationSeconds: number;
  aspectRatio: string;
  resolution: string;
  generateAudio: boolean;
  seed: number | null;
  /** JSON. */
  candidates: string;
  status: VideoJobStatus;
  epoch: number;
  candidate: number | null;
  attemptOpen: boolean;
  provider: string | null;
  upstreamId: string | null;
  progress: number;
  /** JSON. */
  usage: string | null;
  costTicks: number | null;
  /** JSON. */
  file: string | null;
  chargeMicros: bigint | null;
  errorCode: string | null;
  note: string | null;
  createdMs: number;
  submittingMs: number | null;
  attemptMs: number | null;
  runningMs: number | null;
  finalizingMs: number | null;
  storedMs: number | null;
  completedMs: number | null;
  updatedMs: number;
  deadlineMs: number;
  /** When it was read. */
  nowMs: number;
  /** The video, until it is removed. */
  video: Omit<GeneratedVideoRow, 'jobId' | 'accountId'> | null;
}

const timeMembers = [
  ['created_at', 'createdMs'],
  ['submitting_at', 'submittingMs'],
  ['attempt_at', 'attemptMs'],
  ['running_at', 'runningMs'],
  ['finalizing_at', 'finalizingMs'],
  ['stored_at', 'storedMs'],
  ['completed_at', 'completedMs'],
  ['updated_at', 'updatedMs'],
  ['deadline_at', 'deadlineMs'],
] as const;

/** A time as epoch milliseconds. */
export const millisecondsOf = (text: string): string =>
  `floor(extract(epoch FROM ${text}) * 1000)::float8`;

const timeColumns = timeMembers
  .map(([column, member]) => `${millisecondsOf(`j.${column}`)} AS "${member}"`)
  .join(', ');

/** Columns of `j`, by the names of the members. */
export const jobColumns = `j.id, j.account_id AS "accountId", j.wallet_id AS "walletId",
  j.api_key_id AS "apiKeyId", j.request_id AS "requestId", j.fingerprint,
  j.conversation_id AS "conversationId", j.hold_id AS "holdId", j.prompt,
  j.duration_seconds AS "durationSeconds", j.aspect_ratio AS "aspectRatio", j.resolution,
  j.generate_audio AS "generateAudio", j.seed::float8 AS seed, j.candidates::text AS candidates,
  j.status, j.epoch::float8 AS epoch, j.candidate, j.attempt_open AS "attemptOpen", j.provider,
  j.upstream_id AS "upstreamId", j.progress, j.usage::text AS usage,
  j.cost_ticks::float8 AS "costTicks", j.file::text AS file, j.charge_micros AS "chargeMicros",
  j.error_code AS "errorCode", j.note,
  ${timeColumns},
  ${millisecondsOf('clock_timestamp()')} AS "nowMs"`;
const videoColumns = `CASE WHEN v.blob_id IS NOT NULL THEN json_build_object('id', v.id,
  'blobId', v.blob_id, 'title', v.title, 'mimeType', v.mime_type,
  'durationSeconds', v.duration_seconds, 'aspectRatio', v.aspect_ratio,
  'resolution', v.resolution, 'sizeBytes', v.size_bytes, 'sha256', v.sha256) END AS video`;
const fromText = 'FROM video_jobs j LEFT JOIN generated_videos v ON v.id = j.video_id';

async function readJobs(
  sql: Queryable,
  where: string,
  parameters: (string | number | null)[],
): Promise<VideoJob[]> {
  const text = `SELECT ${jobColumns}, ${videoColumns} ${fromText} WHERE ${where}`;
  return sql.unsafe<VideoJob[]>(text, parameters, { prepare: true });
}

/** One job; null: there is none. `accountId` null: of any account. */
export async function findVideoJob(
  sql: Queryable,
  accountId: string | null,
  id: string,
): Promise<VideoJob | null> {
  const where = 'j.id = $1 AND ($2::text IS NULL OR j.account_id = $2)';
  const [job] = await readJobs(sql, where, [id, accountId]);
  return job ?? null;
}

/**
 * The job that a key names, for as long as keys are kept, and the time of the database. The account
 * is compared in words that no index has: a plan of an empty table would read all of its jobs.
 */
export async function lookUpRequest(
  sql: Queryable,
  accountId: string,
  requestId: string,
  keptMs: number,
): Promise<{ job: VideoJob | null; nowMs: number }> {
  const text = `SELECT ${millisecondsOf('clock_timestamp()')} AS "currentMs", f.*
    FROM (SELECT) AS one LEFT JOIN LATERAL (SELECT ${jobColumns}, ${videoColumns} ${fromText}
      WHERE j.request_id = $2 AND j.keyed AND j.account_id IS NOT DISTINCT FROM $1
        AND (j.completed_at IS NULL OR j.created_at > now() - $3::float8 * interval '1 ms')
      ) AS f ON true`;
  const parameters = [accountId, requestId, keptMs];
  const [row] = await sql.unsafe<(VideoJob & { currentMs: number; id: string | null })[]>(
    text,
    parameters,
    { prepare: true },
  );
  const nowMs = row?.currentMs ?? Date.now();
  return { job: row === undefined || row.id === null ? null : row, nowMs };
}

/** The time of the database, for a request that has no key of its caller. */
export async function readDatabaseTime(sql: Queryable): Promise<number> {
  const text = `SELECT ${millisecondsOf('clock_timestamp()')} AS "nowMs"`;
  const [row] = await sql.unsafe<{ nowMs: number }[]>(text, [], { prepare: true });
  return row?.nowMs ?? Date.now();
}

/** The exact model of the conversation's last video; null: there was none. */
export async function findSticky(
  sql: Queryable,
  accountId: string,
  conversationId: string,
): Promise<string | null> {
  const [row] = await sql<{ alias: string | null }[]>`
    SELECT candidates -> coalesce(candidate, 0) ->> 'alias' AS alias FROM video_jobs
    WHERE account_id = ${accountId} AND conversation_id = ${conversationId}
      AND status NOT IN ('failed', 'cancelled')
    ORDER BY id DESC LIMIT 1`;
  return row?.alias ?? null;
}

/** Jobs behind `before`, the newest first. `accountId` null: of all accounts. */
export async function listVideoJobs(
  sql: Queryable,
  accountId: string | null,
  page: { before: string | null; status: VideoJobStatus | null; limit: number },
): Promise<VideoJob[]> {
  const where = `($1::text IS NULL OR j.account_id = $1) AND ($2::text IS NULL OR j.id < $2)
    AND ($3::text IS NULL OR j.status = $3) ORDER BY j.id DESC LIMIT $4`;
  return readJobs(sql, where, [accountId, page.before, page.status, page.limit]);
}

/** Jobs of an account that nobody has submitted, oldest first. */
export async function listQueuedVideoJobs(
  sql: Queryable,
  accountId: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM video_jobs WHERE account_id = ${accountId} AND status = 'queued'
    ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/** How many jobs wait, counted to `most` at most. */
export async function countQueuedVideoJobs(sql: Queryable, most: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::float8 AS count FROM (SELECT FROM video_jobs
      WHERE status = 'queued' LIMIT ${most}) AS waiting`;
  return row?.count ?? 0;
}

/** Whether other jobs with the same values are being submitted at this moment. */
export async function hasSimilarSubmission(
  sql: Queryable,
  job: Pick<VideoJob, 'id' | 'provider' | 'prompt' | 'durationSeconds' | 'resolution'>,
): Promise<boolean> {
  const rows = await sql`
    SELECT FROM video_jobs WHERE status = 'submitting' AND id <> ${job.id}
      AND provider = ${job.provider} AND prompt = ${job.prompt}
      AND duration_seconds = ${job.durationSeconds} AND resolution = ${job.resolution} LIMIT 1`;
  return rows.length > 0;
}

/** Which of a provider's ids other jobs have. */
export async function findClaimedUpstreamIds(
  sql: Queryable,
  provider: string,
  upstreamIds: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ upstream_id: string }[]>`
    SELECT upstream_id FROM video_jobs
    WHERE provider = ${provider} AND upstream_id = ANY (${arrayLiteral(upstreamIds)}::text[])`;
  return new Set(rows.map(({ upstream_id: id }) => id));
}

/** Files that are stored before their job is settled. */
export const storedVideoBlobs: BlobNamer = {
  noun: 'video job',
  named: `SELECT j.file ->> 'blobId' AS blob_id FROM video_jobs j
    WHERE j.completed_at IS NULL AND j.file IS NOT NULL
      AND j.file ->> 'blobId' = ANY ($1::text[])`,
  rows: `SELECT j.id AS row_id, j.file ->> 'blobId' AS blob_id,
      (j.file ->> 'sizeBytes')::bigint AS bytes, j.file ->> 'sha256' AS sha256
    FROM video_jobs j WHERE j.id > $1 AND j.completed_at IS NULL AND j.file IS NOT NULL
    ORDER BY j.id LIMIT $2`,
};
