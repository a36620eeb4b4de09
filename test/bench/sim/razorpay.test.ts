// The vendor's own client, unpatched, straight at the simulator. It makes and reads all that there
// is, and its checkers take the simulator's proofs and webhooks.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type Razorpay from 'razorpay';
import {
  validatePaymentVerification,
  validateWebhookSignature,
} from 'razorpay/dist/utils/razorpay-utils.js';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { type HookServer, razorpayAt, takeHooks, tell, until, webhookSecret } from './payments.ts';

let sim: RunningSim;
let hooks: HookServer;
let razorpay: Razorpay;
before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 3 });
  hooks = await takeHooks();
  razorpay = razorpayAt(sim);
  await tell(sim, '/sim/webhooks', { family: 'razorpay', url: hooks.url, secret: webhookSecret });
});
beforeEach(async () => {
  await tell(sim, '/sim/reset', {});
  hooks.taken.length = 0;
});
after(() => {
  hooks?.close();
  sim?.close();
});

let receipts = 0;
function makeOrder(more: object = {}) {
  receipts += 1;
  return razorpay.orders.create({
    amount: 85_000,
    currency: 'INR',
    receipt: `pur_${receipts}`,
    notes: { purchase_id: `pur_${receipts}` },
    ...more,
  });
}

async function pay(orderId: string) {
  const made = await tell(sim, '/sim/razorpay/pay', { order_id: orderId, email: 'a@b.example' });
  return made as unknown as Record<string, string> & { status: number };
}

const types = () => hooks.taken.map(({ type }) => type);

async function paidPayment(more: object = {}): Promise<string> {
  const order = await makeOrder(more);
  return String((await pay(order.id)).razorpay_payment_id);
}

test('an order is made, paid and read; its proof and webhooks bear its secrets', async () => {
  const order = await makeOrder();
  assert.deepEqual([order.status, order.amount_due], ['created', 85_000]);
  const proof = await pay(order.id);
  const signature = String(proof.razorpay_signature);
  const ids = { order_id: order.id, payment_id: String(proof.razorpay_payment_id) };
  assert.equal(validatePaymentVerification(ids, signature, 'right-secret'), true);
  const other = { ...ids, order_id: 'order_other' };
  assert.equal(validatePaymentVerification(other, signature, 'right-secret'), false);
  assert.equal((await razorpay.orders.fetch(order.id)).status, 'paid');
  const { items } = await razorpay.orders.fetchPayments(order.id);
  assert.deepEqual(
    items.map(({ status, amount }) => [status, amount]),
    [['captured', 85_000]],
  );
  await until(() => hooks.taken.length === 3);
  assert.deepEqual(types().sort(), ['order.paid', 'payment.authorized', 'payment.captured']);
  const ids3 = new Set(hooks.taken.map(({ headers }) => headers['x-razorpay-event-id']));
  assert.equal(ids3.size, 3);
  for (const { body, headers } of hooks.taken) {
    const signed = String(headers['x-razorpay-signature']);
    const text = body.toString();
    assert.equal(validateWebhookSignature(text, signed, webhookSecret), true);
    assert.equal(
      validateWebhookSignature(text.replace('85000', '1'), signed, webhookSecret),
      false,
    );
    assert.equal(validateWebhookSignature(text, signed, 'other'), false);
  }
});

test('an order is found by its receipt, which may have to be unique', async () => {
  const order = await makeOrder({ unique_receipt: true });
  const { receipt } = order;
  const again = makeOrder({ unique_receipt: true, receipt });
  await assert.rejects(again, { statusCode: 400 });
  const { items } = await razorpay.orders.all({ receipt: String(receipt) });
  assert.deepEqual(
    items.map(({ id }) => id),
    [order.id],
  );
  for (const bad of [{ amount: 99 }, { currency: 'inr' }, { receipt: 'x'.repeat(41) }]) {
    await assert.rejects(makeOrder(bad), { statusCode: 400 });
  }
  await assert.rejects(razorpay.orders.fetch('order_none'), { statusCode: 400 });
});

