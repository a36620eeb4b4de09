// What people let apps do: one authorization an approval, and its access tokens, found by their
// SHA-256. The OAuth routes make and rotate tokens.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable, Transaction } from './driver/sql.ts';
import { voidApprovals } from './oauth.ts';
import type { SignInMethod } from './sessions.ts';

/** An access token that is good, with the authorization and the account behind it. */
export interface AccessToken {
  /** `auth_…` */
  authorizationId: string;
  accountId: string;
  /** The account's personal wallet. */
  walletId: string;
  client: string;
  scopes: string[];
  method: SignInMethod;
  authenticatedAt: Date;
  approvedAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  /** The account is disabled, being deleted or erased. */
  disabled: boolean;
  unverified: boolean;
  /** The organization of requests that name none; null: it acts as the person. */
  defaultOrganizationId: number | null;
}

type Row = {
  id: string;
  account_id: string;
  wallet_id: string;
  client: string;
  scopes: string[];
  method: SignInMethod;
  authenticated_at: Date;
  approved_at: Date;
  last_used_at: Date;
  expires_at: Date;
  disabled: boolean;
  unverified: boolean;
  default_organization_id: number | null;
};

/** The access token of a hash; null: unknown, expired, revoked, or its authorization is over. */
export async function findAccessToken(
  sql: Queryable,
  tokenHash: Uint8Array,
): Promise<AccessToken | null> {
  const [row] = await sql<Row[]>`
    SELECT o.id, o.account_id, w.id AS wallet_id, o.client,
      coalesce(t.scopes, o.scopes) AS scopes, o.method,
      o.authenticated_at, o.approved_at, o.last_used_at, least(t.expires_at, o.expires_at)
        AS expires_at,
      (a.disabled_at IS NOT NULL OR a.deleting_at IS NOT NULL) AS disabled,
      (a.email IS NOT NULL AND NOT a.email_owned) AS unverified, a.default_organization_id
    FROM oauth_tokens t JOIN oauth_authorizations o ON o.id = t.authorization_id
    JOIN accounts a ON a.id = o.account_id
    JOIN LATERAL (
      SELECT id FROM wallets WHERE account_id = a.id AND type = 'personal'
      ORDER BY created_at, id LIMIT 1) w ON true
    WHERE t.token_hash = ${tokenHash} AND t.kind = 'access' AND t.revoked_at IS NULL
      AND t.expires_at > now() AND o.revoked_at IS NULL AND o.expires_at > now()`;
  if (row === undefined) return null;
  return {
    authorizationId: row.id,
    accountId: row.account_id,
    walletId: row.wallet_id,
    client: row.client,
    scopes: row.scopes,
    method: row.method,
    authenticatedAt: row.authenticated_at,
    approvedAt: row.approved_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    disabled: row.disabled,
    unverified: row.unverified,
    defaultOrganizationId: row.default_organization_id,
  };
}

/** Ends one access token; what the app was let do goes on. False: it had ended. */
export async function revokeAccessToken(sql: Queryable, tokenHash: Uint8Array): Promise<boolean> {
  const rows = await sql`
    UPDATE oauth_tokens SET revoked_at = now()
    WHERE token_hash = ${tokenHash} AND kind = 'access' AND revoked_at IS NULL RETURNING 1`;
  return rows.length > 0;
}

/** Notes when authorizations were last used; never moves a time back. */
export async function touchAuthorizations(
  sql: Queryable,
  uses: readonly { id: string; usedAt: Date }[],
): Promise<void> {
  if (uses.length === 0) return;
  const ids = JSON.stringify(uses.map(({ id, usedAt }) => ({ id, used_at: usedAt })));
  await sql`
    WITH used AS (
      SELECT id, max(used_at) AS used_at
      FROM jsonb_to_recordset(${ids}::text::jsonb) AS r (id text, used_at timestamptz)
      GROUP BY id),
    locked AS MATERIALIZED (
      SELECT u.* FROM used u JOIN oauth_authorizations o ON o.id = u.id
      ORDER BY o.id FOR NO KEY UPDATE OF o)
    UPDATE oauth_authorizations o SET last_used_at = u.used_at FROM locked u
    WHERE o.id = u.id AND o.last_used_at < u.used_at`;
}

export type RevocationReason = 'user' | 'client' | 'reuse' | 'code_replay' | 'account' | 'admin';

/** Which authorizations end: one, those of an app and account, or all of either. */
export type EndedAuthorizations =
  | { id: string }
  | { accountId: string; client: string }
  | { accountId: string }
  | { client: string };

