// The adapter of Razorpay against its simulator, with every fault that the simulator knows for it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type CheckoutOrder, PaymentFault } from '../../../media/payments/contract.ts';
import { newId } from '../../../runtime/ids.ts';
import { tell, until } from '../../bench/sim/payments.ts';
import { type Bench, openBench } from './bench.ts';

let bench: Bench;
before(async () => {
  bench = await openBench('razorpay');
});
beforeEach(() => bench.reset());
after(() => bench?.close());

const open = (order: CheckoutOrder) => bench.adapter.open(bench.account, order, bench.signal);
const look = (orderId: string) => bench.adapter.look(bench.account, orderId, bench.signal);
const pay = (orderId: string, email = 'a@b.example') =>
  tell(bench.sim, '/sim/razorpay/pay', { order_id: orderId, email });
const isFault = (kind: PaymentFault['kind']) => (error: unknown) =>
  error instanceof PaymentFault && error.kind === kind;

async function paid() {
  const order = bench.order();
  const { orderId } = await open(order);
  const proof = await pay(orderId);
  const seen = await look(orderId);
  const [payment] = seen.payments;
  assert.ok(payment !== undefined);
  return { order, orderId, proof, seen, payment };
}

test('an order is opened once, paid, and seen as it goes; its proof is checked', async () => {
  const { adapter, account, signal } = bench;
  const order = bench.order();
  const checkout = await open(order);
  assert.deepEqual(await open(order), checkout);
  assert.deepEqual(checkout, {
    type: 'razorpay',
    keyId: 'rzp_test_1',
    orderId: checkout.orderId,
    expiresAt: order.expiresAt,
  });
  const { purchaseId, installation } = order;
  assert.deepEqual(await look(checkout.orderId), {
    mark: { purchaseId, installation },
    amountCents: 1_000,
    currency: 'inr',
    state: 'open',
    failureCode: null,
    needsPerson: false,
    payments: [],
    toCapture: [],
  });
  await bench.fault('decline');
  await pay(checkout.orderId);
  const declined = await look(checkout.orderId);
  assert.deepEqual([declined.state, declined.failureCode], ['open', 'payment_failed']);
  const { razorpay_payment_id: id, razorpay_signature: signature } = await pay(checkout.orderId);
  const { state, payments } = await look(checkout.orderId);
  assert.deepEqual([state, payments.length], ['paid', 1]);
  assert.match(payments[0]?.purse ?? '', /^upi:[0-9a-f]{32}$/);
  const paymentId = String(id);
  assert.equal(await adapter.orderOf(account, paymentId, signal), checkout.orderId);
  const proof = { orderId: checkout.orderId, paymentId, signature: String(signature) };
  const isGood = (more: object) => adapter.checkProof?.(account, { ...proof, ...more });
  assert.equal(isGood({}), true);
  for (const bad of [{ orderId: 'order_x' }, { paymentId: 'pay_x' }, { signature: 'x' }]) {
    assert.equal(isGood(bad), false, JSON.stringify(bad));
  }
});

test('the same account pays from the same purse, another from another', async () => {
  const purseOf = async (email: string) => {
    const { orderId } = await open(bench.order());
    await pay(orderId, email);
    return (await look(orderId)).payments[0]?.purse;
  };
  const first = await purseOf('one@example.com');
  assert.equal(await purseOf('ONE@example.com'), first);
  assert.notEqual(await purseOf('two@example.com'), first);
});

test('an order whose answer was lost is found, and not made again', async () => {
  const { adapter, account, signal } = bench;
  for (const fault of ['cut_accepted', '500_accepted']) {
    const order = bench.order();
    await bench.fault(fault);
    await assert.rejects(open(order), isFault('unknown'));
    const found = await adapter.find(account, order, signal);
    assert.ok(found !== null);
    assert.equal((await open(order)).orderId, found);
    const foreign = { ...order, installation: 'inst_other' };
    assert.equal(await adapter.find(account, foreign, signal), null);
    // Somebody else's order has the receipt: the refusal stands.
    await assert.rejects(open(foreign), isFault('refused'));
  }
  assert.equal(await adapter.find(account, bench.order(), signal), null);
  await assert.rejects(look('order_none'), isFault('not_found'));
});

test('what is authorized late is told, and captured once', async () => {
  const { adapter, account, signal } = bench;
  await bench.fault('late_authorized', { delay_ms: 20 });
  const { orderId } = await open(bench.order());
  await pay(orderId);
  await until(() => bench.hooks.taken.some(({ type }) => type === 'payment.authorized'));
  const waiting = await look(orderId);
  assert.equal(waiting.state, 'under_way');
  const [payment] = waiting.toCapture;
  assert.deepEqual([payment?.amountCents, payment?.currency], [1_000, 'inr']);
  assert.ok(payment !== undefined);
  for (const _ of [1, 2]) await adapter.capture(account, payment, signal);
  const { state, payments, toCapture } = await look(orderId);
  assert.deepEqual([state, payments.length, toCapture], ['paid', 1, []]);
  const other = { ...payment, paymentId: 'pay_none' };
  await assert.rejects(adapter.capture(account, other, signal), isFault('not_found'));
});

