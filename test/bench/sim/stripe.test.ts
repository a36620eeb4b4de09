// The vendor's own client, unpatched, straight at the simulator. It makes, reads, expires and pays
// back. A call under a key is done once. Its checker takes the simulator's webhooks.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import Stripe from 'stripe';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { type HookServer, stripeAt, takeHooks, tell, until, webhookSecret } from './payments.ts';

let sim: RunningSim;
let hooks: HookServer;
let stripe: Stripe;
before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 3 });
  hooks = await takeHooks();
  stripe = stripeAt(sim);
  await tell(sim, '/sim/webhooks', { family: 'stripe', url: hooks.url, secret: webhookSecret });
});
beforeEach(async () => {
  await tell(sim, '/sim/reset', {});
  hooks.taken.length = 0;
});
after(() => {
  hooks?.close();
  sim?.close();
});

const order = (more: object = {}) => ({
  mode: 'payment' as const,
  line_items: [
    {
      quantity: 1,
      price_data: { currency: 'usd', unit_amount: 1_000, product_data: { name: 'Starter' } },
    },
  ],
  success_url: 'http://127.0.0.1:1/back?session_id={CHECKOUT_SESSION_ID}',
  cancel_url: 'http://127.0.0.1:1/left',
  metadata: { purchase_id: 'pur_1' },
  payment_intent_data: { metadata: { purchase_id: 'pur_1' } },
  ...more,
});

async function pay(url: string | null, how = 'pay'): Promise<Response> {
  return fetch(`${url}?sim=${how}`, { redirect: 'manual' });
}

const types = () => hooks.taken.map(({ type }) => type);

async function paid(more: object = {}) {
  const session = await stripe.checkout.sessions.create(order(more));
  await pay(session.url);
  return stripe.checkout.sessions.retrieve(session.id, {
    expand: ['payment_intent.latest_charge.refunds', 'payment_intent.payment_method'],
  });
}

function intentOf(session: Stripe.Checkout.Session): Stripe.PaymentIntent {
  const { payment_intent: intent } = session;
  assert.ok(intent !== null && typeof intent === 'object');
  return intent;
}

test('a session is made, paid and read with all that belongs to it', async () => {
  const made = await stripe.checkout.sessions.create(order({ customer_email: 'a@b.example' }));
  assert.deepEqual(
    [made.status, made.payment_status, made.amount_total],
    ['open', 'unpaid', 1_000],
  );
  const reply = await pay(made.url);
  assert.equal(reply.status, 303);
  assert.equal(reply.headers.get('location'), `http://127.0.0.1:1/back?session_id=${made.id}`);
  const session = await stripe.checkout.sessions.retrieve(made.id, {
    expand: ['payment_intent.latest_charge'],
  });
  assert.deepEqual([session.status, session.payment_status], ['complete', 'paid']);
  const intent = intentOf(session);
  assert.deepEqual([intent.status, intent.metadata.purchase_id], ['succeeded', 'pur_1']);
  const charge = intent.latest_charge as Stripe.Charge;
  assert.equal(charge.payment_method_details?.card?.last4, '4242');
  const events = ['charge.succeeded', 'payment_intent.succeeded', 'checkout.session.completed'];
  await until(() => hooks.taken.length === 3);
  assert.deepEqual(types().sort(), [...events].sort());
  const since = await stripe.events.list({ created: { gte: made.created }, limit: 100 });
  const listed = since.data.map(({ type }) => type);
  assert.deepEqual(listed.slice(0, 3), events.reverse());
});

test('the same request under a key is the same session, another is refused', async () => {
  const under = (idempotencyKey: string, more = {}) =>
    stripe.checkout.sessions.create(order(more), { idempotencyKey });
  const first = await under('once');
  const second = await under('once');
  assert.equal(second.id, first.id);
  assert.equal(second.lastResponse.headers['idempotent-replayed'], 'true');
  await assert.rejects(under('once', { customer_email: 'x@y.example' }), {
    type: 'StripeIdempotencyError',
  });
  const view = await (await fetch(`http://127.0.0.1:${sim.port}/sim/payments`)).json();
  assert.equal((view as { keys: Record<string, number> }).keys.once, 3);
});

