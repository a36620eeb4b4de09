// Refunds of administrators: credits go before money, once each, and what fails is restored.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askRefund, pursueRefund, workRefunds } from '../../../actors/payments/refunding.ts';
import { createSettler } from '../../../actors/payments/settling.ts';
import { findRefund, listRefunds } from '../../../db/purchases/refunds.ts';
import { newId } from '../../../runtime/ids.ts';
import { openPaymentBed, type PaymentBed } from './bed.ts';

let bed: PaymentBed;
before(async () => {
  bed = await openPaymentBed();
});
after(() => bed.database.close());

const credits = 1_000_000_000n;

async function bought() {
  const owner = await bed.account();
  const { id } = await bed.purchase(owner);
  await bed.settler.settle(id);
  bed.model.pay(id);
  await bed.settler.settle(id);
  return { ...owner, id };
}

let operations = 0;
function wish(purchaseId: string, change: Partial<Parameters<typeof askRefund>[1]> = {}) {
  operations += 1;
  return {
    purchaseId,
    operationId: `refund.${operations}`,
    amountCents: null,
    reason: 'asked for',
    actor: 'acc_admin',
    force: false,
    ...change,
  };
}

async function asked(request: ReturnType<typeof wish>): Promise<string> {
  const answer = await askRefund(bed.deps, request);
  assert.equal(answer.status, 'asked');
  return answer.status === 'asked' ? answer.refundId : '';
}

const due = (id: string) => bed.sql`UPDATE refunds SET next_try_at = now() WHERE id = ${id}`;

test('credits go, then the money; all of it makes the purchase refunded', async () => {
  const { id, walletId } = await bought();
  const refundId = await asked(wish(id));
  await pursueRefund(bed.deps, bed.settler, refundId);
  assert.equal((await findRefund(bed.sql, refundId))?.state, 'succeeded');
  const after = await bed.read(id);
  assert.deepEqual([after.status, after.refundedCents], ['refunded', 1_000n]);
  assert.equal((await bed.balance(walletId)).available, 0n);
  assert.equal(bed.model.orderOf(id).payments[0]?.facts.length, 1);
  assert.equal((await askRefund(bed.deps, wish(id))).status, 'not_refundable');
});

test('asked twice under one operation, or by many at once, it is one refund', async () => {
  const { id } = await bought();
  const request = wish(id, { amountCents: 300 });
  const answers = await Promise.all([1, 2, 3, 4].map(() => askRefund(bed.deps, request)));
  for (const answer of answers) assert.equal(answer.status, 'asked');
  const refundId = await asked(request);
  assert.equal((await askRefund(bed.deps, { ...request, amountCents: 301 })).status, 'reused');
  await Promise.all([1, 2, 3].map(() => pursueRefund(bed.deps, createSettler(bed.deps), refundId)));
  const facts = bed.model.orderOf(id).payments[0]?.facts ?? [];
  assert.deepEqual(
    facts.map(({ amountCents, refundId: mark }) => [amountCents, mark]),
    [[300, refundId]],
  );
  assert.equal((await listRefunds(bed.sql, id)).length, 1);
  assert.equal((await askRefund(bed.deps, wish(id, { amountCents: 701 }))).status, 'too_much');
});

test('an answer that is lost is asked for under the same id', async () => {
  const { id, walletId } = await bought();
  const refundId = await asked(wish(id, { amountCents: 500 }));
  bed.model.faults.push('lost');
  await pursueRefund(bed.deps, bed.settler, refundId);
  assert.equal((await findRefund(bed.sql, refundId))?.state, 'reversing');
  assert.equal((await bed.balance(walletId)).available, credits / 2n, 'taken before it was sent');
  // Its fact is told meanwhile, and counted once.
  await bed.settler.settle(id);
  assert.equal((await bed.balance(walletId)).available, credits / 2n);
  await due(refundId);
  await workRefunds(bed.deps, bed.settler);
  assert.equal((await findRefund(bed.sql, refundId))?.state, 'succeeded');
  assert.equal(bed.model.orderOf(id).payments[0]?.facts.length, 1);
  assert.equal((await bed.balance(walletId)).available, credits / 2n);
});

test('what the provider refuses, or fails later, is restored', async () => {
  const { id, walletId } = await bought();
  const refused = await asked(wish(id, { amountCents: 500 }));
  bed.model.faults.push('refused');
  await pursueRefund(bed.deps, bed.settler, refused);
  assert.equal((await findRefund(bed.sql, refused))?.state, 'failed');
  assert.equal((await bed.balance(walletId)).available, credits);
  const failing = await asked(wish(id, { amountCents: 400 }));
  await pursueRefund(bed.deps, bed.settler, failing);
  const fact = bed.model.orderOf(id).payments[0]?.facts.find((each) => each.refundId === failing);
  assert.ok(fact !== undefined);
  fact.state = 'failed';
  await bed.settler.settle(id);
  assert.equal((await bed.balance(walletId)).available, credits);
  assert.equal((await bed.read(id)).refundedCents, 0n);
});

test('credits that are spent are refunded by force alone, and leave debt', async () => {
  const { id, walletId } = await bought();
  const owner = { kind: 'generation', id: newId('req', 0), instanceId: 'test' };
  const holdId = newId('hold', 0);
  await bed.deps.wallet(walletId, 'hold', {
    holdId,
    amountMicros: credits,
    owner,
    expiresAtMs: Date.now() + 60_000,
    claim: null,
  });
  const end = { holdId, chargeMicros: 900_000_000n, providerCostMicros: 0n, finish: null };
  await bed.deps.wallet(walletId, 'settle', end);
  const answer = await askRefund(bed.deps, wish(id));
  assert.deepEqual(answer, { status: 'credits_spent', missingMicros: 900_000_000n });
  const refundId = await asked(wish(id, { force: true }));
  await pursueRefund(bed.deps, bed.settler, refundId);
  const after = await bed.read(id);
  assert.deepEqual([after.status, after.debtMicros], ['refunded', 900_000_000n]);
  assert.equal((await bed.balance(walletId)).available, 0n);
});

test('nothing is refunded while a dispute is open, or what was never paid', async () => {
  const { id } = await bought();
  bed.model.addFact(id, { kind: 'dispute', amountCents: 100 });
  await bed.settler.settle(id);
  assert.equal((await askRefund(bed.deps, wish(id))).status, 'disputed');
  const open = await bed.purchase(await bed.account());
  assert.equal((await askRefund(bed.deps, wish(open.id))).status, 'not_refundable');
  assert.equal((await askRefund(bed.deps, wish('pur_none'))).status, 'not_found');
});

test('the books are right after all of it', async () => {
  assert.deepEqual(await bed.broken(), []);
});
