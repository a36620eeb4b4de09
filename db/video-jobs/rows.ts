// The parts of the ledger's statement that free keys of video jobs, make jobs and videos, and end
// jobs. An end of an epoch that is over is refused by a unique index, with all that is beside it.
import { arrayLiteral } from '../driver/array.ts';
import { lookedUp, ownedRow } from '../driver/lookup.ts';
import type { Queryable } from '../driver/sql.ts';
import type { HolderRows } from '../ledger/holder.ts';
import { definePart, type Part } from '../ledger/part.ts';
import { ownedRows } from '../ledger/write.ts';

export type VideoJobStatus =
  | 'queued'
  | 'submitting'
  | 'running'
  | 'succeeded'
  | 'failed'
  | 'cancelled';

/** A job that begins with its hold. */
export interface VideoJobClaimRow {
  id: string;
  accountId: string;
  apiKeyId: string | null;
  requestId: string;
  fingerprint: string;
  conversationId: string | null;
  holdId: string;
  instanceId: string;
  prompt: string;
  durationSeconds: number;
  aspectRatio: string;
  resolution: string;
  generateAudio: boolean;
  seed: number | null;
  candidatesJson: string;
  /** The time of the database, as it was read before. */
  createdMs: number;
  livesMs: number;
}

/** How a job ends. */
export interface VideoJobFinishRow {
  id: string;
  /** Null: whichever it has. */
  epoch: number | null;
  status: 'succeeded' | 'failed' | 'cancelled';
  errorCode: string | null;
  note: string | null;
  chargeMicros: bigint | null;
  video: GeneratedVideoRow | null;
}

/** A video as its own account has it. */
export interface GeneratedVideoRow {
  id: string;
  jobId: string;
  accountId: string;
  blobId: string;
  title: string;
  mimeType: string;
  durationSeconds: number;
  aspectRatio: string;
  resolution: string;
  sizeBytes: number;
  sha256: string;
}

/** The canonical path whose idempotency keys name jobs. */
export const videoJobRoute = '/v1/video/generations';

interface FreedKey {
  generationId: string;
}

const finishesOf = (write: Parameters<Part['count']>[0]) =>
  ownedRows<VideoJobFinishRow>(write, 'job_finishes');

