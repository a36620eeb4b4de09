// What a key may spend is set, changed or taken away. That gives the wallet a new version: what was
// decided on the old one is void, and is decided anew.
import { randomBytes } from 'node:crypto';
import { timeOfId } from '../../runtime/ids.ts';
import type { Queryable, Transaction } from '../driver/sql.ts';
import { holderRows } from '../ledger/holders.ts';
import { holdMillisText, holdsOfKeys } from './holds.ts';
import { periodAt, type SpendPeriod } from './period.ts';

export interface SpendLimit {
  amountMicros: bigint;
  period: SpendPeriod;
}

/** The key whose limit is set, as its row is locked. */
export interface LimitedKey {
  id: string;
  accountId: string;
  walletId: string;
  spendLimit: SpendLimit | null;
}

/** Nothing that was decided on the wallet's old version can be written any more. */
async function fence(transaction: Transaction, walletId: string): Promise<void> {
  const version = randomBytes(8).readBigInt64LE().toString();
  await transaction`
    UPDATE wallets SET version = ${version}::bigint, counts = true WHERE id = ${walletId}`;
}

/**
 * Sets, changes or takes away what a key may spend. A new period begins with what the key settled
 * in it before, and with what it holds. `isNew`: it cannot have either.
 */
export async function setSpendLimit(
  transaction: Transaction,
  { id, accountId, walletId, spendLimit: before }: LimitedKey,
  limit: SpendLimit | null,
  nowMs: number,
): Promise<void> {
  await fence(transaction, walletId);
  await transaction`
    UPDATE api_keys SET limit_micros = ${limit?.amountMicros.toString() ?? null}::bigint,
      limit_period = ${limit?.period ?? null} WHERE id = ${id}`;
  if (limit?.period === before?.period) return;
  await transaction`DELETE FROM spend WHERE wallet_id = ${walletId} AND spender = ${id}`;
  if (limit === null) return;
  await beginCounting(transaction, { id, accountId, walletId }, limit.period, nowMs);
}

/** A request's id may be an hour older than its hold, and clocks differ by a minute. */
const olderMs = 3_600_000;
const newerMs = 60_000;

async function beginCounting(
  transaction: Transaction,
  key: Omit<LimitedKey, 'spendLimit'>,
  period: SpendPeriod,
  nowMs: number,
): Promise<void> {
  const held = await listHeld(transaction, key);
  const moments = [nowMs - olderMs, nowMs, nowMs + newerMs];
  const times = [...moments, ...held.map(({ holdId }) => timeOfId(holdId))];
  const bounds = new Map(
    times.map((time) => periodAt(period, time)).map((each) => [each.startsMs, each]),
  );
  for (const { startsMs, endsMs } of bounds.values()) {
    const spentMicros = await sumSettled(transaction, key, startsMs, endsMs);
    const heldMicros = held
      .filter(({ holdId }) => periodAt(period, timeOfId(holdId)).startsMs === startsMs)
      .reduce((sum, { amountMicros }) => sum + amountMicros, 0n);
    await transaction`
      INSERT INTO spend (wallet_id, spender, period, starts_at, ends_at, spent_micros, held_micros)
      VALUES (${key.walletId}, ${key.id}, ${period}, to_timestamp(${startsMs}::float8 / 1000),
        coalesce(to_timestamp(${endsMs}::float8 / 1000), 'infinity'),
        ${spentMicros.toString()}::bigint, ${heldMicros.toString()}::bigint)`;
  }
}

/** Active holds of a key's requests, sessions and jobs. */
async function listHeld(
  sql: Queryable,
  { id, walletId }: Pick<LimitedKey, 'id' | 'walletId'>,
): Promise<{ holdId: string; amountMicros: bigint }[]> {
  const rows = await sql.unsafe<{ id: string; amount_micros: bigint }[]>(
    holdsOfKeys(holderRows, 'h.wallet_id = $1 AND o.api_key_id = $2'),
    [walletId, id],
  );
  return rows.map((row) => ({ holdId: row.id, amountMicros: row.amount_micros }));
}

/** What a key paid for what began within these bounds: its charges but what nothing covered. */
async function sumSettled(
  sql: Queryable,
  { id, accountId, walletId }: Omit<LimitedKey, 'spendLimit'>,
  startsMs: number,
  endsMs: number | null,
): Promise<bigint> {
  // Ids of owners are about as old as those of their holds: the index need not be read whole.
  const from = Math.max(0, startsMs - olderMs)
    .toString(16)
    .padStart(12, '0');
  const owners = holderRows.map(
    ({ table, idPrefix }) => `SELECT o.hold_id, o.charge_micros FROM ${table} o
      WHERE o.account_id = $1 AND o.id >= '${idPrefix}_' || $5 AND o.api_key_id = $2
        AND o.wallet_id = $3 AND o.charge_micros IS NOT NULL`,
  );
  const [row] = await sql.unsafe<{ spent: string }[]>(
    `WITH charged AS (${owners.join('\nUNION ALL ')}),
    short AS MATERIALIZED (
      SELECT split_part(operation_id, '.', 1) AS hold_id, shortfall_micros FROM ledger
      WHERE wallet_id = $3 AND kind IN ('settle', 'late') AND shortfall_micros < 0)
    SELECT coalesce(sum(c.charge_micros + coalesce(s.shortfall_micros, 0)), 0)::text AS spent
    FROM charged c LEFT JOIN short s ON s.hold_id = c.hold_id
    WHERE ${holdMillisText('c.hold_id')} >= $4::bigint
      AND ($6::bigint IS NULL OR ${holdMillisText('c.hold_id')} < $6::bigint)`,
    [accountId, id, walletId, startsMs, from, endsMs],
  );
  return BigInt(row?.spent ?? '0');
}
