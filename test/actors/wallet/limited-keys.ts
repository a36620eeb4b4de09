// Keys with limits on a bank's wallets, and holds of theirs at any moment.
import { randomBytes } from 'node:crypto';
import type { GenerationClaim, GenerationFinish } from '../../../actors/billed-request/holder.ts';
import { tokenHash } from '../../../actors/credentials/token.ts';
import type { HoldRequest, SettleRequest } from '../../../actors/wallet/protocol.ts';
import { createKey, lockKey } from '../../../db/keys.ts';
import { type SpendLimit, setSpendLimit } from '../../../db/spend/limit.ts';
import type { SpendPeriod } from '../../../db/spend/period.ts';
import { accountId, type Bank, instanceId, purchase } from './bank.ts';

/** As ids of that moment are. */
export function idAt(prefix: string, atMs: number): string {
  return `${prefix}_${atMs.toString(16).padStart(12, '0')}${randomBytes(6).toString('hex')}`;
}

export function limitOf(amount: number | bigint, period: SpendPeriod = 'total'): SpendLimit {
  return { amountMicros: BigInt(amount), period };
}

/** A key of the wallet; null: it has no limit. */
export async function newKey(
  bank: Bank,
  walletId: string,
  limit: SpendLimit | null,
): Promise<string> {
  const id = idAt('key', Date.now());
  await createKey(bank.sql, {
    id,
    accountId,
    walletId,
    label: 'limited',
    environment: 'test',
    scopes: ['models:generate'],
    prefix: id.slice(-8),
    tokenHash: tokenHash(id),
    requestsPerMinute: 600,
    concurrencyMax: 64,
  });
  if (limit !== null) await setLimit(bank, id, limit);
  return id;
}

export async function setLimit(
  bank: Bank,
  keyId: string,
  limit: SpendLimit | null,
  nowMs = Date.now(),
): Promise<void> {
  await bank.sql.begin(async (transaction) => {
    const key = await lockKey(transaction, accountId, keyId);
    if (key !== null) await setSpendLimit(transaction, key, limit, nowMs);
  });
}

/** A hold with its generation, for a request that began at this moment. */
export function keyHold(keyId: string, amount: number | bigint, atMs = Date.now()): HoldRequest {
  const id = idAt('req', atMs);
  const claim: GenerationClaim = {
    id,
    accountId,
    apiKeyId: keyId,
    route: '/v1/chat/completions',
    idempotencyKey: null,
    fingerprint: 'f'.repeat(64),
    model: 'svc-sim-chat',
  };
  return {
    holdId: `hold_${id.slice(4)}`,
    amountMicros: BigInt(amount),
    owner: { kind: 'generation', id, instanceId },
    expiresAtMs: Date.now() + 900_000,
    claim,
  };
}

/** As its live owner settles it. */
export function settlement(hold: HoldRequest, charge: number | bigint): SettleRequest {
  const { claim, holdId, owner } = hold;
  const { accountId: id = '', apiKeyId = null } = claim ?? {};
  const spender = claim === null ? {} : { spender: { accountId: id, apiKeyId } };
  const finish: GenerationFinish = {
    kind: 'generation',
    id: owner.id,
    status: 'completed',
    answerJson: null,
    usageJson: null,
    problemJson: null,
  };
  return { holdId, chargeMicros: BigInt(charge), providerCostMicros: 0n, finish, ...spender };
}

export interface Counter {
  period: SpendPeriod;
  starts: string;
  spent: number;
  held: number;
}

/** What stands in the database of a key, in the order of time. */
export async function countersOf(bank: Bank, keyId: string): Promise<Counter[]> {
  const rows = await bank.sql<Counter[]>`
    SELECT period, to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS starts,
      spent_micros::float8 AS spent, held_micros::float8 AS held
    FROM spend WHERE spender = ${keyId} ORDER BY starts_at`;
  return rows.map((row) => ({ ...row }));
}

export async function fundedWallet(bank: Bank, amount = 1_000_000n): Promise<string> {
  const walletId = await bank.newWallet();
  await bank.branch().ask(walletId, 'grant', purchase(amount));
  return walletId;
}
