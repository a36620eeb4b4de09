// What a key may spend is set, changed or taken away. That gives the wallet a new version: what was
// decided on the old one is void, and is decided anew.
import { timeOfId } from '../../runtime/ids.ts';
import type { Queryable, Transaction } from '../driver/sql.ts';
import { holderRows } from '../ledger/holders.ts';
import { fenceWallet } from '../organizations/fence.ts';
import { holdMillisText, holdsOfSpenders } from './holds.ts';
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
  await fenceWallet(transaction, walletId);
  await transaction`UPDATE wallets SET counts = true WHERE id = ${walletId} AND NOT counts`;
  await transaction`
    UPDATE api_keys SET limit_micros = ${limit?.amountMicros.toString() ?? null}::bigint,
      limit_period = ${limit?.period ?? null} WHERE id = ${id}`;
  if (limit?.period === before?.period) return;
  await transaction`DELETE FROM spend WHERE wallet_id = ${walletId} AND spender = ${id}`;
  if (limit === null) return;
  await beginCounting(transaction, { id, accountId, walletId }, limit.period, nowMs);
}

/**
 * Another wallet pays for the key from now on. Its counter there begins with what the key settled
 * and holds of others in the period: no change of payers gives it more. Both wallets are fenced by
 * the caller, who may change many keys of them.
 */
export async function changePayer(
  transaction: Transaction,
  { id, accountId, walletId: from, spendLimit }: LimitedKey,
  walletId: string,
  nowMs: number,
): Promise<void> {
  await transaction`UPDATE api_keys SET wallet_id = ${walletId} WHERE id = ${id}`;
  await transaction`
    DELETE FROM spend WHERE spender = ${id} AND wallet_id IN (${from}, ${walletId})`;
  if (spendLimit === null) return;
  await transaction`UPDATE wallets SET counts = true WHERE id = ${walletId} AND NOT counts`;
  await beginCounting(transaction, { id, accountId, walletId }, spendLimit.period, nowMs);
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
    const settled = await sumSettled(transaction, key, startsMs, endsMs);
    const heldOf = (isHere: boolean) =>
      held
        .filter(({ walletId }) => (walletId === key.walletId) === isHere)
        .filter(({ holdId }) => periodAt(period, timeOfId(holdId)).startsMs === startsMs)
        .reduce((sum, { amountMicros }) => sum + amountMicros, 0n);
    // What is held of another wallet is not given back here.
    const broughtMicros = settled.elsewhereMicros + heldOf(false);
    const spentMicros = settled.hereMicros + broughtMicros;
    await transaction`
      INSERT INTO spend (wallet_id, spender, period, starts_at, ends_at, spent_micros,
        brought_micros, held_micros)
      VALUES (${key.walletId}, ${key.id}, ${period}, to_timestamp(${startsMs}::float8 / 1000),
        coalesce(to_timestamp(${endsMs}::float8 / 1000), 'infinity'),
        ${spentMicros.toString()}::bigint, ${broughtMicros.toString()}::bigint,
        ${heldOf(true).toString()}::bigint)`;
  }
}

/** Active holds of a key's requests, sessions and jobs: of its wallet, and of others that paid. */
async function listHeld(
  sql: Queryable,
  { id, accountId, walletId }: Omit<LimitedKey, 'spendLimit'>,
): Promise<{ walletId: string; holdId: string; amountMicros: bigint }[]> {
  const rows = await sql.unsafe<{ wallet_id: string; id: string; amount_micros: bigint }[]>(
    holdsOfSpenders(holderRows, `o.api_key_id = $2 AND h.wallet_id IN (${payersText})`),
    [walletId, id, accountId],
  );
  return rows.map((row) => ({
    walletId: row.wallet_id,
    holdId: row.id,
    amountMicros: row.amount_micros,
  }));
}

/** The wallets that may pay for account `$3`: `$1`, the organization's, those of its person. */
const payersText = `SELECT $1 UNION SELECT w.id FROM accounts a
      JOIN organizations g ON g.id = a.organization_id
      JOIN wallets w ON w.id = g.wallet_id OR w.account_id = a.person_id WHERE a.id = $3`;

/** What a key paid for what began within these bounds: its charges but what nothing covered. */
async function sumSettled(
  sql: Queryable,
  { id, accountId, walletId }: Omit<LimitedKey, 'spendLimit'>,
  startsMs: number,
  endsMs: number | null,
): Promise<{ hereMicros: bigint; elsewhereMicros: bigint }> {
  // Ids of owners are about as old as those of their holds: the index need not be read whole.
  const from = Math.max(0, startsMs - olderMs)
    .toString(16)
    .padStart(12, '0');
  const owners = holderRows.map(
    ({ table, idPrefix }) => `SELECT o.wallet_id, o.hold_id, o.charge_micros FROM ${table} o
      WHERE o.account_id = $1 AND o.id >= '${idPrefix}_' || $5 AND o.api_key_id = $2
        AND o.charge_micros IS NOT NULL`,
  );
  const sumOf = (where: string) => `coalesce(sum(c.charge_micros + coalesce(s.shortfall_micros, 0))
      FILTER (WHERE ${where}), 0)::text`;
  const [row] = await sql.unsafe<{ here: string; elsewhere: string }[]>(
    `WITH charged AS (${owners.join('\nUNION ALL ')}),
    short AS MATERIALIZED (
      SELECT split_part(operation_id, '.', 1) AS hold_id, shortfall_micros FROM ledger
      WHERE wallet_id IN (SELECT wallet_id FROM charged)
        AND kind IN ('settle', 'late') AND shortfall_micros < 0)
    SELECT ${sumOf('c.wallet_id = $3')} AS here, ${sumOf('c.wallet_id <> $3')} AS elsewhere
    FROM charged c LEFT JOIN short s ON s.hold_id = c.hold_id
    WHERE ${holdMillisText('c.hold_id')} >= $4::bigint
      AND ($6::bigint IS NULL OR ${holdMillisText('c.hold_id')} < $6::bigint)`,
    [accountId, id, walletId, startsMs, from, endsMs],
  );
  return {
    hereMicros: BigInt(row?.here ?? '0'),
    elsewhereMicros: BigInt(row?.elsewhere ?? '0'),
  };
}