test('what is cut or fails once it was done is not done again under its key', async () => {
  const count = async () => (await stripe.checkout.sessions.list({ limit: 100 })).data.length;
  const call = (idempotencyKey: string) =>
    stripe.checkout.sessions.create(order(), { idempotencyKey });
  const before = await count();
  // Its client asks once more by itself where a connection is closed.
  await tell(sim, '/sim/payments', { fault: 'cut_accepted' });
  assert.equal((await call('cut')).status, 'open');
  await tell(sim, '/sim/payments', { fault: 'cut_accepted', count: 2 });
  await assert.rejects(call('cut_twice'), { type: 'StripeConnectionError' });
  assert.equal((await call('cut_twice')).status, 'open');
  // A failure is kept under its key as an answer is.
  await tell(sim, '/sim/payments', { fault: '500_accepted' });
  await assert.rejects(call('failed'), { statusCode: 500 });
  await assert.rejects(call('failed'), { statusCode: 500 });
  assert.equal(await count(), before + 3);
});

test('a session expires once, by hand or by its time, and is not paid then', async () => {
  const made = await stripe.checkout.sessions.create(order());
  const expired = await stripe.checkout.sessions.expire(made.id);
  assert.equal(expired.status, 'expired');
  await assert.rejects(stripe.checkout.sessions.expire(made.id), { statusCode: 400 });
  assert.equal((await pay(made.url)).status, 410);
  await assert.rejects(stripe.checkout.sessions.retrieve('cs_none'), { code: 'resource_missing' });
  const soon = Math.floor(Date.now() / 1_000) + 60;
  await assert.rejects(stripe.checkout.sessions.create(order({ expires_at: soon })), {
    param: 'expires_at',
  });
});

test('refunds are partial, repeated under a key, bounded, and may fail later', async () => {
  const { id } = intentOf(await paid());
  const part = { payment_intent: id, amount: 400 };
  const first = await stripe.refunds.create(part, { idempotencyKey: 'rfd_1' });
  const again = await stripe.refunds.create(part, { idempotencyKey: 'rfd_1' });
  assert.deepEqual([first.status, again.id], ['succeeded', first.id]);
  await assert.rejects(stripe.refunds.create({ payment_intent: id, amount: 601 }), {
    param: 'amount',
  });
  await tell(sim, '/sim/payments', { refund: { payment: id, amount: 100, status: 'fails' } });
  await until(() => types().includes('refund.failed'));
  const listed = await stripe.refunds.list({ payment_intent: id, limit: 100 });
  assert.deepEqual(
    listed.data.map(({ amount, status }) => [amount, status]),
    [
      [100, 'failed'],
      [400, 'succeeded'],
    ],
  );
  const intent = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge.refunds'] });
  const charge = intent.latest_charge as Stripe.Charge;
  assert.equal(charge.amount_refunded, 400);
  assert.equal(charge.refunds?.data.length, 2);
});

test('disputes are opened, moved and listed by their payment', async () => {
  const { id } = intentOf(await paid());
  const dispute = (status: string) =>
    tell(sim, '/sim/payments', { dispute: { payment: id, status } });
  await dispute('warning_needs_response');
  await dispute('needs_response');
  await dispute('lost');
  const { data } = await stripe.disputes.list({ payment_intent: id });
  assert.deepEqual(
    data.map(({ status, amount }) => [status, amount]),
    [['lost', 1_000]],
  );
  const [listed] = data;
  assert.equal((await stripe.disputes.retrieve(listed?.id ?? '')).status, 'lost');
  await until(() => types().includes('charge.dispute.closed'));
  assert.equal(types().filter((type) => type === 'charge.dispute.created').length, 1);
});

test('a card that a checkout saved is charged without a person, or says why not', async () => {
  const session = await paid({
    customer_creation: 'always',
    payment_intent_data: { setup_future_usage: 'off_session' },
  });
  const { customer, payment_method: method } = intentOf(session);
  assert.ok(typeof customer === 'string' && typeof method === 'object' && method !== null);
  const charge = (more = {}) =>
    stripe.paymentIntents.create({
      amount: 500,
      currency: 'usd',
      customer,
      payment_method: method.id,
      off_session: true,
      confirm: true,
      error_on_requires_action: true,
      ...more,
    });
  assert.equal((await charge()).status, 'succeeded');
  await tell(sim, '/sim/payments', { fault: 'authentication_required' });
  const wanted = await charge().catch((error: Stripe.errors.StripeCardError) => error);
  assert.ok(wanted instanceof Stripe.errors.StripeCardError);
  assert.equal(wanted.code, 'authentication_required');
  assert.equal(wanted.payment_intent?.status, 'requires_payment_method');
  await tell(sim, '/sim/payments', { fault: 'decline', code: 'stolen_card' });
  await assert.rejects(charge(), { decline_code: 'stolen_card', advice_code: 'do_not_try_again' });
  await assert.rejects(charge({ customer: 'cus_other' }), { param: 'payment_method' });
});

