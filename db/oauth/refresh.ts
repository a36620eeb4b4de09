// Refresh tokens: each is used once, and the row decides who was first. What came of it is kept
// sealed in the row, so that an app whose reply was lost gets the same again.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable } from '../driver/sql.ts';
import {
  approvedWithin,
  type Granted,
  type GrantedRow,
  grantedColumns,
  type NewPair,
  readGranted,
  type TokenLives,
} from './grant.ts';

export interface Rotation {
  tokenHash: Uint8Array;
  client: string;
  /** What the client may have at this moment: tokens have no more. */
  allowed: readonly string[];
  /** What the app asks for; null: all that it may. */
  wanted: readonly string[] | null;
  pair: NewPair & { refreshHash: Uint8Array };
  sealedPair: Uint8Array;
  lives: TokenLives;
  /** One authorization may have so many. */
  refreshesPerMinute: number;
}

/**
 * Uses a refresh token up for a new pair. Null: it is not good for one now; `readRefresh` says why.
 */
export async function rotateRefresh(sql: Queryable, rotation: Rotation): Promise<Granted | null> {
  const { tokenHash, client, allowed, pair, sealedPair, lives, refreshesPerMinute } = rotation;
  const { wanted } = rotation;
  const within = wanted === null ? allowed : allowed.filter((scope) => wanted.includes(scope));
  const wantedList = wanted === null ? null : arrayLiteral(wanted);
  const [row] = await sql<GrantedRow[]>`
    WITH rotated AS (
      UPDATE oauth_tokens t SET rotated_at = now(), successor_hash = ${pair.refreshHash},
        sealed_pair = ${sealedPair}
      FROM oauth_authorizations o JOIN accounts a ON a.id = o.account_id
      WHERE t.token_hash = ${tokenHash} AND t.kind = 'refresh' AND t.rotated_at IS NULL
        AND t.expires_at > now() AND o.id = t.authorization_id AND o.client = ${client}
        AND o.revoked_at IS NULL AND o.expires_at > now()
        AND a.disabled_at IS NULL AND a.deleting_at IS NULL
        AND coalesce(${wantedList}::text[] <@ o.scopes, true)
        AND o.scopes && ${arrayLiteral(within)}::text[]
        AND (${recentTokens(sql, refreshesPerMinute)}) < ${2 * refreshesPerMinute}::integer
      RETURNING o.id, o.account_id, o.scopes AS approved, o.expires_at),
    pair AS (
      SELECT id, account_id, ${approvedWithin(sql, within)} AS scopes, expires_at,
        least(now() + make_interval(secs => ${lives.accessSeconds}), expires_at) AS access_until,
        true AS offline
      FROM rotated),
    access AS (
      INSERT INTO oauth_tokens (token_hash, authorization_id, kind, scopes, expires_at)
      SELECT ${pair.accessHash}::bytea, id, 'access', scopes, access_until FROM pair),
    refresh AS (
      INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at)
      SELECT ${pair.refreshHash}::bytea, id, 'refresh',
        least(now() + make_interval(secs => ${lives.refreshIdleSeconds}), expires_at) FROM pair)
    SELECT ${grantedColumns(sql)} FROM pair`;
  return readGranted(row);
}

/** How many tokens the authorization of `t` got in the last minute, as far as it matters. */
function recentTokens(sql: Queryable, refreshesPerMinute: number) {
  return sql`
    SELECT count(*) FROM (
      SELECT 1 FROM oauth_tokens r WHERE r.authorization_id = t.authorization_id
        AND r.created_at > now() - interval '1 minute' LIMIT ${2 * refreshesPerMinute}) recent`;
}

/** A refresh token as it stands. */
export interface StoredRefresh {
  authorizationId: string;
  accountId: string;
  client: string;
  /** What the authorization has. */
  scopes: string[];
  /** The authorization and its account are good. */
  isAuthorized: boolean;
  isExpired: boolean;
  /** The authorization got as many tokens in the last minute as it may. */
  isCrowded: boolean;
  /** Null: it was not used yet. */
  rotation: {
    agoMs: number;
    /** What it was used for was used in its turn. */
    isSuccessorUsed: boolean;
    sealedPair: Uint8Array | null;
    /** What the access token of that pair may do. */
    scopes: string[];
    expiresInSeconds: number;
  } | null;
}

type Row = {
  authorization_id: string;
  account_id: string;
  client: string;
  scopes: string[];
  authorized: boolean;
  expired: boolean;
  crowded: boolean;
  rotated_ago_ms: number | null;
  successor_used: boolean;
  sealed_pair: Buffer | null;
  pair_scopes: string[] | null;
  pair_seconds: number | null;
};

/** The refresh token of a hash; null: there is none. */
export async function readRefresh(
  sql: Queryable,
  tokenHash: Uint8Array,
  refreshesPerMinute: number,
): Promise<StoredRefresh | null> {
  const [row] = await sql<Row[]>`
    SELECT t.authorization_id, o.account_id, o.client, o.scopes,
      o.revoked_at IS NULL AND o.expires_at > now()
        AND a.disabled_at IS NULL AND a.deleting_at IS NULL AS authorized,
      t.expires_at <= now() AS expired,
      (${recentTokens(sql, refreshesPerMinute)}) >= ${2 * refreshesPerMinute}::integer AS crowded,
      (extract(epoch FROM clock_timestamp() - t.rotated_at) * 1000)::float8 AS rotated_ago_ms,
      n.rotated_at IS NOT NULL AS successor_used, t.sealed_pair, p.scopes AS pair_scopes,
      ceil(extract(epoch FROM p.expires_at - p.created_at))::integer AS pair_seconds
    FROM oauth_tokens t JOIN oauth_authorizations o ON o.id = t.authorization_id
      JOIN accounts a ON a.id = o.account_id
      LEFT JOIN oauth_tokens n ON n.token_hash = t.successor_hash
      LEFT JOIN oauth_tokens p ON p.authorization_id = t.authorization_id
        AND p.created_at = t.rotated_at AND p.kind = 'access'
    WHERE t.token_hash = ${tokenHash} AND t.kind = 'refresh'`;
  return row === undefined ? null : readRow(row);
}

function readRow(row: Row): StoredRefresh {
  const { rotated_ago_ms: agoMs } = row;
  return {
    authorizationId: row.authorization_id,
    accountId: row.account_id,
    client: row.client,
    scopes: row.scopes,
    isAuthorized: row.authorized,
    isExpired: row.expired,
    isCrowded: row.crowded,
    rotation:
      agoMs === null
        ? null
        : {
            agoMs,
            isSuccessorUsed: row.successor_used,
            sealedPair: row.sealed_pair,
            scopes: row.pair_scopes ?? row.scopes,
            expiresInSeconds: row.pair_seconds ?? 0,
          },
  };
}
