// Submissions for rewards as people begin them, hand evidence in, and read them. Whoever works on
// one moves it (`moves.ts`), and administrators review it (`review.ts`).
import type { Queryable, Sql } from '../driver/sql.ts';

export type RewardState = 'draft' | 'verifying' | 'needs_review' | 'approved' | 'rejected';
export type RewardMethod = 'public_content_ai' | 'social_follow_review';

export interface Submission {
  id: string;
  accountId: string;
  walletId: string;
  task: string;
  title: string;
  method: RewardMethod;
  targetUrl: string | null;
  micros: bigint;
  challengeCode: string | null;
  state: RewardState;
  evidences: number;
  evidenceUrl: string | null;
  evidenceNotes: string | null;
  confidence: number | null;
  summary: string | null;
  checks: string[] | null;
  reviewNotes: string | null;
  reviewedAt: Date | null;
  grantedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** Its place in lists. */
  place: string;
}

type Row = Omit<Submission, 'micros'> & { micros: string };

/** Columns of `s`, by the names of the members. */
export const submissionColumns = `s.id, s.account_id AS "accountId", s.wallet_id AS "walletId",
  s.task, s.title, s.method, s.target_url AS "targetUrl", s.micros::text AS micros,
  s.challenge_code AS "challengeCode", s.state, s.evidences, s.evidence_url AS "evidenceUrl",
  s.evidence_notes AS "evidenceNotes", s.confidence, s.summary, s.checks,
  s.review_notes AS "reviewNotes", s.reviewed_at AS "reviewedAt", s.granted_at AS "grantedAt",
  s.created_at AS "createdAt", s.updated_at AS "updatedAt",
  (extract(epoch FROM s.created_at) * 1000000)::bigint || '/' || s.id AS place`;

export function readSubmission(row: Row): Submission {
  return { ...row, micros: BigInt(row.micros) };
}

export async function findSubmission(sql: Queryable, id: string): Promise<Submission | null> {
  const [row] = await sql.unsafe<Row[]>(
    `SELECT ${submissionColumns} FROM reward_submissions s WHERE s.id = $1::uuid`,
    [id],
  );
  return row === undefined ? null : readSubmission(row);
}

export interface SubmissionFilter {
  accountId: string | null;
  state: RewardState | null;
}

/** Newest first, behind a place. */
export async function listSubmissions(
  sql: Queryable,
  { accountId, state }: SubmissionFilter,
  limit: number,
  after: string | null,
): Promise<{ submissions: Submission[]; nextPlace: string | null }> {
  const [micros = null, id = null] = after?.split('/') ?? [];
  const rows = await sql.unsafe<Row[]>(
    `SELECT ${submissionColumns} FROM reward_submissions s
      WHERE ($1::text IS NULL OR s.account_id = $1) AND ($2::text IS NULL OR s.state = $2)
        AND ($3::bigint IS NULL OR (s.created_at, s.id) < (
          to_timestamp(0) + $3::bigint * interval '1 microsecond', $4::uuid))
      ORDER BY s.created_at DESC, s.id DESC LIMIT $5`,
    [accountId, state, micros, id, limit + 1],
  );
  const submissions = rows.slice(0, limit).map(readSubmission);
  const last = submissions.at(-1)?.place ?? null;
  return { submissions, nextPlace: rows.length > limit ? last : null };
}

/** What of tasks the account has begun, by the task. */
export async function findSubmissionsByTask(
  sql: Queryable,
  accountId: string,
): Promise<Map<string, Submission>> {
  const rows = await sql.unsafe<Row[]>(
    `SELECT ${submissionColumns} FROM reward_submissions s WHERE s.account_id = $1`,
    [accountId],
  );
  return new Map(rows.map((row) => [row.task, readSubmission(row)]));
}

export interface NewSubmission {
  accountId: string;
  walletId: string;
  task: string;
  title: string;
  method: RewardMethod;
  targetUrl: string | null;
  micros: bigint;
  creditsDays: number | null;
  challengeCode: string | null;
}

/** Makes the account's submission for the task; null: there is one. */
export async function createSubmission(
  sql: Queryable,
  asked: NewSubmission,
): Promise<Submission | null> {
  const { accountId, walletId, task, title, method, targetUrl, micros } = asked;
  const [row] = await sql<{ id: string }[]>`
    INSERT INTO reward_submissions (account_id, wallet_id, task, title, method, target_url, micros,
      credits_days, challenge_code)
    VALUES (${accountId}, ${walletId}, ${task}, ${title}, ${method}, ${targetUrl},
      ${micros.toString()}::bigint, ${asked.creditsDays}, ${asked.challengeCode})
    ON CONFLICT (account_id, task) DO NOTHING RETURNING id`;
  return row === undefined ? null : await findSubmission(sql, row.id);
}

export interface Evidence {
  submissionId: string;
  accountId: string;
  url: string;
  notes: string | null;
}

export type EvidenceTaken =
  | { status: 'taken'; submission: Submission; epoch: number }
  | { status: 'not_found' }
  /** It is judged, or was. */
  | { status: 'wrong_state'; state: RewardState }
  /** As many were handed in as may be. */
  | { status: 'used_up' };

/** Takes evidence: it is judged, or waits for an administrator where the task says so. */
export function takeEvidence(
  sql: Sql,
  { submissionId, accountId, url, notes }: Evidence,
  evidencesMax: number,
): Promise<EvidenceTaken> {
  return sql.begin(async (transaction): Promise<EvidenceTaken> => {
    const [before] = await transaction<{ state: RewardState; evidences: number }[]>`
      SELECT state, evidences FROM reward_submissions
      WHERE id = ${submissionId}::uuid AND account_id = ${accountId} FOR UPDATE`;
    if (before === undefined) return { status: 'not_found' };
    const { state, evidences } = before;
    if (state !== 'draft' && state !== 'rejected') return { status: 'wrong_state', state };
    if (evidences >= evidencesMax) return { status: 'used_up' };
    const [row] = await transaction<{ epoch: number }[]>`
      UPDATE reward_submissions SET evidence_url = ${url}, evidence_notes = ${notes},
        state = CASE method WHEN 'public_content_ai' THEN 'verifying' ELSE 'needs_review' END,
        evidences = evidences + 1, nonce = gen_random_uuid(), page_url = NULL, page_print = NULL,
        fetches = 0, starts = 0, next_at = now(), epoch = epoch + 1, lease_until = now(),
        confidence = NULL, summary = NULL, checks = NULL, review_notes = NULL,
        reviewed_by = NULL, reviewed_at = NULL, updated_at = now()
      WHERE id = ${submissionId}::uuid RETURNING epoch::float8 AS epoch`;
    const submission = await findSubmission(transaction, submissionId);
    if (row === undefined || submission === null) throw new Error('a locked submission is gone');
    return { status: 'taken', submission, epoch: row.epoch };
  });
}
