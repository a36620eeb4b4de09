// What is left of codes, devices, tokens and authorizations when nobody can ask for it any more.
// Each function removes one page, and says how many rows that were.
import type { Queryable } from '../driver/sql.ts';

export async function sweepCodes(
  sql: Queryable,
  keptSeconds: number,
  limit: number,
): Promise<number> {
  const result = await sql`
    DELETE FROM oauth_codes WHERE code_hash IN (
      SELECT code_hash FROM oauth_codes
      WHERE expires_at <= now() - make_interval(secs => ${keptSeconds})
      ORDER BY expires_at LIMIT ${limit})`;
  return result.count;
}

export async function sweepDevices(
  sql: Queryable,
  keptSeconds: number,
  limit: number,
): Promise<number> {
  const result = await sql`
    DELETE FROM oauth_devices WHERE id IN (
      SELECT id FROM oauth_devices
      WHERE expires_at <= now() - make_interval(secs => ${keptSeconds})
      ORDER BY expires_at LIMIT ${limit})`;
  return result.count;
}

export async function sweepTokens(
  sql: Queryable,
  keptSeconds: number,
  limit: number,
): Promise<number> {
  const result = await sql`
    DELETE FROM oauth_tokens WHERE token_hash IN (
      SELECT token_hash FROM oauth_tokens
      WHERE expires_at <= now() - make_interval(secs => ${keptSeconds})
      ORDER BY expires_at LIMIT ${limit})`;
  return result.count;
}

/**
 * Authorizations that are over, with what is left of their tokens. One stays while a key that was
 * made through it is good: a person ends both with one click.
 */
export async function sweepAuthorizations(
  sql: Queryable,
  keptSeconds: number,
  limit: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    WITH over AS MATERIALIZED (
      SELECT o.id FROM oauth_authorizations o
      WHERE least(o.revoked_at, o.expires_at) <= now() - make_interval(secs => ${keptSeconds})
        AND NOT EXISTS (SELECT 1 FROM api_keys k
          WHERE k.authorization_id = o.id AND k.status = 'active')
      LIMIT ${limit} FOR UPDATE OF o SKIP LOCKED),
    tokens AS (DELETE FROM oauth_tokens t USING over WHERE t.authorization_id = over.id),
    gone AS (DELETE FROM oauth_authorizations o USING over WHERE o.id = over.id RETURNING 1)
    SELECT count(*)::integer AS count FROM gone`;
  return row?.count ?? 0;
}
