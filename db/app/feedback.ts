// What people say of apps. The same words of the same person within a day are one row.
import type { Queryable, Sql, Transaction } from '../driver/sql.ts';
import { millisecondsOf } from '../video-jobs.ts';

export interface ToldFeedback {
  /** `fbk_` and 24 hex characters. */
  id: string;
  accountId: string | null;
  installationId: string | null;
  platform: string | null;
  appVersion: string | null;
  category: string | null;
  rating: number | null;
  message: string;
  /** The SHA-256 of the words and of who says them. */
  digest: string;
  email: { sealed: Buffer; keyId: string } | null;
}

/** Any constant: the first key of the advisory lock ('feed'). */
const FEEDBACK_LOCK = 0x66656564;

/** Writes it, or counts it on the row that says the same. */
export async function putFeedback(sql: Sql, told: ToldFeedback, sameMs: number): Promise<void> {
  const { digest } = told;
  await sql.begin(async (transaction) => {
    // The same words at the same moment wait for each other.
    await transaction`SELECT pg_advisory_xact_lock(${FEEDBACK_LOCK}, hashtext(${digest}))`;
    const same = await transaction`
      UPDATE app_feedback SET count = count + 1, last_at = now(),
        rating = coalesce(${told.rating}::smallint, rating),
        email = coalesce(${told.email?.sealed ?? null}::bytea, email),
        email_key_id = coalesce(${told.email?.keyId ?? null}::text, email_key_id)
      WHERE digest = ${digest} AND created_at > now() - ${sameMs}::float8 * interval '1 ms'`;
    if (same.count > 0) return;
    await transaction`
      INSERT INTO app_feedback (id, account_id, installation_id, platform, app_version, category,
        rating, message, digest, email, email_key_id)
      VALUES (${told.id}, ${told.accountId}, ${told.installationId}, ${told.platform},
        ${told.appVersion}, ${told.category}, ${told.rating}, ${told.message}, ${digest},
        ${told.email?.sealed ?? null}, ${told.email?.keyId ?? null})`;
  });
}

export interface Feedback extends Omit<ToldFeedback, 'email'> {
  count: number;
  email: Buffer | null;
  createdAtMs: number;
  lastAtMs: number;
  handledAtMs: number | null;
}

const columns = `f.id, f.account_id AS "accountId", f.installation_id AS "installationId",
  f.platform, f.app_version AS "appVersion", f.category, f.rating, f.message, f.digest,
  f.count, f.email,
  ${millisecondsOf('f.created_at')} AS "createdAtMs",
  ${millisecondsOf('f.last_at')} AS "lastAtMs",
  ${millisecondsOf('f.handled_at')} AS "handledAtMs"`;

export interface FeedbackFilter {
  category: string | null;
  rating: number | null;
  handled: boolean | null;
  accountId: string | null;
}

/** Newest first, older than `before`. */
export async function listFeedback(
  sql: Queryable,
  { category, rating, handled, accountId }: FeedbackFilter,
  limit: number,
  before: string | null,
): Promise<Feedback[]> {
  return sql.unsafe<Feedback[]>(
    `SELECT ${columns} FROM app_feedback f
    WHERE ($1::text IS NULL OR f.id < $1) AND ($2::text IS NULL OR f.category = $2)
      AND ($3::smallint IS NULL OR f.rating = $3)
      AND ($4::boolean IS NULL OR (f.handled_at IS NOT NULL) = $4)
      AND ($5::text IS NULL OR f.account_id = $5)
    ORDER BY f.id DESC LIMIT $6`,
    [before, category, rating, handled, accountId, limit],
  );
}

/** As it is then; null: there is none. */
export async function handleFeedback(
  transaction: Transaction,
  id: string,
  isHandled: boolean,
): Promise<Feedback | null> {
  const [row] = await transaction.unsafe<Feedback[]>(
    `UPDATE app_feedback f SET handled_at = CASE WHEN $2 THEN coalesce(handled_at, now()) END
    WHERE f.id = $1 RETURNING ${columns}`,
    [id, isHandled],
  );
  return row ?? null;
}

/** False: there was none. */
export async function deleteFeedback(transaction: Transaction, id: string): Promise<boolean> {
  const { count } = await transaction`DELETE FROM app_feedback WHERE id = ${id}`;
  return count > 0;
}