/**
 * Ends authorizations, all their tokens, and the keys that were made through them. An account or
 * app whose authorizations end has to be asked anew. It has several statements, for a transaction.
 * Returns the ids of all that ended, to be told to the shards; repeated, there are none.
 */
export async function endAuthorizations(
  sql: Queryable,
  which: EndedAuthorizations,
  reason: RevocationReason,
): Promise<string[]> {
  const id = 'id' in which ? which.id : null;
  const accountId = 'accountId' in which ? which.accountId : null;
  const client = 'client' in which ? which.client : null;
  // A statement of its own, before: the next one sees what was fetched meanwhile.
  if (id === null) await voidApprovals(sql, accountId, client);
  const ended = await sql<{ id: string }[]>`
    UPDATE oauth_authorizations SET revoked_at = now(), revoked_reason = ${reason}
    WHERE revoked_at IS NULL AND (${id}::text IS NULL OR id = ${id}::text)
      AND (${accountId}::text IS NULL OR account_id = ${accountId}::text)
      AND (${client}::text IS NULL OR client = ${client}::text)
    RETURNING id`;
  const ids = ended.map((row) => row.id);
  if (ids.length === 0) return ids;
  // As well: whoever was making a key has made it, or sees that it may not.
  const keys = await sql<{ id: string }[]>`
    UPDATE api_keys SET status = 'revoked', revoked_at = now()
    WHERE status = 'active' AND authorization_id = ANY (${arrayLiteral(ids)}::text[])
    RETURNING id`;
  return [...ids, ...keys.map((row) => row.id)];
}

/** Keeps an authorization from ending before the transaction does; false: it has ended. */
export async function holdAuthorization(transaction: Transaction, id: string): Promise<boolean> {
  const rows = await transaction`
    SELECT 1 FROM oauth_authorizations WHERE id = ${id} AND revoked_at IS NULL FOR SHARE`;
  return rows.length > 0;
}

/** An app that a person lets act for it: all its authorizations together. */
export interface AuthorizedClient {
  client: string;
  scopes: string[];
  firstUsedAt: Date;
  lastUsedAt: Date;
}

type ClientRow = {
  client: string;
  newest_id: string;
  scopes: string[];
  first_used_at: Date;
  last_used_at: Date;
};

/**
 * Apps that can still do something: they have a token that is good, or made a key that is. The one
 * that was approved last comes first; `cursor` is the newest authorization of the last one.
 */
export async function listAuthorizedClients(
  sql: Queryable,
  accountId: string,
  limit: number,
  cursor: string | null,
): Promise<{ clients: AuthorizedClient[]; nextCursor: string | null }> {
  const rows = await sql<ClientRow[]>`
    WITH live AS (
      SELECT o.* FROM oauth_authorizations o
      WHERE o.account_id = ${accountId} AND o.revoked_at IS NULL AND (
        (o.expires_at > now() AND EXISTS (
          SELECT FROM oauth_tokens t WHERE t.authorization_id = o.id
            AND t.revoked_at IS NULL AND t.rotated_at IS NULL AND t.expires_at > now()))
        OR EXISTS (
          SELECT FROM api_keys k WHERE k.authorization_id = o.id AND k.status = 'active'))),
    clients AS (
      SELECT client, max(id) AS newest_id, min(approved_at) AS first_used_at,
        max(last_used_at) AS last_used_at
      FROM live GROUP BY client
      HAVING ${cursor}::text IS NULL OR max(id) < ${cursor}::text
      ORDER BY max(id) DESC LIMIT ${limit + 1})
    SELECT c.*, ARRAY(
      SELECT DISTINCT s.scope FROM live l, unnest(l.scopes) AS s (scope)
      WHERE l.client = c.client ORDER BY s.scope) AS scopes
    FROM clients c ORDER BY c.newest_id DESC`;
  const shown = rows.slice(0, limit);
  const clients = shown.map((row) => ({
    client: row.client,
    scopes: row.scopes,
    firstUsedAt: row.first_used_at,
    lastUsedAt: row.last_used_at,
  }));
  return { clients, nextCursor: rows.length > limit ? (shown.at(-1)?.newest_id ?? null) : null };
}

/** Whether the app was ever let act for the account, as far as rows tell. */
export async function knowsClient(
  sql: Queryable,
  accountId: string,
  client: string,
): Promise<boolean> {
  const rows = await sql`
    SELECT FROM oauth_authorizations
    WHERE account_id = ${accountId} AND client = ${client} LIMIT 1`;
  return rows.length > 0;
}
