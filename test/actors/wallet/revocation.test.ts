// What an administrator takes back, on a real database: exactly once, never more than is free, and
// with its audit event in the same commit. What holds have of it stays theirs, and no one else's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { debitPromotions, revokePromotion } from '../../../actors/wallet/take-back.ts';
import {
  accountId,
  auditEvent,
  type Bank,
  type Branch,
  freshId,
  holdOf,
  openBank,
  promotion,
  purchase,
} from './bank.ts';

let bank: Bank;
let branch: Branch;
let other: Branch;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
  other = bank.branch();
});
after(() => bank.close());

/** Gives the wallet credits; the grant's id. */
async function give(walletId: string, request: ReturnType<typeof promotion>): Promise<string> {
  const reply = await branch.ask(walletId, 'grant', request);
  assert.equal(reply.status, 'granted');
  return reply.grantId;
}

const revoke = (walletId: string, grantId: string, by = branch, reason = 'test') =>
  revokePromotion(bank.sql, by.wallet(walletId), {
    eventId: freshId('aud'),
    actor: accountId,
    walletId,
    grantId,
    reason,
  });

const debit = (walletId: string, operationId: string, amountMicros: bigint, by = branch) =>
  debitPromotions(bank.sql, by.wallet(walletId), {
    eventId: freshId('aud'),
    actor: accountId,
    walletId,
    operationId,
    amountMicros,
    note: 'test',
  });

async function balanceOf(walletId: string): Promise<[bigint, bigint]> {
  const reply = await branch.ask(walletId, 'balance', {});
  assert.equal(reply.status, 'ok');
  return [reply.availableMicros, reply.heldMicros];
}

/** What each grant has left, in the order in which they were given. */
async function remaining(walletId: string): Promise<bigint[]> {
  const rows = await bank.sql<{ left: bigint }[]>`
    SELECT remaining_micros AS left FROM grants WHERE wallet_id = ${walletId}
    ORDER BY created_at, id`;
  return rows.map(({ left }) => left);
}

/** The entries of these kinds and the events of a wallet. */
async function written(walletId: string, kinds: string[]) {
  const entries = await bank.sql<{ id: string; taken: bigint }[]>`
    SELECT operation_id AS id, -wallet_micros AS taken FROM ledger
    WHERE wallet_id = ${walletId} AND kind IN ${bank.sql(kinds)}`;
  const events = await bank.sql<{ id: string; details: Record<string, unknown> }[]>`
    SELECT operation_id AS id, details FROM audit_events WHERE subject = ${`wallet:${walletId}`}`;
  return { entries: [...entries], events: [...events] };
}

async function settle(walletId: string, holdId: string, chargeMicros: bigint): Promise<void> {
  const request = { holdId, chargeMicros, providerCostMicros: 0n, finish: null };
  assert.equal((await branch.ask(walletId, 'settle', request)).status, 'settled');
}

const hourMs = 3_600_000;

test('a revocation takes what is free, and later what holds give back', async () => {
  const walletId = await bank.newWallet();
  const grantId = await give(walletId, promotion(1_000n, bank.clock.nowMs() + hourMs));
  await give(walletId, purchase(500n));
  const [spending, releasing] = [holdOf(200n), holdOf(300n)];
  await branch.ask(walletId, 'hold', spending);
  await branch.ask(walletId, 'hold', releasing);
  const first = await revoke(walletId, grantId);
  assert.deepEqual(first, { status: 'revoked', revokedMicros: 500n });
  assert.deepEqual(await balanceOf(walletId), [500n, 500n]);
  await settle(walletId, spending.holdId, 150n);
  assert.deepEqual(await balanceOf(walletId), [500n, 300n], 'what is not charged is not free');
  const { holdId } = releasing;
  await branch.ask(walletId, 'release', { holdId, reason: 'failed', finish: null });
  assert.deepEqual(await balanceOf(walletId), [500n, 0n]);
  assert.deepEqual(await revoke(walletId, grantId, other, 'again'), first);
  bank.clock.aheadMs = 2 * hourMs;
  assert.deepEqual(await balanceOf(walletId), [500n, 0n], 'it does not expire as well');
  bank.clock.aheadMs = 0;
  const { entries, events } = await written(walletId, ['revoke', 'expire']);
  assert.deepEqual(entries, [{ id: `${grantId}.revoke`, taken: 500n }]);
  const details = { grant_id: grantId, reason: 'test', amount_microcredits: '500' };
  assert.deepEqual(events, [{ id: `${grantId}.revoke`, details }]);
  const [row] = await bank.sql`SELECT promotion_micros FROM wallets WHERE id = ${walletId}`;
  assert.equal(row?.promotion_micros, -150n, 'what was spent of it');
  await bank.assertBooks();
});

test('of a promotion that is spent or expired nothing is left to take', async () => {
  const walletId = await bank.newWallet();
  const spent = await give(walletId, promotion(100n));
  const hold = holdOf(100n);
  await branch.ask(walletId, 'hold', hold);
  await settle(walletId, hold.holdId, 100n);
  const expired = await give(walletId, promotion(50n, bank.clock.nowMs() + hourMs));
  bank.clock.aheadMs = 2 * hourMs;
  for (const grantId of [spent, expired, spent]) {
    assert.deepEqual(await revoke(walletId, grantId), { status: 'revoked', revokedMicros: 0n });
  }
  bank.clock.aheadMs = 0;
  const { entries, events } = await written(walletId, ['revoke', 'expire']);
  assert.deepEqual(entries.map(({ taken }) => taken).sort(), [0n, 0n, 50n]);
  assert.equal(events.length, 2);
});

