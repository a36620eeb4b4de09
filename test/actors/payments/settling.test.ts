// Purchases on a real database: whatever is lost, repeated or late, what was paid is credited once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openCheckout } from '../../../actors/payments/opening.ts';
import { createSettler } from '../../../actors/payments/settling.ts';
import { endUnpaid } from '../../../db/purchases/moves.ts';
import { openPaymentBed, type PaymentBed } from './bed.ts';

let bed: PaymentBed;
before(async () => {
  bed = await openPaymentBed();
});
after(() => bed.database.close());

const credits = 1_000_000_000n;

async function openOne() {
  const owner = await bed.account();
  const purchase = await bed.purchase(owner);
  assert.equal(await bed.settler.settle(purchase.id), 'undecided');
  return { owner, id: purchase.id };
}

test('a checkout whose answer was lost is opened once, under its key', async () => {
  const owner = await bed.account();
  const purchase = await bed.purchase(owner);
  const provider = bed.deps.provider('stripe');
  assert.ok(provider !== null);
  bed.model.faults.push('lost');
  assert.equal(await openCheckout(bed.deps, purchase, provider), 'unavailable');
  assert.equal((await bed.read(purchase.id)).status, 'created');
  assert.equal(await bed.settler.settle(purchase.id), 'undecided');
  const opened = await bed.read(purchase.id);
  assert.equal(opened.status, 'pending');
  assert.equal(opened.orderId, bed.model.orderOf(purchase.id).id);
  assert.equal(opened.checkout?.type, 'redirect');
});

test('a checkout that its provider refuses has failed, and nothing else is tried', async () => {
  const purchase = await bed.purchase(await bed.account());
  bed.model.faults.push('refused');
  assert.equal(await bed.settler.settle(purchase.id), 'decided');
  const failed = await bed.read(purchase.id);
  assert.deepEqual([failed.status, failed.failureCode], ['failed', 'provider_refused']);
  assert.equal(await bed.settler.settle(purchase.id), 'decided');
});

test('what was paid is credited once, however often and by whomever it is asked', async () => {
  const { owner, id } = await openOne();
  bed.model.pay(id);
  const others = [1, 2, 3].map(() => createSettler(bed.deps));
  const asked = [bed.settler, ...others].flatMap((settler) =>
    [1, 2, 3, 4, 5].map(() => settler.settle(id)),
  );
  for (const settled of await Promise.all(asked)) assert.equal(settled, 'decided');
  const done = await bed.read(id);
  assert.equal(done.status, 'completed');
  assert.ok(done.completedAt !== null);
  assert.equal((await bed.balance(owner.walletId)).available, credits);
});

test('money that comes late counts, in whatever state the purchase is', async () => {
  for (const status of ['failed', 'expired'] as const) {
    const { owner, id } = await openOne();
    await endUnpaid(bed.sql, id, status, null);
    bed.model.pay(id);
    assert.equal(await bed.settler.settle(id), 'decided');
    assert.equal((await bed.read(id)).status, 'completed', status);
    assert.equal((await bed.balance(owner.walletId)).available, credits);
  }
});

test('a second payment and a wrong amount are told once, and credit nothing', async () => {
  const { owner, id } = await openOne();
  bed.model.pay(id, { amountCents: 1 });
  await bed.settler.settle(id);
  assert.equal((await bed.read(id)).status, 'failed');
  bed.model.pay(id);
  bed.model.pay(id);
  await bed.settler.settle(id);
  await bed.settler.settle(id);
  assert.equal((await bed.balance(owner.walletId)).available, credits);
  const rows = await bed.sql`
    SELECT kind FROM payment_anomalies WHERE purchase_id = ${id} ORDER BY kind`;
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['second_payment', 'wrong_amount'],
  );
});

test('one whose time is over is closed at its provider, unless somebody is paying', async () => {
  const owner = await bed.account();
  const over = await bed.purchase(owner);
  const paying = await bed.purchase(owner);
  for (const { id } of [over, paying]) await bed.settler.settle(id);
  bed.model.orderOf(paying.id).state = 'under_way';
  const hour = bed.deps.limits.openFor;
  const later = createSettler({ ...bed.deps, clock: () => Date.now() + hour + 1_000 });
  assert.equal(await later.settle(over.id), 'decided');
  assert.equal((await bed.read(over.id)).status, 'expired');
  assert.equal(bed.model.orderOf(over.id).state, 'closed');
  assert.equal(await later.settle(paying.id), 'undecided');
  assert.equal((await bed.read(paying.id)).status, 'pending');
});

test('an older answer of the provider never undoes a newer one', async () => {
  const { owner, id } = await openOne();
  bed.model.pay(id);
  await bed.settler.settle(id);
  const slow = createSettler({
    ...bed.deps,
    provider: () => {
      const provider = bed.deps.provider('stripe');
      assert.ok(provider !== null);
      let isFirst = true;
      const look: typeof provider.adapter.look = async (...given) => {
        const answer = await provider.adapter.look(...given);
        if (isFirst) {
          isFirst = false;
          bed.model.addFact(id, { kind: 'refund' });
          await bed.settler.settle(id);
        }
        return answer;
      };
      return { ...provider, adapter: { ...provider.adapter, look } };
    },
  });
  await slow.settle(id);
  assert.equal((await bed.read(id)).status, 'refunded');
  assert.equal((await bed.balance(owner.walletId)).available, 0n);
});

test('a lost dispute reverses, restricts the account, and a won one restores', async () => {
  const { owner, id } = await openOne();
  bed.model.pay(id);
  const dispute = bed.model.addFact(id, { kind: 'dispute', amountCents: 500 });
  await bed.settler.settle(id);
  assert.equal((await bed.balance(owner.walletId)).available, credits / 2n);
  dispute.state = 'won';
  await bed.settler.settle(id);
  assert.equal((await bed.balance(owner.walletId)).available, credits);
  dispute.state = 'lost';
  await bed.settler.settle(id);
  const lost = await bed.read(id);
  assert.deepEqual([lost.disputeState, lost.status, lost.step], ['lost', 'completed', 3]);
  assert.equal((await bed.balance(owner.walletId)).available, credits / 2n);
  const [row] = await bed.sql`
    SELECT billing_restricted_reason AS reason FROM accounts WHERE id = ${owner.accountId}`;
  assert.equal(row?.reason, 'dispute_lost');
});

test('the books are right after all of it', async () => {
  assert.deepEqual(await bed.broken(), []);
});
