// API keys. The token is nowhere: a key is found by the SHA-256 of it, shown by its prefix.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable, Transaction } from './driver/sql.ts';
import {
  accountBarred,
  type ContextColumns,
  contextColumns,
  joinedContext,
  readContext,
  type StoredContext,
} from './organizations/contexts.ts';
import type { SpendLimit } from './spend/limit.ts';
import { periodAt, type SpendPeriod } from './spend/period.ts';

export type KeyEnvironment = 'live' | 'test';

export type KeyStatus = 'active' | 'disabled' | 'expired' | 'revoked';

/** What a key spent of its limit, in the period of this moment. */
export interface KeySpent {
  spentMicros: bigint;
  heldMicros: bigint;
  resetsAtMs: number | null;
}

export interface ApiKey {
  id: string;
  accountId: string;
  walletId: string;
  label: string;
  environment: KeyEnvironment;
  scopes: string[];
  prefix: string;
  status: KeyStatus;
  requestsPerMinute: number;
  concurrencyMax: number;
  spendLimit: SpendLimit | null;
  /** Null without a limit. */
  spent: KeySpent | null;
  expiresAt: Date | null;
  disabledAt: Date | null;
  /** Null: all. */
  allowedModels: string[] | null;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** What the owner of a key may change of it, beside its limit. */
export interface KeyTerms {
  label: string;
  isDisabled: boolean;
  expiresAt: Date | null;
  allowedModels: readonly string[] | null;
  requestsPerMinute: number;
  concurrencyMax: number;
}

export interface NewApiKey extends Omit<KeyTerms, 'isDisabled' | 'expiresAt' | 'allowedModels'> {
  id: string;
  accountId: string;
  walletId: string;
  environment: KeyEnvironment;
  scopes: string[];
  prefix: string;
  /** SHA-256 of the token. */
  tokenHash: Uint8Array;
  /** What the app was let do that makes the key: it ends with that. Null or left out: no app. */
  authorizationId?: string | null;
  expiresAt?: Date | null;
  allowedModels?: readonly string[] | null;
}

type Row = {
  id: string;
  account_id: string;
  wallet_id: string;
  label: string;
  environment: KeyEnvironment;
  scopes: string[];
  prefix: string;
  standing: KeyStatus;
  requests_per_minute: number;
  concurrency_max: number;
  limit_micros: bigint | null;
  limit_period: SpendPeriod | null;
  period_starts_at: Date | null;
  spent_micros: bigint | null;
  held_micros: bigint | null;
  expires_at: Date | null;
  disabled_at: Date | null;
  allowed_models: string[] | null;
  created_at: Date;
  last_used_at: Date | null;
};

/** Columns of a key `k`, beside what is read from it. */
const keyColumns = `k.*, c.starts_at AS period_starts_at, s.spent_micros, s.held_micros,
  CASE WHEN k.status = 'revoked' THEN 'revoked' WHEN k.expires_at <= now() THEN 'expired'
    WHEN k.disabled_at IS NOT NULL THEN 'disabled' ELSE 'active' END AS standing`;
/** Behind the table where the key is `k`: its counter of this moment. */
const joinedCounter = `LEFT JOIN LATERAL (SELECT CASE WHEN k.limit_period = 'total'
    THEN to_timestamp(0) ELSE date_trunc(k.limit_period, now(), 'UTC') END AS starts_at) c ON true
  LEFT JOIN spend s ON s.wallet_id = k.wallet_id AND s.spender = k.id
    AND s.period = k.limit_period AND s.starts_at = c.starts_at`;

function readKey(row: Row): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    walletId: row.wallet_id,
    label: row.label,
    environment: row.environment,
    scopes: row.scopes,
    prefix: row.prefix,
    status: row.standing,
    requestsPerMinute: row.requests_per_minute,
    concurrencyMax: row.concurrency_max,
    ...readSpending(row),
    expiresAt: row.expires_at,
    disabledAt: row.disabled_at,
    allowedModels: row.allowed_models,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}

function readSpending(row: Row): Pick<ApiKey, 'spendLimit' | 'spent'> {
  const { limit_micros: amountMicros, limit_period: period, period_starts_at: startsAt } = row;
  if (amountMicros === null || period === null || startsAt === null) {
    return { spendLimit: null, spent: null };
  }
  const spent = {
    spentMicros: row.spent_micros ?? 0n,
    heldMicros: row.held_micros ?? 0n,
    resetsAtMs: periodAt(period, startsAt.getTime()).endsMs,
  };
  return { spendLimit: { amountMicros, period }, spent };
}

/** A key that was found by a token, and the end of that token if another has replaced it. */
export interface FoundKey extends ApiKey {
  /** Its account, or the person of that membership, is. */
  accountDisabled: boolean;
  tokenUntil: Date | null;
  /** The organization that it acts in; null: none. */
  context: StoredContext | null;
}

type FoundRow = Row & ContextColumns & { account_disabled: boolean; token_until: Date | null };

/** The key of a token, whatever its status and that of its account; null: there is none. */
export async function findKeyByHash(
  sql: Queryable,
  tokenHash: Uint8Array,
): Promise<FoundKey | null> {
  const [row] = await sql<FoundRow[]>`
    SELECT ${sql.unsafe(keyColumns)}, ${sql.unsafe(contextColumns)},
      ${sql.unsafe(accountBarred)} AS account_disabled,
      CASE WHEN k.token_hash <> ${tokenHash} THEN k.former_until END AS token_until
    FROM api_keys k JOIN accounts a ON a.id = k.account_id ${sql.unsafe(joinedContext)}
      ${sql.unsafe(joinedCounter)}
    WHERE k.token_hash = ${tokenHash}
      OR (k.former_token_hash = ${tokenHash} AND k.former_until > now())`;
  if (row === undefined) return null;
  const { account_disabled: accountDisabled, token_until: tokenUntil } = row;
  return { ...readKey(row), accountDisabled, tokenUntil, context: readContext(row) };
}

