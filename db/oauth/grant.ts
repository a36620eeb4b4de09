// What an approval that is used up leaves: an authorization, its first tokens, and the event that
// tells of it. They are parts of the statement that uses the approval up, so a crash leaves all of
// it or nothing.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable } from '../driver/sql.ts';

/** Tokens that an app is given together. Their texts are the app's alone. */
export interface NewPair {
  accessHash: Uint8Array;
  /** Null: the app may not refresh. */
  refreshHash: Uint8Array | null;
}

export interface TokenLives {
  accessSeconds: number;
  refreshIdleSeconds: number;
  /** From the approval on. */
  authorizationSeconds: number;
}

export interface NewGrant {
  /** `auth_…` */
  authorizationId: string;
  auditId: string;
  pair: NewPair;
  /** What the client may have at this moment: tokens have no more. */
  allowed: readonly string[];
  lives: TokenLives;
}

/** What the app is told. */
export interface Granted {
  authorizationId: string;
  accountId: string;
  /** What the access token may do. */
  scopes: string[];
  expiresInSeconds: number;
  hasRefresh: boolean;
}

export type GrantedRow = {
  id: string;
  account_id: string;
  scopes: string[];
  seconds: number;
  offline: boolean;
};

export function readGranted(row: GrantedRow | undefined): Granted | null {
  if (row === undefined) return null;
  return {
    authorizationId: row.id,
    accountId: row.account_id,
    scopes: row.scopes,
    expiresInSeconds: row.seconds,
    hasRefresh: row.offline,
  };
}

/** What was approved, as far as it is allowed now, in its order. */
export function approvedWithin(sql: Queryable, allowed: readonly string[]) {
  return sql`ARRAY(
    SELECT s FROM unnest(approved) WITH ORDINALITY AS u (s, n)
    WHERE s = ANY (${arrayLiteral(allowed)}::text[]) ORDER BY n)`;
}

/**
 * They follow a part `spent`, which has one row with an id where the approval was good. The
 * statement ends by selecting from `pair`.
 */
export function grantParts(sql: Queryable, grant: NewGrant, source: string) {
  const { auditId, pair, allowed, lives } = grant;
  const mayRefresh = pair.refreshHash !== null;
  return sql`
    made AS (
      INSERT INTO oauth_authorizations
        (id, account_id, client, scopes, method, authenticated_at, approved_at, expires_at)
      SELECT id, account_id, client, scopes, method, authenticated_at, approved_at,
        CASE WHEN ${mayRefresh}::boolean AND 'offline_access' = ANY (scopes)
          THEN approved_at + make_interval(secs => ${lives.authorizationSeconds})
          ELSE now() + make_interval(secs => ${lives.accessSeconds}) END
      FROM spent WHERE id IS NOT NULL
      RETURNING id, account_id, client, scopes AS approved, expires_at),
    pair AS (
      SELECT id, account_id, ${approvedWithin(sql, allowed)} AS scopes, expires_at,
        least(now() + make_interval(secs => ${lives.accessSeconds}), expires_at) AS access_until,
        ${mayRefresh}::boolean AND 'offline_access' = ANY (approved) AS offline
      FROM made),
    access AS (
      INSERT INTO oauth_tokens (token_hash, authorization_id, kind, scopes, expires_at)
      SELECT ${pair.accessHash}::bytea, id, 'access', scopes, access_until FROM pair),
    refresh AS (
      INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at)
      SELECT ${pair.refreshHash}::bytea, id, 'refresh',
        least(now() + make_interval(secs => ${lives.refreshIdleSeconds}), expires_at)
      FROM pair WHERE offline),
    told AS (
      INSERT INTO audit_events (id, account_id, actor, action, subject, details)
      SELECT ${auditId}, account_id, account_id, 'authorization.create', 'authorization:' || id,
        jsonb_build_object('client', client, 'scopes', approved, 'grant', ${source}::text)
      FROM made)`;
}

/** What the statement of a grant selects in the end. */
export function grantedColumns(sql: Queryable) {
  return sql`id, account_id, scopes, offline,
    ceil(extract(epoch FROM access_until - now()))::integer AS seconds`;
}
