// Makes requests of any time as the ledger writes them: the row of a request, and what the journal
// says of its charge.
import assert from 'node:assert/strict';
import { createAccount } from '../../../db/accounts.ts';
import type { Queryable, Sql } from '../../../db/driver/sql.ts';
import { readUsageState } from '../../../db/usage/turn.ts';
import { listUsageLines, readUsage, type UsageLine, type UsageOwner } from '../../../db/usage.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newId } from '../../../runtime/ids.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** Bounds of steps and rounds in tests: no row waits for the clock. */
export const limits = {
  behindMs: 0,
  rowsMax: 7,
  roundForMs: 60_000,
  quartersKeptMs: 400 * dayMs,
  forgottenMax: 1_000,
};

let count = 0;

/** 24 hex that say when it was made; each call has others. */
export function suffixAt(ms: number): string {
  count += 1;
  return `${ms.toString(16).padStart(12, '0')}00${count.toString(16).padStart(10, '0')}`;
}

export async function newOwner(sql: Sql): Promise<UsageOwner> {
  const owner = { accountId: newId('acc', 0), walletId: newId('wal', 0) };
  await createAccount(sql, { id: owner.accountId, role: 'user' });
  await createWallet(sql, { id: owner.walletId, accountId: owner.accountId, type: 'personal' });
  await sql`UPDATE wallets SET created_at = '2020-01-01' WHERE id = ${owner.walletId}`;
  return owner;
}

export interface Request {
  model?: string;
  keyId?: string | null;
  route?: string;
  charge?: number;
  /** Null: it ended without a charge. */
  status?: 'completed' | 'failed' | 'running';
}

/** A request that began then, as a row of generations; returns its digits. */
export async function request(
  sql: Queryable,
  owner: UsageOwner,
  ms: number,
  { model = 'm', keyId = null, route = 'r', charge = 5, status = 'completed' }: Request = {},
): Promise<string> {
  const suffix = suffixAt(ms);
  const at = new Date(ms);
  const end = status === 'running' ? null : at;
  const isCharged = status === 'completed';
  await sql`
    INSERT INTO generations (id, account_id, wallet_id, api_key_id, route, fingerprint, model,
      instance_id, hold_id, status, created_at, finished_at, usage, charge_micros)
    VALUES (${`req_${suffix}`}, ${owner.accountId}, ${owner.walletId}, ${keyId}, ${route}, 'f',
      ${model}, 'i', ${`hold_${suffix}`}, ${status}, ${at}, ${end},
      ${isCharged ? '{"input_tokens": 3}' : null}::text::jsonb, ${isCharged ? charge : null})`;
  if (isCharged) await chargeInJournal(sql, owner, suffix, charge, 'settle');
  if (status === 'running') {
    await sql`
      INSERT INTO holds (wallet_id, id, amount_micros, legs, owner_kind, owner_id, instance_id,
        claimed, expires_at)
      VALUES (${owner.walletId}, ${`hold_${suffix}`}, 0, '[]', 'generation', ${`req_${suffix}`},
        'i', true, now() + interval '1 hour')`;
  }
  return suffix;
}

/** It ends with its charge, as a settlement does it. */
export async function settle(sql: Sql, owner: UsageOwner, suffix: string, charge = 5) {
  await sql.begin(async (transaction) => {
    await transaction`
      UPDATE generations SET status = 'completed', finished_at = now(), charge_micros = ${charge},
        usage = '{"input_tokens": 3}' WHERE id = ${`req_${suffix}`}`;
    await transaction`
      DELETE FROM holds WHERE wallet_id = ${owner.walletId} AND id = ${`hold_${suffix}`}`;
    await chargeInJournal(transaction, owner, suffix, charge, 'settle');
  });
}

async function chargeInJournal(
  sql: Queryable,
  owner: UsageOwner,
  suffix: string,
  charge: number,
  kind: 'settle' | 'late',
): Promise<void> {
  await sql`
    INSERT INTO ledger (operation_id, wallet_id, kind, wallet_micros, held_micros, revenue_micros,
      provider_cost_micros, promotion_micros, purchase_micros, shortfall_micros)
    VALUES (${`hold_${suffix}.${kind === 'late' ? 'late' : 'end'}`}, ${owner.walletId}, ${kind},
      ${-charge}, 0, ${charge}, 0, 0, 0, 0)`;
}

/** What the journal charged a wallet. */
export async function journalCharge(sql: Sql, walletId: string): Promise<bigint> {
  const [row] = await sql<{ sum: bigint }[]>`
    SELECT coalesce(sum(revenue_micros + provider_cost_micros), 0)::bigint AS sum FROM ledger
    WHERE wallet_id = ${walletId} AND kind IN ('settle', 'late')`;
  return row?.sum ?? 0n;
}

/** What is shown of a wallet, from so long ago to tomorrow. */
export async function shown(sql: Sql, owner: UsageOwner, days = 800) {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const state = await readUsageState(transaction);
    const untilMs = Math.floor(state.nowMs / dayMs) * dayMs + 2 * dayMs;
    return readUsage(transaction, state, owner, { fromMs: untilMs - days * dayMs, untilMs });
  });
}

/** All that is shown of the same time, by model. */
export async function figuresShown(sql: Sql, owner: UsageOwner): Promise<UsageLine[]> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const state = await readUsageState(transaction);
    const untilMs = Math.floor(state.nowMs / dayMs) * dayMs + 2 * dayMs;
    const range = { fromMs: untilMs - 800 * dayMs, untilMs };
    return listUsageLines(transaction, state, owner, range, { after: null, limit: 1_000 });
  });
}

/** The sum of what is shown, which is the same by model, by day and by key. */
export async function shownCharge(sql: Sql, owner: UsageOwner): Promise<bigint> {
  const { models, days, keys } = await shown(sql, owner);
  const [first, ...others] = [models, days, keys].map((rows) =>
    rows.reduce((sum, row) => sum + row.charge_micros, 0n),
  );
  for (const other of others) assert.equal(other, first, 'by day and by key as by model');
  return first ?? 0n;
}

/** Where the tables of usage stand. */
export function stateOf(sql: Sql) {
  return sql.begin('isolation level repeatable read read only', readUsageState);
}

/** As a first start finds it: nothing is counted, and counting begins at this moment. */
export async function beginAt(sql: Queryable, ms: number): Promise<void> {
  const hex = ms.toString(16).padStart(12, '0');
  const today = new Date(Math.floor(ms / dayMs) * dayMs);
  await sql`TRUNCATE usage_quarters, usage_days, usage_late`;
  await sql`UPDATE usage_progress SET
    since_id = split_part(until_id, '_', 1) || '_' || ${hex}::text,
    until_id = split_part(until_id, '_', 1) || '_' || ${hex}::text`;
  await sql`UPDATE usage_state SET closed_from = ${today}, closed_until = ${today},
    repaired_until = ${today}`;
}

/** Rows that are older than a running gateway, above where it counts: no round comes between. */
export async function liveSince(
  sql: Sql,
  ms: number,
  makeRows: (transaction: Queryable) => Promise<unknown>,
): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SELECT FROM usage_state FOR UPDATE`;
    await beginAt(transaction, ms);
    await makeRows(transaction);
  });
}
