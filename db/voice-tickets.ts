// Single use of voice tickets: the first insert wins, whichever shard or process makes it.
import type { Queryable } from './driver/sql.ts';

/** What a ticket's holder has at the moment of its use. */
export interface Redeemed {
  /** False: somebody was quicker. */
  isFirst: boolean;
  /** The account may still call, and so may the key that made the ticket. */
  isAllowed: boolean;
  /** Limits of that key; null: a user made it. */
  requestsPerMinute: number | null;
  concurrencyMax: number | null;
}

/** Marks the ticket as used, and reads who has it. */
export async function redeemTicket(
  sql: Queryable,
  ticket: { id: string; accountId: string; keyId: string | null; expiresAtMs: number },
): Promise<Redeemed> {
  const { id, accountId, keyId, expiresAtMs } = ticket;
  const [row] = await sql<Redeemed[]>`
    WITH used AS (
      INSERT INTO voice_tickets (id, expires_at)
      VALUES (${id}, to_timestamp(${expiresAtMs}::float8 / 1000))
      ON CONFLICT (id) DO NOTHING RETURNING 1)
    SELECT (SELECT count(*) FROM used) = 1 AS "isFirst",
      a.disabled_at IS NULL AND (${keyId}::text IS NULL OR k.status = 'active') IS TRUE
        AS "isAllowed",
      k.requests_per_minute AS "requestsPerMinute", k.concurrency_max AS "concurrencyMax"
    FROM accounts a LEFT JOIN api_keys k ON k.id = ${keyId}::text
    WHERE a.id = ${accountId}`;
  const nobody = { isFirst: false, isAllowed: false };
  return row ?? { ...nobody, requestsPerMinute: null, concurrencyMax: null };
}

/** Undoes the use of a ticket whose holder was told to come again. */
export async function returnTicket(sql: Queryable, id: string): Promise<void> {
  await sql`DELETE FROM voice_tickets WHERE id = ${id}`;
}

/** Forgets used tickets that have expired, at most `limit`; returns how many. */
export async function sweepTickets(sql: Queryable, limit: number): Promise<number> {
  const result = await sql`
    DELETE FROM voice_tickets WHERE id IN (
      SELECT id FROM voice_tickets WHERE expires_at < now() - interval '1 minute'
      ORDER BY expires_at LIMIT ${limit})`;
  return result.count;
}