test('a purchase, and a grant that is not of this wallet, are not revoked', async () => {
  const walletId = await bank.newWallet();
  const bought = await give(walletId, purchase(100n));
  assert.deepEqual(await revoke(walletId, bought), { status: 'not_a_promotion' });
  const foreign = await give(await bank.newWallet(), promotion(100n));
  for (const grantId of [foreign, 'grant_none']) {
    assert.deepEqual(await revoke(walletId, grantId), { status: 'grant_not_found' });
  }
  assert.deepEqual(await revoke('wal_none', bought), { status: 'wallet_not_found' });
  assert.deepEqual(await written(walletId, ['revoke']), { entries: [], events: [] });
});

test('a debit takes from promotions alone, the newest first', async () => {
  const walletId = await bank.newWallet();
  const soon = bank.clock.nowMs() + hourMs;
  // Spent in the order of their expiry, taken back in that of their age.
  for (const request of [promotion(100n, soon + hourMs), promotion(100n, soon)]) {
    await give(walletId, request);
    bank.clock.aheadMs += 1_000;
  }
  await give(walletId, purchase(100n));
  const hold = holdOf(30n);
  await branch.ask(walletId, 'hold', hold);
  const operationId = freshId('debit');
  const reply = await debit(walletId, operationId, 90n);
  assert.deepEqual(reply, { status: 'debited', availableMicros: 180n });
  assert.deepEqual(await remaining(walletId), [80n, 30n, 100n]);
  const tooMuch = await debit(walletId, freshId('debit'), 81n);
  assert.deepEqual(tooMuch, { status: 'insufficient', freeMicros: 80n, availableMicros: 180n });
  assert.equal((await debit(walletId, freshId('debit'), 80n)).status, 'debited');
  assert.deepEqual(await remaining(walletId), [0n, 30n, 100n]);
  // Nothing fits any more, and what was done is known all the same, whoever is asked.
  for (const by of [branch, other, bank.branch()]) {
    const again = await debit(walletId, operationId, 90n, by);
    assert.deepEqual(again, { status: 'debited', availableMicros: 100n });
  }
  bank.clock.aheadMs = 0;
  const { entries, events } = await written(walletId, ['debit']);
  assert.deepEqual([entries.length, events.length], [2, 2], 'a refused one leaves nothing');
  await bank.assertBooks();
});

test('one operation id is one debit, of one wallet and one amount', async () => {
  const [walletId, neighbour] = [await bank.newWallet(), await bank.newWallet()];
  for (const each of [walletId, neighbour]) await give(each, promotion(100n));
  const operationId = freshId('debit');
  assert.equal((await debit(walletId, operationId, 10n)).status, 'debited');
  assert.deepEqual(await debit(walletId, operationId, 11n), { status: 'reused' });
  const grant = promotion(5n);
  await give(walletId, grant);
  assert.deepEqual(await debit(walletId, grant.operationId, 5n), { status: 'reused' });
  // It is another wallet's. Who wants something of this one meanwhile is not harmed.
  const replies = await Promise.all([
    branch.ask(neighbour, 'hold', holdOf(10n)),
    debit(neighbour, operationId, 10n),
    branch.ask(neighbour, 'hold', holdOf(10n)),
  ]);
  const statuses = replies.map(({ status }) => status);
  assert.deepEqual(statuses, ['held', 'reused', 'held']);
  assert.deepEqual(await balanceOf(neighbour), [80n, 20n]);
  await bank.assertBooks();
});

test('an id that a grant has announced and not made is no debit', async () => {
  const walletId = await bank.newWallet();
  await give(walletId, promotion(100n));
  const operationId = freshId('announced');
  const event = auditEvent();
  await bank.sql`INSERT INTO audit_events (id, actor, action, subject, details, operation_id)
    VALUES (${event.id}, 'a', 'wallet.grant', ${`wallet:${walletId}`}, '{}', ${operationId})`;
  const [taken, held] = await Promise.all([
    debit(walletId, operationId, 10n),
    branch.ask(walletId, 'hold', holdOf(10n)),
  ]);
  assert.deepEqual([taken.status, held.status], ['reused', 'held']);
  assert.deepEqual(await balanceOf(walletId), [90n, 10n]);
});

test('a hundred at once are one, and of a hundred different ones as many as fit', async () => {
  const walletId = await bank.newWallet();
  const grantId = await give(walletId, promotion(700n));
  const by = (index: number) => (index % 2 === 0 ? branch : other);
  const many = <T>(ask: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: 100 }, (_, index) => ask(index)));
  const operationId = freshId('debit');
  const same = await many((index) => debit(walletId, operationId, 200n, by(index)));
  assert.deepEqual(new Set(same.map(({ status }) => status)), new Set(['debited']));
  assert.deepEqual(await balanceOf(walletId), [500n, 0n]);
  const ids = Array.from({ length: 100 }, () => freshId('debit'));
  const different = await many((index) => debit(walletId, ids[index] ?? '', 9n, by(index)));
  const done = different.filter(({ status }) => status === 'debited').length;
  assert.deepEqual([done, different.length - done], [55, 45]);
  const revoked = await many((index) => revoke(walletId, grantId, by(index)));
  for (const reply of revoked) assert.deepEqual(reply, { status: 'revoked', revokedMicros: 5n });
  const { entries, events } = await written(walletId, ['debit', 'revoke']);
  assert.deepEqual([entries.length, events.length], [57, 57]);
  assert.deepEqual(await balanceOf(walletId), [0n, 0n]);
  await bank.assertBooks();
});

test('nothing was an error', () => {
  assert.deepEqual(bank.errors, []);
});
