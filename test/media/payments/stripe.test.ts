// The adapter of Stripe against its simulator, with every fault that it knows. What it says is
// what an asked provider says, and nothing is made twice.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import {
  type CardCharge,
  type Checkout,
  type CheckoutOrder,
  PaymentFault,
  type SavedCard,
} from '../../../media/payments/contract.ts';
import { newId } from '../../../runtime/ids.ts';
import { tell, until } from '../../bench/sim/payments.ts';
import { type Bench, openBench } from './bench.ts';

let bench: Bench;
before(async () => {
  bench = await openBench('stripe');
});
beforeEach(() => bench.reset());
after(() => bench?.close());

const open = (order: CheckoutOrder) => bench.adapter.open(bench.account, order, bench.signal);
const look = (orderId: string) => bench.adapter.look(bench.account, orderId, bench.signal);
const find = (order: CheckoutOrder) => bench.adapter.find(bench.account, order, bench.signal);

async function visit(checkout: Checkout, how = 'pay'): Promise<string | null> {
  assert.equal(checkout.type, 'redirect');
  const url = checkout.type === 'redirect' ? checkout.url : '';
  const reply = await fetch(`${url}?sim=${how}`, { redirect: 'manual' });
  return reply.headers.get('location');
}

async function paid(more: Partial<CheckoutOrder> = {}) {
  const order = bench.order(more);
  const checkout = await open(order);
  await visit(checkout);
  const seen = await look(checkout.orderId);
  const [payment] = seen.payments;
  assert.ok(payment !== undefined);
  return { order, orderId: checkout.orderId, seen, payment };
}

const isFault = (kind: PaymentFault['kind']) => (error: unknown) =>
  error instanceof PaymentFault && error.kind === kind;

