// Networks and browsers from which an account was signed in to. A place is an HMAC: nobody finds a
// person's network here.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable } from '../driver/sql.ts';

/** Which of the places are known to the account. */
export async function findKnownPlaces(
  sql: Queryable,
  accountId: string,
  places: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ place: string }[]>`
    SELECT place FROM known_places
    WHERE account_id = ${accountId} AND place = ANY(${arrayLiteral(places)}::text[])
      AND last_at > now() - interval '180 days'`;
  return new Set(rows.map(({ place }) => place));
}

/** The account was signed in to from these; it keeps its newest `max`. */
export async function rememberPlaces(
  sql: Queryable,
  accountId: string,
  places: readonly string[],
  max: number,
): Promise<void> {
  await sql`
    INSERT INTO known_places (account_id, place)
    SELECT ${accountId}, p FROM unnest(${arrayLiteral([...places].sort())}::text[]) AS u (p)
    ON CONFLICT (account_id, place) DO UPDATE SET last_at = now()`;
  await sql`
    DELETE FROM known_places WHERE account_id = ${accountId} AND place IN (
      SELECT place FROM known_places WHERE account_id = ${accountId}
      ORDER BY last_at DESC, place OFFSET ${max} FOR UPDATE SKIP LOCKED)`;
}

/** Forgets places of over 180 days ago, at most `limit`; returns how many. */
export async function sweepKnownPlaces(sql: Queryable, limit: number): Promise<number> {
  const result = await sql`
    DELETE FROM known_places WHERE (account_id, place) IN (
      SELECT account_id, place FROM known_places
      WHERE last_at < now() - interval '180 days' ORDER BY last_at LIMIT ${limit})`;
  return result.count;
}
