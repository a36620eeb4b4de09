// Analyses of videos as they are made and read. Whoever works on one moves it
// (`video-analyses/moves.ts`). Times are those of the database's clock.
import type { Queryable, Sql } from './driver/sql.ts';
import { millisecondsOf } from './video-jobs.ts';
import type { WalletType } from './wallets.ts';

export type VideoAnalysisStatus = 'queued' | 'running' | 'completed' | 'failed';

/** What is asked for, by whom. */
export interface NewVideoAnalysis {
  id: string;
  accountId: string;
  walletId: string;
  /** Who pays where that wallet refuses a hold; left out or null: nobody. */
  fallbackWalletId?: string | null | undefined;
  apiKeyId: string | null;
  requestId: string;
  fingerprint: string;
  sourceUrl: string;
  videoId: string | null;
  model: string;
  prompt: string | null;
  startSeconds: number | null;
  endSeconds: number | null;
  framesMax: number;
}

/** An analysis as its row has it. Times are epoch milliseconds by the database's clock. */
export interface VideoAnalysis extends NewVideoAnalysis {
  walletType: WalletType;
  status: VideoAnalysisStatus;
  epoch: number;
  progress: number;
  /** JSON, as are the next two. */
  source: string | null;
  result: string | null;
  usage: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  createdMs: number;
  runningMs: number | null;
  completedMs: number | null;
  updatedMs: number;
  /** When it was read. */
  nowMs: number;
}

/** Columns of `a`, by the names of the members. */
export const analysisColumns = `a.id, a.account_id AS "accountId", a.wallet_id AS "walletId",
  a.fallback_wallet_id AS "fallbackWalletId", a.api_key_id AS "apiKeyId",
  a.request_id AS "requestId", a.fingerprint,
  a.source_url AS "sourceUrl", a.video_id AS "videoId", a.model, a.prompt,
  a.start_seconds AS "startSeconds", a.end_seconds AS "endSeconds", a.frames_max AS "framesMax",
  a.status, a.epoch::float8 AS epoch, a.progress, a.source, a.result, a.usage,
  a.error_code AS "errorCode", a.error_message AS "errorMessage",
  ${millisecondsOf('a.created_at')} AS "createdMs",
  ${millisecondsOf('a.running_at')} AS "runningMs",
  ${millisecondsOf('a.completed_at')} AS "completedMs",
  ${millisecondsOf('a.updated_at')} AS "updatedMs",
  ${millisecondsOf('clock_timestamp()')} AS "nowMs"`;

/** A row as it comes: a prompt is JSON text. */
export function readAnalysis(row: VideoAnalysis): VideoAnalysis {
  return { ...row, prompt: row.prompt === null ? null : (JSON.parse(row.prompt) as string) };
}

/** An analysis of the account; null: there is none, or not any more. */
export async function findVideoAnalysis(
  sql: Queryable,
  accountId: string,
  id: string,
): Promise<VideoAnalysis | null> {
  const [row] = await sql.unsafe<VideoAnalysis[]>(
    `SELECT ${analysisColumns} FROM video_analyses a WHERE a.id = $1 AND a.account_id = $2`,
    [id, accountId],
    { prepare: true },
  );
  return row === undefined ? null : readAnalysis(row);
}

/** How many there may be. */
export interface AnalysisBounds {
  /** An account has so many that are not final. */
  openMax: number;
  /** All accounts together have so many that wait. */
  queuedMax: number;
  /** How long a key names what is final. */
  keyKeptMs: number;
}

/** What stands in the way of one more. `found`: the key names one already. */
export type AnalysisRoom =
  | { status: 'found'; analysis: VideoAnalysis }
  | { status: 'full' | 'too_many' | 'free' };

type Key = Pick<NewVideoAnalysis, 'accountId' | 'requestId'>;

/** Looks, and changes nothing. */
export async function findAnalysisRoom(
  sql: Queryable,
  { accountId, requestId }: Key,
  { openMax, queuedMax, keyKeptMs }: AnalysisBounds,
): Promise<AnalysisRoom> {
  const [named] = await sql.unsafe<VideoAnalysis[]>(
    `SELECT ${analysisColumns} FROM video_analyses a
      WHERE a.account_id = $1 AND a.request_id = $2 AND a.keyed AND (a.completed_at IS NULL
        OR a.created_at > now() - $3::float8 * interval '1 ms')`,
    [accountId, requestId, keyKeptMs],
    { prepare: true },
  );
  if (named !== undefined) return { status: 'found', analysis: readAnalysis(named) };
  const [counted] = await sql<{ full: boolean; too_many: boolean }[]>`
    SELECT (SELECT count(*) FROM (SELECT FROM video_analyses
        WHERE completed_at IS NULL AND status = 'queued' LIMIT ${queuedMax}) AS q)
        >= ${queuedMax} AS "full",
      (SELECT count(*) FROM video_analyses
        WHERE account_id = ${accountId} AND completed_at IS NULL) >= ${openMax} AS too_many`;
  if (counted?.full === true) return { status: 'full' };
  return { status: counted?.too_many === true ? 'too_many' : 'free' };
}

/** Makes an analysis where there is room. Those of one account are made one after the other. */
export async function createVideoAnalysis(
  sql: Sql,
  asked: NewVideoAnalysis,
  bounds: AnalysisBounds,
): Promise<AnalysisRoom | { status: 'made'; analysis: VideoAnalysis }> {
  return sql.begin(async (transaction) => {
    const lock = `video analyses of ${asked.accountId}`;
    await transaction`SELECT pg_advisory_xact_lock(hashtext(${lock}))`;
    const room = await findAnalysisRoom(transaction, asked, bounds);
    if (room.status !== 'free') return room;
    // What has the key still is older than keys are kept.
    await transaction`
      UPDATE video_analyses SET keyed = false
      WHERE account_id = ${asked.accountId} AND request_id = ${asked.requestId} AND keyed`;
    await insert(transaction, asked);
    const analysis = await findVideoAnalysis(transaction, asked.accountId, asked.id);
    if (analysis === null) throw new Error('an analysis that was made is not there');
    return { status: 'made', analysis };
  });
}

async function insert(sql: Queryable, asked: NewVideoAnalysis): Promise<void> {
  const prompt = asked.prompt === null ? null : JSON.stringify(asked.prompt);
  await sql`
    INSERT INTO video_analyses (id, account_id, wallet_id, fallback_wallet_id, api_key_id,
      request_id, fingerprint, source_url, video_id, model, prompt, start_seconds, end_seconds,
      frames_max)
    VALUES (${asked.id}, ${asked.accountId}, ${asked.walletId}, ${asked.fallbackWalletId ?? null},
      ${asked.apiKeyId}, ${asked.requestId}, ${asked.fingerprint}, ${asked.sourceUrl},
      ${asked.videoId}, ${asked.model}, ${prompt}, ${asked.startSeconds}, ${asked.endSeconds},
      ${asked.framesMax})`;
}