async function sessions(): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${bench.sim.port}/sim/payments`);
  const view = (await reply.json()) as { objects: { stripe: { sessions: unknown[] } } };
  return view.objects.stripe.sessions.length;
}

test('a checkout is opened once, leads back with its session, and is seen as it goes', async () => {
  const order = bench.order();
  const checkout = await open(order);
  assert.deepEqual(await open(order), checkout);
  assert.equal(checkout.expiresAt.getTime(), Math.floor(order.expiresAt.getTime() / 1e3) * 1e3);
  const fresh = await look(checkout.orderId);
  const { purchaseId, installation } = order;
  assert.deepEqual(fresh, {
    mark: { purchaseId, installation },
    amountCents: 1_000,
    currency: 'usd',
    state: 'open',
    failureCode: null,
    needsPerson: false,
    payments: [],
    toCapture: [],
  });
  await visit(checkout, 'decline');
  const declined = await look(checkout.orderId);
  assert.deepEqual([declined.state, declined.failureCode], ['open', 'generic_decline']);
  assert.equal(await visit(checkout), `${order.paidUrl}&session_id=${checkout.orderId}`);
  const { state, payments, failureCode } = await look(checkout.orderId);
  assert.deepEqual([state, payments.length, failureCode], ['paid', 1, null]);
  const [payment] = payments;
  assert.deepEqual([payment?.amountCents, payment?.taxCents, payment?.facts], [1_000, 0, []]);
  assert.match(payment?.purse ?? '', /^card:/);
  assert.equal(payment?.saved, null);
  const { adapter, account, signal } = bench;
  assert.equal(await adapter.orderOf(account, payment?.id ?? '', signal), checkout.orderId);
});

test('what was lost under way is not made again: its key is repeated, or it is found', async () => {
  const before = await sessions();
  const cut = bench.order();
  await bench.fault('cut_accepted', { count: 2 });
  await assert.rejects(open(cut), isFault('unknown'));
  const found = await find(cut);
  assert.equal((await open(cut)).orderId, found);
  // A failure stays under its key: the checkout is looked for by its mark.
  const failed = bench.order();
  await bench.fault('500_accepted');
  await assert.rejects(open(failed), isFault('unknown'));
  const healed = await open(failed);
  assert.equal(healed.orderId, await find(failed));
  // Other words under the key are the same purchase still.
  const later = { ...failed, expiresAt: new Date(failed.expiresAt.getTime() + 5_000) };
  assert.equal((await open(later)).orderId, healed.orderId);
  assert.equal(await sessions(), before + 2);
  assert.equal(await find(bench.order()), null);
  assert.equal(await find({ ...cut, installation: 'inst_other' }), null);
});

test('a checkout is closed once, unless somebody has paid', async () => {
  const { adapter, account, signal } = bench;
  const closed = await open(bench.order());
  for (const _ of [1, 2]) await adapter.close(account, closed.orderId, signal);
  assert.equal((await look(closed.orderId)).state, 'closed');
  const { orderId } = await paid();
  await adapter.close(account, orderId, signal);
  assert.equal((await look(orderId)).state, 'paid');
  await assert.rejects(adapter.close(account, 'cs_none', signal), isFault('not_found'));
  await assert.rejects(look('cs_none'), isFault('not_found'));
  await assert.rejects(look('pi_none'), isFault('not_found'));
});

test('another amount, a transfer under way, taxes and a second payment are told', async () => {
  await bench.fault('wrong_amount');
  const wrong = await paid();
  assert.deepEqual([wrong.seen.amountCents, wrong.payment.amountCents], [1_000, 1_001]);
  const delayed = await open(bench.order());
  await visit(delayed, 'delay');
  assert.equal((await look(delayed.orderId)).state, 'under_way');
  await bench.fault('late_authorized', { delay_ms: 20 });
  const late = await open(bench.order());
  await visit(late);
  const types = () => bench.hooks.taken.map(({ type }) => type);
  await until(() => types().includes('checkout.session.async_payment_succeeded'));
  assert.equal((await look(late.orderId)).state, 'paid');
  const taxed = { ...bench.account, automaticTax: true };
  const order = bench.order();
  const checkout = await bench.adapter.open(taxed, order, bench.signal);
  await visit(checkout);
  const { amountCents, payments } = await look(checkout.orderId);
  const [{ amountCents: total, taxCents } = { amountCents: 0, taxCents: 0 }] = payments;
  assert.deepEqual([amountCents, total, taxCents], [1_000, 1_100, 100]);
  bench.hooks.taken.length = 0;
  await bench.fault('second_payment');
  const twice = await paid();
  const completed = () => bench.hooks.taken.filter(({ type }) => /session\.completed/.test(type));
  await until(() => completed().length === 2);
  const orders = completed().map(({ body, headers }) => {
    const header = (name: string) => headers[name];
    return bench.adapter.readWebhook(body, header, ['whsec_test'], Date.now())?.orderIds[0] ?? '';
  });
  const other = orders.find((id) => id !== twice.orderId) ?? '';
  const second = await look(other);
  assert.deepEqual([second.state, second.mark], ['paid', twice.seen.mark]);
  assert.notEqual(second.payments[0]?.id, twice.payment.id);
});

test('a refund is sent once under its id, and is a fact of its payment', async () => {
  const { adapter, account, signal } = bench;
  const { orderId, payment } = await paid();
  const refund = (amountCents: number, refundId = newId('rfd', 1)) => {
    const order = { refundId, paymentId: payment.id, amountCents, currency: 'usd' };
    return { refundId, send: () => adapter.refund(account, order, signal) };
  };
  const first = refund(300);
  const fact = await first.send();
  assert.deepEqual(
    [fact.state, fact.amountCents, fact.refundId],
    ['succeeded', 300, first.refundId],
  );
  assert.deepEqual(await first.send(), fact);
  const lost = refund(200);
  await bench.fault('500_accepted');
  await assert.rejects(lost.send(), isFault('unknown'));
  assert.equal((await lost.send()).refundId, lost.refundId);
  await assert.rejects(refund(501).send(), isFault('refused'));
  await bench.act({ refund: { payment: payment.id, amount: 100, status: 'fails' } });
  const types = () => bench.hooks.taken.map(({ type }) => type);
  await until(() => types().includes('refund.failed'));
  const facts = (await look(orderId)).payments[0]?.facts ?? [];
  const told = facts.map(({ state, amountCents, refundId }) => [state, amountCents, refundId]);
  assert.deepEqual(told, [
    ['failed', 100, null],
    ['succeeded', 200, lost.refundId],
    ['succeeded', 300, first.refundId],
  ]);
});

test('disputes count while they take money, and inquiries do not', async () => {
  const { orderId, payment } = await paid();
  const states = {
    warning_needs_response: 'inquiry',
    warning_under_review: 'inquiry',
    warning_closed: 'won',
    needs_response: 'open',
    under_review: 'open',
    appeal_under_review: 'open',
    lost: 'lost',
    won: 'won',
    prevented: 'won',
    never_heard_of: 'open',
  };
  for (const [status, state] of Object.entries(states)) {
    await bench.act({ dispute: { payment: payment.id, status, amount: 700 } });
    const [fact] = (await look(orderId)).payments[0]?.facts ?? [];
    assert.deepEqual([fact?.kind, fact?.state, fact?.amountCents], ['dispute', state, 700], status);
  }
});

async function savedCard(): Promise<SavedCard> {
  const { payment } = await paid({ savePaymentMethod: true });
  assert.ok(payment.saved !== null);
  assert.deepEqual([payment.saved.brand, payment.saved.last4], ['visa', '4242']);
  return payment.saved;
}

test('a saved card is charged once, and what it answers says whether to try again', async () => {
  const { adapter, account, signal } = bench;
  const card = await savedCard();
  const charge = async (more: Partial<CardCharge> = {}) => {
    const mark = { purchaseId: newId('pur', 1), installation: 'inst_here' };
    const asked = { ...mark, amountCents: 500, currency: 'usd', description: 'Top-up', card };
    return adapter.charge?.(account, { ...asked, ...more }, signal);
  };
  const good = await charge();
  assert.equal(good?.status, 'paid');
  const seen = await look(good?.orderId ?? '');
  assert.deepEqual([seen.state, seen.amountCents], ['paid', 500]);
  assert.equal(await adapter.orderOf(account, good?.orderId ?? '', signal), good?.orderId);
  const expected = [
    ['insufficient_funds', 'soft_declined'],
    ['generic_decline', 'soft_declined'],
    ['stolen_card', 'declined'],
    ['expired_card', 'declined'],
  ] as const;
  for (const [code, status] of expected) {
    await bench.fault('decline', { code });
    const outcome = await charge();
    const { orderId } = outcome ?? {};
    assert.deepEqual(outcome, { status, orderId, code });
    const { state, failureCode } = await look(orderId ?? '');
    assert.deepEqual([state, failureCode], ['declined', code]);
  }
  await bench.fault('authentication_required');
  const wanted = await charge();
  assert.equal(wanted?.status, 'needs_person');
  const waiting = await look(wanted?.orderId ?? '');
  assert.deepEqual([waiting.state, waiting.needsPerson], ['declined', true]);
  const gone = await charge({ card: { ...card, customerId: 'cus_gone' } });
  assert.deepEqual([gone?.status, gone?.orderId], ['declined', null]);
});

test('a charge whose answer is lost is found, and never made anew', async () => {
  const { adapter, account, signal } = bench;
  const card = await savedCard();
  for (const [fault, count] of [
    ['cut_accepted', 2],
    ['500_accepted', 1],
  ] as const) {
    const mark = { purchaseId: newId('pur', 1), installation: 'inst_here' };
    const asked = { ...mark, amountCents: 500, currency: 'usd', description: 'Top-up', card };
    await bench.fault(fault, { count });
    assert.ok(adapter.charge !== null);
    await assert.rejects(adapter.charge(account, asked, signal), isFault('unknown'));
    const orderId = await adapter.find(account, mark, signal);
    assert.equal((await look(orderId ?? '')).state, 'paid', fault);
  }
});

test('a provider that does not answer, or refuses us, is a fault of its own kind', async () => {
  const { adapter, account, signal } = bench;
  const order = bench.order();
  const nowhere = { ...account, baseUrl: 'http://127.0.0.1:9' };
  await assert.rejects(adapter.open(nowhere, order, signal), isFault('unknown'));
  await assert.rejects(adapter.test(nowhere, signal), isFault('unknown'));
  await assert.rejects(adapter.look(account, 'cs_x', AbortSignal.abort()), isFault('unknown'));
  for (const [status, kind] of [
    [429, 'slow_down'],
    [503, 'unknown'],
    [401, 'misconfigured'],
  ] as const) {
    await tell(bench.sim, '/sim/outage', { status, for_ms: 10_000 });
    await assert.rejects(adapter.open(account, order, signal), isFault(kind), String(status));
    await assert.rejects(adapter.test(account, signal), isFault(kind), String(status));
    await bench.reset();
  }
  await adapter.test(account, signal);
});

test('the list of events tells what webhooks told, the oldest first', async () => {
  const since = new Date(Math.floor(Date.now() / 1_000) * 1_000);
  await bench.fault('lost', { count: 100 });
  const { order, orderId, payment } = await paid();
  await bench.act({ refund: { payment: payment.id, amount: 100 } });
  const { adapter, account, signal } = bench;
  assert.deepEqual(adapter.lists, ['events']);
  const listed = await adapter.list(account, 'events', since, signal);
  const ours = listed.filter(({ paymentIds }) => paymentIds.includes(payment.id));
  assert.deepEqual(
    ours.map(({ type }) => type),
    ['payment_intent.succeeded', 'checkout.session.completed', 'refund.created', 'charge.refunded'],
  );
  assert.deepEqual(ours[1]?.orderIds, [orderId]);
  assert.equal(ours[1]?.purchaseId, order.purchaseId);
});