test('another amount and a second payment are told', async () => {
  await bench.fault('wrong_amount');
  const wrong = await paid();
  assert.deepEqual([wrong.seen.amountCents, wrong.payment.amountCents], [1_000, 1_001]);
  await bench.fault('second_payment');
  const { seen } = await paid();
  assert.equal(seen.payments.length, 2);
  assert.equal(new Set(seen.payments.map(({ id }) => id)).size, 2);
});

test('a refund is sent once under its id, and is a fact of its payment', async () => {
  const { adapter, account, signal } = bench;
  const { orderId, payment } = await paid();
  const refund = (amountCents: number, refundId = newId('rfd', 1)) => {
    const order = { refundId, paymentId: payment.id, amountCents, currency: 'inr' };
    return { refundId, send: () => adapter.refund(account, order, signal) };
  };
  const sent = [];
  for (const fault of ['cut_accepted', '500_accepted']) {
    const lost = refund(200);
    await bench.fault(fault);
    await assert.rejects(lost.send(), isFault('unknown'));
    assert.equal((await lost.send()).refundId, lost.refundId);
    sent.unshift(['succeeded', 200, lost.refundId]);
  }
  await assert.rejects(refund(601).send(), isFault('refused'));
  await bench.act({ refund: { payment: payment.id, amount: 100, status: 'fails' } });
  await until(() => bench.hooks.taken.some(({ type }) => type === 'refund.failed'));
  const facts = (await look(orderId)).payments[0]?.facts ?? [];
  const told = facts.map(({ state, amountCents, refundId }) => [state, amountCents, refundId]);
  assert.deepEqual(told, [['failed', 100, null], ...sent]);
});

test('disputes of chargebacks and arbitrations count, retrievals and fraud do not', async () => {
  const { orderId, payment } = await paid();
  const cases = [
    ['retrieval', 'open', 'inquiry'],
    ['fraud', 'under_review', 'inquiry'],
    ['fraud', 'lost', 'inquiry'],
    ['fraud', 'closed', 'won'],
    ['chargeback', 'open', 'open'],
    ['chargeback', 'under_review', 'open'],
    ['pre_arbitration', 'open', 'open'],
    ['arbitration', 'lost', 'lost'],
    ['arbitration', 'won', 'won'],
    ['chargeback', 'closed', 'won'],
  ];
  for (const [phase, status, state] of cases) {
    await bench.act({ dispute: { payment: payment.id, phase, status } });
    const facts = (await look(orderId)).payments[0]?.facts ?? [];
    assert.deepEqual(
      facts.map((fact) => [fact.kind, fact.state, fact.amountCents]),
      [['dispute', state, 1_000]],
      `${phase} ${status}`,
    );
  }
});

test('a provider that does not answer, or refuses us, is a fault of its own kind', async () => {
  const { adapter, account, signal } = bench;
  const order = bench.order();
  const nowhere = { ...account, baseUrl: 'http://127.0.0.1:9' };
  await assert.rejects(adapter.open(nowhere, order, signal), isFault('unknown'));
  const noId = { ...account, keyId: null };
  await assert.rejects(adapter.open(noId, order, signal), isFault('misconfigured'));
  await assert.rejects(adapter.look(account, 'order_x', AbortSignal.abort()), isFault('unknown'));
  for (const [status, kind] of [
    [429, 'slow_down'],
    [503, 'unknown'],
    [401, 'misconfigured'],
    [409, 'unknown'],
  ] as const) {
    await tell(bench.sim, '/sim/outage', { status, for_ms: 10_000 });
    await assert.rejects(adapter.open(account, order, signal), isFault(kind), String(status));
    await assert.rejects(adapter.test(account, signal), isFault(kind), String(status));
    await bench.reset();
  }
  await adapter.test(account, signal);
  await adapter.close(account, 'order_x', signal);
  assert.equal(adapter.charge, null);
});

test('refunds and disputes are listed, once for each state', async () => {
  const { adapter, account, signal } = bench;
  const { payment } = await paid();
  await bench.act({ refund: { payment: payment.id, amount: 100 } });
  await bench.act({ dispute: { payment: payment.id } });
  assert.deepEqual(adapter.lists, ['refunds', 'disputes']);
  const ours = async (list: string) => {
    const listed = await adapter.list(account, list, new Date(), signal);
    return listed.filter(({ paymentIds }) => paymentIds.includes(payment.id));
  };
  const [refund] = await ours('refunds');
  assert.equal(refund?.type, 'refund.processed');
  const [opened] = await ours('disputes');
  assert.equal(opened?.type, 'dispute.open');
  await bench.act({ dispute: { payment: payment.id, status: 'lost' } });
  const [lost] = await ours('disputes');
  assert.equal(lost?.type, 'dispute.lost');
  assert.notEqual(lost?.eventId, opened?.eventId);
});
