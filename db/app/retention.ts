// What of apps is kept for a time, and no longer. Each function removes one page, and says how many
// rows that were.
import type { Queryable } from '../driver/sql.ts';

/** Notices that ended so long ago, and those of billing that are as old. */
export async function forgetNotices(
  sql: Queryable,
  keptMs: number,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    DELETE FROM app_notices WHERE id IN (
      (SELECT id FROM app_notices
        WHERE ends_at <= now() - ${keptMs}::float8 * interval '1 ms' LIMIT ${limit})
      UNION ALL
      (SELECT id FROM app_notices WHERE origin <> 'admin'
        AND created_at <= now() - ${keptMs}::float8 * interval '1 ms' LIMIT ${limit}))`;
  return count;
}

export async function forgetFeedback(
  sql: Queryable,
  keptMs: number,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    DELETE FROM app_feedback WHERE id IN (
      SELECT id FROM app_feedback
      WHERE created_at <= now() - ${keptMs}::float8 * interval '1 ms'
      ORDER BY created_at LIMIT ${limit})`;
  return count;
}

export async function forgetFeedbackEmails(
  sql: Queryable,
  keptMs: number,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    UPDATE app_feedback SET email = NULL, email_key_id = NULL WHERE id IN (
      SELECT id FROM app_feedback WHERE email IS NOT NULL
        AND created_at <= now() - ${keptMs}::float8 * interval '1 ms'
      ORDER BY created_at LIMIT ${limit})`;
  return count;
}

export async function forgetInstallations(
  sql: Queryable,
  keptMs: number,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    DELETE FROM app_installations WHERE id IN (
      SELECT id FROM app_installations
      WHERE last_at <= now() - ${keptMs}::float8 * interval '1 ms'
      ORDER BY last_at LIMIT ${limit})`;
  return count;
}

export async function forgetActivity(
  sql: Queryable,
  keptMs: number,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    DELETE FROM app_activity WHERE (day, subject) IN (
      SELECT day, subject FROM app_activity
      WHERE day < (now() - ${keptMs}::float8 * interval '1 ms')::date ORDER BY day LIMIT ${limit})`;
  return count;
}