test('a payment that is delayed, doubled, declined or of another amount is told', async () => {
  const delayed = await stripe.checkout.sessions.create(order());
  await pay(delayed.url, 'delay');
  const waiting = await stripe.checkout.sessions.retrieve(delayed.id, {
    expand: ['payment_intent'],
  });
  assert.deepEqual([waiting.status, waiting.payment_status], ['complete', 'unpaid']);
  assert.equal(intentOf(waiting).status, 'processing');
  await until(() => types().includes('checkout.session.async_payment_succeeded'));
  await tell(sim, '/sim/payments', { fault: 'wrong_amount' });
  assert.equal(intentOf(await paid()).amount_received, 1_001);
  hooks.taken.length = 0;
  await tell(sim, '/sim/payments', { fault: 'second_payment' });
  await paid();
  await until(() => types().filter((type) => type === 'checkout.session.completed').length === 2);
  const declined = await stripe.checkout.sessions.create(order());
  assert.match(await (await pay(declined.url, 'decline')).text(), /declined/);
  const open = await stripe.checkout.sessions.retrieve(declined.id, { expand: ['payment_intent'] });
  assert.deepEqual([open.status, intentOf(open).status], ['open', 'requires_payment_method']);
});

test('its own checker takes the webhooks and refuses altered, old and foreign ones', async () => {
  await paid();
  await until(() => hooks.taken.length === 3);
  const check = ({ body, headers }: { body: Buffer; headers: Record<string, string> }) =>
    stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', webhookSecret);
  for (const hook of hooks.taken) assert.equal(check(hook).type, hook.type);
  const [hook] = hooks.taken;
  assert.ok(hook !== undefined);
  const altered = Buffer.from(hook.body.toString().replace('1000', '1001'));
  assert.throws(() => check({ ...hook, body: altered }), /signature/);
  for (const [fault, words] of [
    ['old_timestamp', /tolerance/],
    ['wrong_signature', /signature/],
  ] as const) {
    hooks.taken.length = 0;
    await tell(sim, '/sim/payments', { fault, count: 3 });
    await paid();
    await until(() => hooks.taken.length === 3);
    for (const bad of hooks.taken) assert.throws(() => check(bad), words);
  }
});

test('webhooks are lost, repeated, late, reversed, and sent again if not taken', async () => {
  await tell(sim, '/sim/payments', { fault: 'lost', count: 2 });
  await paid();
  await until(() => hooks.taken.length === 1);
  assert.deepEqual(types(), ['checkout.session.completed']);
  hooks.taken.length = 0;
  await tell(sim, '/sim/payments', { fault: 'five_times', count: 3 });
  await paid();
  await until(() => hooks.taken.length === 15);
  hooks.taken.length = 0;
  await tell(sim, '/sim/payments', { fault: 'reversed', count: 3 });
  await paid();
  await until(() => hooks.taken.length === 3);
  assert.equal(types()[0], 'checkout.session.completed');
  assert.equal(types()[2], 'charge.succeeded');
  hooks.taken.length = 0;
  await tell(sim, '/sim/payments', { fault: 'late', count: 1, delay_ms: 300 });
  await paid();
  await until(() => hooks.taken.length === 3);
  assert.equal(types()[2], 'charge.succeeded');
  hooks.taken.length = 0;
  hooks.answers.push(503, 503, 503);
  await paid();
  await until(() => hooks.taken.length === 6);
});

test('a wrong key is refused, and bad requests of the simulator’s own endpoints', async () => {
  const strict = await startSim({ port: 0, key: 'sk_test_other', seed: 1 });
  try {
    await assert.rejects(stripeAt(strict).balance.retrieve(), { statusCode: 401 });
  } finally {
    strict.close();
  }
  assert.equal((await tell(sim, '/sim/payments', { fault: 'unknown' })).status, 400);
  assert.equal((await tell(sim, '/sim/webhooks', { family: 'other', url: hooks.url })).status, 400);
  assert.equal((await tell(sim, '/sim/payments', { dispute: { payment: 'pi_none' } })).status, 400);
});