/** The parts of the ledger's statement that free keys, make jobs and videos, and end jobs. */
const parts: readonly Part[] = [
  definePart<FreedKey>({
    name: 'freed_job_keys',
    rows: (write) =>
      ownedRows<FreedKey>(write, 'freed_keys').filter(({ generationId }) =>
        generationId.startsWith('vjob_'),
      ),
    columns: [['id', 'text', (freed) => freed.generationId]],
    text: (rows) => `UPDATE video_jobs j SET keyed = false FROM ${rows}
      WHERE ${lookedUp('j.id', 'r.id')} AND j.completed_at IS NOT NULL RETURNING 1`,
  }),
  definePart<VideoJobClaimRow>({
    name: 'job_claims',
    after: 'freed_job_keys',
    rows: (write) => ownedRows(write, 'job_claims'),
    columns: [
      ['id', 'text', (claim) => claim.id],
      ['account_id', 'text', (claim) => claim.accountId],
      ['api_key_id', 'text', (claim) => claim.apiKeyId],
      ['request_id', 'text', (claim) => claim.requestId],
      ['fingerprint', 'text', (claim) => claim.fingerprint],
      ['conversation_id', 'text', (claim) => claim.conversationId],
      ['hold_id', 'text', (claim) => claim.holdId],
      ['instance_id', 'text', (claim) => claim.instanceId],
      ['prompt', 'text', (claim) => claim.prompt],
      ['duration_seconds', 'integer', (claim) => claim.durationSeconds],
      ['aspect_ratio', 'text', (claim) => claim.aspectRatio],
      ['resolution', 'text', (claim) => claim.resolution],
      ['generate_audio', 'boolean', (claim) => claim.generateAudio],
      ['seed', 'bigint', (claim) => claim.seed],
      ['candidates', 'jsonb', (claim) => claim.candidatesJson],
      ['created_ms', 'bigint', (claim) => claim.createdMs],
      ['lives_ms', 'bigint', (claim) => claim.livesMs],
    ],
    text: (rows) => `INSERT INTO video_jobs (id, account_id, wallet_id, api_key_id, request_id,
        fingerprint, conversation_id, hold_id, instance_id, prompt, duration_seconds,
        aspect_ratio, resolution, generate_audio, seed, candidates, created_at, updated_at,
        deadline_at)
      SELECT r.id, r.account_id, r.wallet_id, r.api_key_id, r.request_id, r.fingerprint,
        r.conversation_id, r.hold_id, r.instance_id, r.prompt, r.duration_seconds,
        r.aspect_ratio, r.resolution, r.generate_audio, r.seed, r.candidates, t.at, t.at,
        t.at + r.lives_ms::float8 * interval '1 ms'
      FROM ${rows}, LATERAL (SELECT to_timestamp(r.created_ms::float8 / 1000) AS at) AS t`,
  }),
  definePart<VideoJobFinishRow>({
    name: 'job_epochs',
    rows: finishesOf,
    columns: [
      ['id', 'text', (finish) => finish.id],
      ['epoch', 'bigint', (finish) => finish.epoch],
    ],
    // If the epoch is over, this violates the primary key: nothing at all is written.
    text: (rows) => `INSERT INTO video_job_epochs (job_id, epoch)
      SELECT j.id, coalesce(r.epoch, j.epoch) FROM ${rows}
      JOIN video_jobs j ON ${ownedRow('j')}`,
  }),
  definePart<VideoJobFinishRow>({
    name: 'job_finishes',
    isCounted: true,
    rows: finishesOf,
    columns: [
      ['id', 'text', (finish) => finish.id],
      ['status', 'text', (finish) => finish.status],
      ['error_code', 'text', (finish) => finish.errorCode],
      ['note', 'text', (finish) => finish.note],
      ['charge_micros', 'bigint', (finish) => finish.chargeMicros],
      ['video_id', 'text', (finish) => finish.video?.id ?? null],
    ],
    // What failed uncharged frees its key.
    text: (rows) => `UPDATE video_jobs j SET status = r.status, error_code = r.error_code,
        note = r.note, charge_micros = r.charge_micros, video_id = r.video_id,
        keyed = j.keyed AND r.status <> 'failed', slot_of = NULL, attempt_open = false,
        completed_at = now(), updated_at = now()
      FROM ${rows} WHERE ${ownedRow('j')} AND j.completed_at IS NULL`,
  }),
  definePart<GeneratedVideoRow>({
    name: 'job_videos',
    rows: (write) => finishesOf(write).flatMap(({ video }) => video ?? []),
    columns: [
      ['id', 'text', (video) => video.id],
      ['job_id', 'text', (video) => video.jobId],
      ['account_id', 'text', (video) => video.accountId],
      ['blob_id', 'text', (video) => video.blobId],
      ['title', 'text', (video) => video.title],
      ['mime_type', 'text', (video) => video.mimeType],
      ['duration_seconds', 'integer', (video) => video.durationSeconds],
      ['aspect_ratio', 'text', (video) => video.aspectRatio],
      ['resolution', 'text', (video) => video.resolution],
      ['size_bytes', 'bigint', (video) => video.sizeBytes],
      ['sha256', 'text', (video) => video.sha256],
    ],
    text: (rows) => `INSERT INTO generated_videos (id, job_id, account_id, blob_id, title,
        mime_type, duration_seconds, aspect_ratio, resolution, size_bytes, sha256)
      SELECT r.id, r.job_id, r.account_id, r.blob_id, r.title, r.mime_type, r.duration_seconds,
        r.aspect_ratio, r.resolution, r.size_bytes, r.sha256 FROM ${rows}`,
  }),
];

export const openStatuses = ['queued', 'submitting', 'running'] as const;

/** Video jobs as holders of funds. */
export const videoJobRows: HolderRows = {
  kind: 'video_job',
  idPrefix: 'vjob',
  outlivesProcess: true,
  parts,
  table: 'video_jobs',
  alias: 'j',
  state: 'status',
  live: openStatuses,
  charged: 'charge_micros IS NOT NULL',
  isKeyed: true,
  leftColumns: [],
  fence: { part: 'job_finishes', findReplaced: findOverEpochs },
};

/** Finds ends whose epoch is over: somebody else has the job, or has ended it. */
async function findOverEpochs(sql: Queryable, rows: readonly object[]): Promise<string[]> {
  const finishes = rows as readonly VideoJobFinishRow[];
  const found = await sql.unsafe<{ id: string }[]>(
    `SELECT r.id FROM unnest($1::text[], $2::bigint[]) AS r (id, epoch)
      JOIN video_jobs j ON ${lookedUp('j.id', 'r.id')}
      WHERE EXISTS (SELECT FROM video_job_epochs e
        WHERE e.job_id = r.id AND e.epoch = coalesce(r.epoch, j.epoch))`,
    [arrayLiteral(finishes.map(({ id }) => id)), arrayLiteral(finishes.map(({ epoch }) => epoch))],
    { prepare: true },
  );
  return found.map(({ id }) => id);
}
