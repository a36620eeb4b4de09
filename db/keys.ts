// API keys. The token is nowhere: a key is found by the SHA-256 of it, shown by its prefix.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable, Transaction } from './driver/sql.ts';

export type KeyEnvironment = 'live' | 'test';

export interface ApiKey {
  id: string;
  accountId: string;
  walletId: string;
  label: string;
  environment: KeyEnvironment;
  scopes: string[];
  prefix: string;
  status: 'active' | 'revoked';
  requestsPerMinute: number;
  concurrencyMax: number;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export type NewApiKey = Omit<ApiKey, 'status' | 'createdAt' | 'lastUsedAt'> & {
  /** SHA-256 of the token. */
  tokenHash: Uint8Array;
};

type Row = {
  id: string;
  account_id: string;
  wallet_id: string;
  label: string;
  environment: KeyEnvironment;
  scopes: string[];
  prefix: string;
  status: 'active' | 'revoked';
  requests_per_minute: number;
  concurrency_max: number;
  created_at: Date;
  last_used_at: Date | null;
};

function readKey(row: Row): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    walletId: row.wallet_id,
    label: row.label,
    environment: row.environment,
    scopes: row.scopes,
    prefix: row.prefix,
    status: row.status,
    requestsPerMinute: row.requests_per_minute,
    concurrencyMax: row.concurrency_max,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}

/** The key of a token, revoked ones and those of disabled accounts too; null: there is none. */
export async function findKeyByHash(
  sql: Queryable,
  tokenHash: Uint8Array,
): Promise<(ApiKey & { accountDisabled: boolean }) | null> {
  const [row] = await sql<(Row & { account_disabled: boolean })[]>`
    SELECT k.*, a.disabled_at IS NOT NULL AS account_disabled
    FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.token_hash = ${tokenHash}`;
  return row === undefined ? null : { ...readKey(row), accountDisabled: row.account_disabled };
}

/** One key of an account, locked until the transaction ends; null: it has no such key. */
export async function lockKey(
  transaction: Transaction,
  accountId: string,
  keyId: string,
): Promise<ApiKey | null> {
  const [row] = await transaction<Row[]>`
    SELECT * FROM api_keys WHERE id = ${keyId} AND account_id = ${accountId} FOR UPDATE`;
  return row === undefined ? null : readKey(row);
}

export async function createKey(sql: Queryable, key: NewApiKey): Promise<ApiKey> {
  const [row] = await sql<Row[]>`
    INSERT INTO api_keys (id, account_id, wallet_id, label, environment, scopes, token_hash,
      prefix, requests_per_minute, concurrency_max)
    VALUES (${key.id}, ${key.accountId}, ${key.walletId}, ${key.label}, ${key.environment},
      ${arrayLiteral(key.scopes)}::text[], ${key.tokenHash}, ${key.prefix},
      ${key.requestsPerMinute}, ${key.concurrencyMax})
    RETURNING *`;
  if (row === undefined) throw new Error('an insert returned no row');
  return readKey(row);
}

/** The new key; null: the account has `activeMax` already. Exact, whoever else adds meanwhile. */
export async function createKeyWithin(
  transaction: Transaction,
  key: NewApiKey,
  activeMax: number,
): Promise<ApiKey | null> {
  await transaction`SELECT 1 FROM accounts WHERE id = ${key.accountId} FOR NO KEY UPDATE`;
  const active = await transaction`
    SELECT 1 FROM api_keys WHERE account_id = ${key.accountId} AND status = 'active'
    LIMIT ${activeMax}`;
  return active.length < activeMax ? createKey(transaction, key) : null;
}

/** Keys of an account, newest first, older than `cursor` (an id) when that is given. */
export async function listKeys(
  sql: Queryable,
  accountId: string,
  limit: number,
  cursor: string | null,
): Promise<{ keys: ApiKey[]; nextCursor: string | null }> {
  const rows = await sql<Row[]>`
    SELECT * FROM api_keys
    WHERE account_id = ${accountId} AND (${cursor}::text IS NULL OR id < ${cursor}::text)
    ORDER BY id DESC LIMIT ${limit + 1}`;
  const keys = rows.slice(0, limit).map(readKey);
  return { keys, nextCursor: rows.length > limit ? (keys.at(-1)?.id ?? null) : null };
}

/**
 * Makes a key of the account inactive; repeated, it stays so. Null: the account has no such key.
 */
export async function revokeKey(
  sql: Queryable,
  accountId: string,
  keyId: string,
): Promise<ApiKey | null> {
  const [row] = await sql<Row[]>`
    UPDATE api_keys SET status = 'revoked', revoked_at = coalesce(revoked_at, now())
    WHERE id = ${keyId} AND account_id = ${accountId} RETURNING *`;
  return row === undefined ? null : readKey(row);
}

/**
 * Notes when keys were last used; never moves a time back. All shards do it at about the same time,
 * for the same keys: they are locked in one order.
 */
export async function touchKeys(
  sql: Queryable,
  uses: readonly { keyId: string; usedAt: Date }[],
): Promise<void> {
  if (uses.length === 0) return;
  const ids = arrayLiteral(uses.map((use) => use.keyId));
  const times = arrayLiteral(uses.map((use) => use.usedAt.toISOString()));
  await sql`
    WITH used AS (
      SELECT id, max(used_at) AS used_at
      FROM unnest(${ids}::text[], ${times}::timestamptz[]) AS r (id, used_at) GROUP BY id),
    locked AS MATERIALIZED (
      SELECT u.* FROM used u JOIN api_keys k ON k.id = u.id ORDER BY k.id FOR NO KEY UPDATE OF k)
    UPDATE api_keys k SET last_used_at = u.used_at FROM locked u
    WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.used_at)`;
}
