// Referrals: what a purchase makes due, to whom and when, what stands against it, and what a
// reversal takes back. Purchases are rows as the provider's answer leaves them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { billingRecordSchema } from '../../../actors/catalog/document.ts';
import { promotionLimits } from '../../../actors/promotions/limits.ts';
import { noteReferral } from '../../../actors/promotions/referral.ts';
import { promotionsRound } from '../../../actors/promotions/rounds.ts';
import { createDirectWallet, type DirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import { auditLedger } from '../../../db/audit.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { readReferralCounts } from '../../../db/promotions/referrals.ts';
import { newId } from '../../../runtime/ids.ts';
import { makeAccount, type TestAccount } from '../../harness/account.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

const refereeMicros = 5_000_000n;
const referrerMicros = 10_000_000n;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const billing = v.parse(billingRecordSchema, {
  referral: {
    referee_credits: 5,
    referrer_credits: 10,
    min_purchase_credits: 100,
    hold_days: 7,
    per_referrer_max: 2,
  },
});

let database: TestDatabase;
let sql: Sql;
let wallet: DirectWallet;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 4);
  wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log: silent });
});
after(() => database?.close());

/** Two processes may have a round at once. */
async function round(): Promise<void> {
  const deps = { sql, wallet, billing: () => billing, limits: promotionLimits, log: silent };
  await Promise.all([promotionsRound(deps), promotionsRound(deps)]);
}

function person(): Promise<TestAccount> {
  return makeAccount({ baseUrl: '', sql, wallet }, { micros: 0n });
}

interface Pair {
  referrer: TestAccount;
  referee: TestAccount;
}

async function brought(by?: TestAccount): Promise<Pair> {
  const pair = { referrer: by ?? (await person()), referee: await person() };
  const [refereeId, referrerId] = [pair.referee.accountId, pair.referrer.accountId];
  await sql.begin((transaction) => noteReferral(transaction, 0, { refereeId, referrerId }));
  return pair;
}

interface Bought {
  credits?: number;
  purse?: string | null;
  paidDaysAgo?: number;
  kind?: string;
}

/** A purchase that was paid, and credited by the ledger. */
async function buy(person: TestAccount, bought: Bought = {}): Promise<string> {
  const { credits = 100, purse = null, paidDaysAgo = 0, kind = 'checkout' } = bought;
  const id = newId('pur', 0);
  const micros = BigInt(credits) * 1_000_000n;
  await sql`
    INSERT INTO purchases (id, account_id, wallet_id, package_id, status, kind, credits_micros,
      price_cents, currency, purse, paid_cents, paid_at)
    VALUES (${id}, ${person.accountId}, ${person.walletId}, 'starter', 'paid', ${kind},
      ${micros.toString()}::bigint, 1000, 'usd', ${purse}, 1000,
      now() - ${paidDaysAgo}::float8 * interval '1 day')`;
  const reply = await wallet(person.walletId, 'grant', {
    operationId: `${id}.paid`,
    kind: 'purchase',
    amountMicros: micros,
    expiresAtMs: null,
    note: 'purchase',
    owner: { kind: 'purchase', id },
  });
  assert.equal(reply.status, 'granted');
  return id;
}

/** All of it was paid back. */
async function reverse(person: TestAccount, purchaseId: string): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`
      UPDATE purchases SET target_micros = credits_micros, step = 1 WHERE id = ${purchaseId}`;
    await transaction`
      INSERT INTO purchase_steps (purchase_id, step, wallet_id, micros, reason)
      SELECT id, 1, wallet_id, credits_micros, 'refund' FROM purchases WHERE id = ${purchaseId}`;
  });
  const amountMicros = 100_000_000n;
  await wallet(person.walletId, 'reverse', { purchaseId, step: 1, amountMicros });
}

async function availableOf(person: TestAccount): Promise<bigint> {
  return (await person.balance()).availableMicros;
}

/** Behind a round it has so much, and behind another one no more. */
async function reaches(owner: TestAccount, micros: bigint): Promise<void> {
  for (let rounds = 0; rounds < 2; rounds += 1) {
    await round();
    assert.equal(await availableOf(owner), micros);
  }
}