/** One key of an account; null: it has no such key. */
export async function findKey(
  sql: Queryable,
  accountId: string,
  keyId: string,
): Promise<ApiKey | null> {
  const [row] = await sql<Row[]>`
    SELECT ${sql.unsafe(keyColumns)} FROM api_keys k ${sql.unsafe(joinedCounter)}
    WHERE k.id = ${keyId} AND k.account_id = ${accountId}`;
  return row === undefined ? null : readKey(row);
}

/** The same, locked until the transaction ends. */
export async function lockKey(
  transaction: Transaction,
  accountId: string,
  keyId: string,
): Promise<ApiKey | null> {
  await transaction`
    SELECT 1 FROM api_keys WHERE id = ${keyId} AND account_id = ${accountId} FOR UPDATE`;
  return findKey(transaction, accountId, keyId);
}

export async function createKey(sql: Queryable, key: NewApiKey): Promise<ApiKey> {
  const { allowedModels = null } = key;
  const [row] = await sql<Row[]>`
    WITH made AS (
      INSERT INTO api_keys (id, account_id, wallet_id, label, environment, scopes, token_hash,
        prefix, requests_per_minute, concurrency_max, authorization_id, expires_at, allowed_models)
      VALUES (${key.id}, ${key.accountId}, ${key.walletId}, ${key.label}, ${key.environment},
        ${arrayLiteral(key.scopes)}::text[], ${key.tokenHash}, ${key.prefix},
        ${key.requestsPerMinute}, ${key.concurrencyMax},
        ${key.authorizationId ?? null}, ${key.expiresAt ?? null},
        ${allowedModels && arrayLiteral(allowedModels)}::text[])
      RETURNING *)
    SELECT ${sql.unsafe(keyColumns)} FROM made k ${sql.unsafe(joinedCounter)}`;
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

/** Changes the terms of a key that is locked. */
export async function updateKey(
  transaction: Transaction,
  keyId: string,
  terms: KeyTerms,
): Promise<void> {
  const { allowedModels } = terms;
  await transaction`
    UPDATE api_keys SET label = ${terms.label},
      disabled_at = CASE WHEN ${terms.isDisabled} THEN coalesce(disabled_at, now()) END,
      expires_at = ${terms.expiresAt},
      allowed_models = ${allowedModels && arrayLiteral(allowedModels)}::text[],
      requests_per_minute = ${terms.requestsPerMinute}, concurrency_max = ${terms.concurrencyMax}
    WHERE id = ${keyId}`;
}

/** Gives a key that is locked another token; the former one lives as long as is said. */
export async function rotateKey(
  transaction: Transaction,
  keyId: string,
  { tokenHash, prefix }: Pick<NewApiKey, 'tokenHash' | 'prefix'>,
  graceSeconds: number,
): Promise<void> {
  const lives = graceSeconds > 0;
  await transaction`
    UPDATE api_keys SET token_hash = ${tokenHash}, prefix = ${prefix},
      former_token_hash = CASE WHEN ${lives} THEN token_hash END,
      former_until = CASE WHEN ${lives} THEN now() + make_interval(secs => ${graceSeconds}) END
    WHERE id = ${keyId}`;
}

/** Keys of an account, newest first, older than `cursor` (an id) when that is given. */
export async function listKeys(
  sql: Queryable,
  accountId: string,
  limit: number,
  cursor: string | null,
): Promise<{ keys: ApiKey[]; nextCursor: string | null }> {
  const rows = await sql<Row[]>`
    SELECT ${sql.unsafe(keyColumns)} FROM api_keys k ${sql.unsafe(joinedCounter)}
    WHERE k.account_id = ${accountId} AND (${cursor}::text IS NULL OR k.id < ${cursor}::text)
    ORDER BY k.id DESC LIMIT ${limit + 1}`;
  const keys = rows.slice(0, limit).map(readKey);
  return { keys, nextCursor: rows.length > limit ? (keys.at(-1)?.id ?? null) : null };
}

/** Active keys that the person had these clients make, in whichever context, newest first. */
export async function listKeysOfClients(
  sql: Queryable,
  accountId: string,
  clients: readonly string[],
): Promise<{ client: string; key: ApiKey }[]> {
  const rows = await sql<(Row & { client: string })[]>`
    SELECT ${sql.unsafe(keyColumns)}, o.client
    FROM api_keys k JOIN oauth_authorizations o ON o.id = k.authorization_id
      ${sql.unsafe(joinedCounter)}
    WHERE o.account_id = ${accountId} AND k.status = 'active'
      AND k.authorization_id IS NOT NULL
      AND o.client = ANY (${arrayLiteral(clients)}::text[])
    ORDER BY k.id DESC`;
  return rows.map((row) => ({ client: row.client, key: readKey(row) }));
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
    WITH revoked AS (
      UPDATE api_keys SET status = 'revoked', revoked_at = coalesce(revoked_at, now())
      WHERE id = ${keyId} AND account_id = ${accountId} RETURNING *)
    SELECT ${sql.unsafe(keyColumns)} FROM revoked k ${sql.unsafe(joinedCounter)}`;
  return row === undefined ? null : readKey(row);
}

/** Makes all keys of the account inactive; returns the ids of those that were not. */
export async function revokeAllKeys(sql: Queryable, accountId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    UPDATE api_keys SET status = 'revoked', revoked_at = now()
    WHERE account_id = ${accountId} AND status = 'active' RETURNING id`;
  return rows.map(({ id }) => id);
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
