// Single use of voice tickets: the first insert wins, whichever shard or process makes it.
import type { Queryable } from '../driver/sql.ts';
import {
  accountBarred,
  type ContextColumns,
  contextColumns,
  joinedContext,
  readContext,
  type StoredContext,
} from '../organizations/contexts.ts';

/** What a ticket's holder has at the moment of its use. */
export interface Redeemed {
  /** False: somebody was quicker. */
  isFirst: boolean;
  /** The account may still call, and what made the ticket is good. */
  isAllowed: boolean;
  /** Limits of the key or session that made it; those of a key by default for an app's. */
  requestsPerMinute: number;
  concurrencyMax: number;
  /** Models of the key; null: all. */
  allowedModels: string[] | null;
  /** The organization that the account acts in; null: none. */
  context: StoredContext | null;
  /** The wallet that pays for the key now; null: there is no key. */
  keyWalletId: string | null;
  /** The key has a spend limit. */
  hasKeyLimit: boolean;
}

/** Marks the ticket as used, and reads who has it. */
export async function redeemTicket(
  sql: Queryable,
  ticket: {
    id: string;
    accountId: string;
    keyId: string | null;
    signedInId: string | null;
    expiresAtMs: number;
  },
): Promise<Redeemed> {
  const { id, accountId, keyId, signedInId, expiresAtMs } = ticket;
  const [row] = await sql<(Omit<Redeemed, 'context'> & ContextColumns)[]>`
    WITH used AS (
      INSERT INTO voice_tickets (id, expires_at)
      VALUES (${id}, to_timestamp(${expiresAtMs}::float8 / 1000))
      ON CONFLICT (id) DO NOTHING RETURNING 1)
    SELECT (SELECT count(*) FROM used) = 1 AS "isFirst",
      NOT ${sql.unsafe(accountBarred)}
        AND (g.id IS NULL OR (g.status <> 'closed' AND coalesce(m.status, 'active') = 'active'))
        AND (${keyId}::text IS NULL OR (k.status = 'active' AND k.disabled_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > now()))) IS TRUE
        AND (${signedInId}::text IS NULL OR s.id IS NOT NULL OR o.id IS NOT NULL) AS "isAllowed",
      coalesce(k.requests_per_minute, s.requests_per_minute, 600) AS "requestsPerMinute",
      coalesce(k.concurrency_max, s.concurrency_max, 64) AS "concurrencyMax",
      k.allowed_models AS "allowedModels", k.wallet_id AS "keyWalletId",
      k.limit_micros IS NOT NULL AS "hasKeyLimit",
      ${sql.unsafe(contextColumns)}
    FROM accounts a ${sql.unsafe(joinedContext)} LEFT JOIN api_keys k ON k.id = ${keyId}::text
      LEFT JOIN sessions s ON s.id = ${signedInId}::text AND s.expires_at > now()
      LEFT JOIN oauth_authorizations o ON o.id = ${signedInId}::text
        AND o.revoked_at IS NULL AND o.expires_at > now()
    WHERE a.id = ${accountId}`;
  if (row === undefined) {
    const nobody = { isFirst: false, isAllowed: false, allowedModels: null };
    const nowhere = { context: null, keyWalletId: null, hasKeyLimit: false };
    return { ...nobody, ...nowhere, requestsPerMinute: 1, concurrencyMax: 1 };
  }
  const { isFirst, isAllowed, requestsPerMinute, concurrencyMax, allowedModels } = row;
  const { keyWalletId, hasKeyLimit } = row;
  const limits = { requestsPerMinute, concurrencyMax, allowedModels };
  const key = { keyWalletId, hasKeyLimit };
  return { isFirst, isAllowed, ...limits, ...key, context: readContext(row) };
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