test('the referee gets its credits at once, the referrer after the hold', async () => {
  const { referrer, referee } = await brought();
  await buy(referee, { credits: 99 });
  await reaches(referee, 99_000_000n);
  await buy(referee);
  await reaches(referee, 199_000_000n + refereeMicros);
  assert.equal(await availableOf(referrer), 0n);
  const [row] = await sql<{ days: number }[]>`
    SELECT extract(epoch FROM due_at - now())::float8 / 86400 AS days FROM referral_credits
    WHERE account_id = ${referrer.accountId} AND side = 'referrer'`;
  assert.ok(Math.abs((row?.days ?? 0) - 7) < 0.1);
  const { accountId } = referrer;
  const counts = { signedUp: 1, bought: 1, waiting: 1, granted: 0, earnedMicros: 0n };
  assert.deepEqual(await readReferralCounts(sql, accountId), counts);
  // Days by a moved clock.
  await sql`UPDATE referral_credits SET due_at = now() WHERE account_id = ${referrer.accountId}`;
  await reaches(referrer, referrerMicros);
  const later = { ...counts, waiting: 0, granted: 1, earnedMicros: referrerMicros };
  assert.deepEqual(await readReferralCounts(sql, accountId), later);
  // A second purchase brings nothing.
  await buy(referee);
  await reaches(referee, 299_000_000n + refereeMicros);
});

test('nothing is given with the purse of the referrer, or for a free package', async () => {
  const { referrer, referee } = await brought();
  await buy(referrer, { purse: 'card-1' });
  await buy(referee, { purse: 'card-1' });
  await buy(referee, { kind: 'free' });
  await reaches(referee, 200_000_000n);
  const other = await brought();
  const { accountId } = other.referee;
  await sql`UPDATE accounts SET billing_restricted_at = now() WHERE id = ${accountId}`;
  await buy(other.referee);
  await reaches(other.referee, 100_000_000n);
  // Another purse is good.
  await buy(referee, { purse: 'card-2' });
  await reaches(referee, 300_000_000n + refereeMicros);
});

test('a referrer that pays with the purse within the hold gets nothing', async () => {
  const { referrer, referee } = await brought();
  await buy(referee, { purse: 'card-3' });
  await reaches(referee, 100_000_000n + refereeMicros);
  await buy(referrer, { purse: 'card-3' });
  await sql`UPDATE referral_credits SET due_at = now() WHERE account_id = ${referrer.accountId}`;
  await reaches(referrer, 100_000_000n);
  const rows = await sql`SELECT FROM referral_credits
    WHERE account_id = ${referrer.accountId} AND ended_at IS NOT NULL`;
  assert.equal(rows.length, 1);
});

test('a reversal takes back what is free, and what is not given yet is never given', async () => {
  const { referrer, referee } = await brought();
  const purchase = await buy(referee, { paidDaysAgo: 8 });
  await reaches(referee, 100_000_000n + refereeMicros);
  await reaches(referrer, referrerMicros);
  await reverse(referee, purchase);
  await reaches(referee, 0n);
  await reaches(referrer, 0n);
  const waiting = await brought();
  const second = await buy(waiting.referee);
  await reaches(waiting.referee, 100_000_000n + refereeMicros);
  await reverse(waiting.referee, second);
  await reaches(waiting.referee, 0n);
  const rows = await sql<{ ended: boolean; granted: boolean }[]>`
    SELECT ended_at IS NOT NULL AS ended, granted_at IS NOT NULL AS granted FROM referral_credits
    WHERE account_id = ${waiting.referrer.accountId}`;
  assert.deepEqual([...rows], [{ ended: true, granted: false }]);
});

test('a referrer gets so many at most, whoever comes at once', async () => {
  const { referrer, referee } = await brought();
  const others = await Promise.all([brought(referrer), brought(referrer), brought(referrer)]);
  const referees = [referee, ...others.map((pair) => pair.referee)];
  await Promise.all(referees.map((each) => buy(each, { paidDaysAgo: 8 })));
  for (const each of referees) await reaches(each, 100_000_000n + refereeMicros);
  await reaches(referrer, 2n * referrerMicros);
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM referral_credits
    WHERE account_id = ${referrer.accountId} AND side = 'referrer'`;
  assert.equal(row?.count, 2);
});

test('the books are right', async () => {
  const broken = (await auditLedger(sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