test('an order whose answer is cut or fails is there all the same', async () => {
  for (const fault of ['cut_accepted', '500_accepted']) {
    await tell(sim, '/sim/payments', { fault });
    const receipt = `lost_${fault}`;
    await assert.rejects(makeOrder({ receipt }));
    const { items } = await razorpay.orders.all({ receipt });
    assert.equal(items.length, 1, fault);
  }
});

test('a payment that is authorized late waits to be captured, once', async () => {
  await tell(sim, '/sim/payments', { fault: 'late_authorized', delay_ms: 50 });
  const payment = await paidPayment();
  assert.equal((await razorpay.payments.fetch(payment)).status, 'failed');
  await until(() => types().includes('payment.authorized'));
  assert.equal((await razorpay.payments.fetch(payment)).status, 'authorized');
  await assert.rejects(razorpay.payments.capture(payment, 84_999, 'INR'), { statusCode: 400 });
  assert.equal((await razorpay.payments.capture(payment, 85_000, 'INR')).status, 'captured');
  await assert.rejects(razorpay.payments.capture(payment, 85_000, 'INR'), { statusCode: 400 });
});

test('refunds are partial, bounded, listed, and may fail later', async () => {
  const payment = await paidPayment();
  const refund = await razorpay.payments.refund(payment, { amount: 5_000, notes: { a: 'b' } });
  assert.equal(refund.status, 'processed');
  await assert.rejects(razorpay.payments.refund(payment, { amount: 80_001 }), { statusCode: 400 });
  await tell(sim, '/sim/payments', { refund: { payment, amount: 1_000, status: 'fails' } });
  await until(() => types().includes('refund.failed'));
  const { items } = await razorpay.payments.fetchMultipleRefund(payment, {});
  assert.deepEqual(
    items.map(({ amount, status }) => [amount, status]),
    [
      [1_000, 'failed'],
      [5_000, 'processed'],
    ],
  );
  assert.equal((await razorpay.payments.fetch(payment)).amount_refunded, 5_000);
  const all = await razorpay.refunds.all({ from: refund.created_at - 1, count: 100 });
  assert.ok(all.items.some(({ id }) => id === refund.id));
});

test('a refund under a key is made once, and another request under it is refused', async () => {
  const payment = await paidPayment();
  const refund = async (amount: number) => {
    const reply = await fetch(`http://127.0.0.1:${sim.port}/v1/payments/${payment}/refund`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from('rzp_test_1:right-secret').toString('base64')}`,
        'x-refund-idempotency': 'rfd_0123456789',
      },
      body: JSON.stringify({ amount }),
    });
    return { status: reply.status, json: (await reply.json()) as { id?: string } };
  };
  const first = await refund(1_000);
  assert.equal(first.status, 200);
  assert.deepEqual(await refund(1_000), first);
  assert.equal((await refund(2_000)).status, 400);
});

test('disputes have a phase and a state', async () => {
  const payment = await paidPayment();
  const dispute = (asked: object) => tell(sim, '/sim/payments', { dispute: { payment, ...asked } });
  await dispute({ phase: 'retrieval' });
  await dispute({ phase: 'chargeback', status: 'under_review' });
  await dispute({ status: 'lost' });
  const { items } = await razorpay.disputes.all({ count: 100 });
  const [found] = items.filter(({ payment_id: id }) => id === payment);
  assert.deepEqual([found?.phase, found?.status], ['chargeback', 'lost']);
  assert.equal(found?.amount_deducted, 85_000);
  await until(() => types().includes('payment.dispute.lost'));
});

test('payments are declined, doubled or of another amount', async () => {
  await tell(sim, '/sim/payments', { fault: 'decline' });
  const declined = await makeOrder();
  assert.equal((await pay(declined.id)).status, 400);
  assert.equal((await razorpay.orders.fetch(declined.id)).status, 'attempted');
  await tell(sim, '/sim/payments', { fault: 'wrong_amount' });
  const wrong = await razorpay.payments.fetch(await paidPayment());
  assert.equal(wrong.amount, 85_001);
  await tell(sim, '/sim/payments', { fault: 'second_payment' });
  const twice = await makeOrder();
  await pay(twice.id);
  const { items } = await razorpay.orders.fetchPayments(twice.id);
  assert.equal(items.filter(({ status }) => status === 'captured').length, 2);
});
