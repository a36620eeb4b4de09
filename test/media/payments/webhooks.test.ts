// Webhooks as the adapters read them: real ones of the simulator, and forged ones, of which none
// points at anything.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { paymentAdapters } from '../../../media/payments/adapters.ts';
import type { PaymentKind, Pointer } from '../../../media/payments/contract.ts';
import { type Hook, tell, until, webhookSecret } from '../../bench/sim/payments.ts';
import { type Bench, openBench } from './bench.ts';

const benches = new Map<PaymentKind, Bench>();
before(async () => {
  for (const kind of ['stripe', 'razorpay'] as const) benches.set(kind, await openBench(kind));
});
beforeEach(async () => {
  for (const bench of benches.values()) await bench.reset();
});
after(() => {
  for (const bench of benches.values()) bench.close();
});

const secrets = ['whsec_newer', webhookSecret];

function read(
  kind: PaymentKind,
  { body, headers }: Pick<Hook, 'body' | 'headers'>,
  more: { secrets?: readonly string[]; nowMs?: number } = {},
): Pointer | null {
  const { secrets: known = secrets, nowMs = Date.now() } = more;
  return paymentAdapters[kind].readWebhook(body, (name) => headers[name], known, nowMs);
}

async function pay(bench: Bench): Promise<{ purchaseId: string; orderId: string; proof: unknown }> {
  const { adapter, account, signal } = bench;
  const order = bench.order();
  const checkout = await adapter.open(account, order, signal);
  const { orderId } = checkout;
  if (checkout.type === 'redirect') {
    await fetch(`${checkout.url}?sim=pay`, { redirect: 'manual' });
    return { purchaseId: order.purchaseId, orderId, proof: null };
  }
  const proof = await tell(bench.sim, '/sim/razorpay/pay', { order_id: orderId });
  return { purchaseId: order.purchaseId, orderId, proof };
}

async function hooksOf(kind: PaymentKind) {
  const bench = benches.get(kind);
  assert.ok(bench !== undefined);
  const paid = await pay(bench);
  await until(() => bench.hooks.taken.length === 3);
  return { ...paid, bench, hooks: [...bench.hooks.taken] };
}

for (const kind of ['stripe', 'razorpay'] as const) {
  test(`${kind}: what a webhook points at is what was paid, under either secret`, async () => {
    const { hooks, orderId, purchaseId, bench } = await hooksOf(kind);
    const seen = await bench.adapter.look(bench.account, orderId, bench.signal);
    const [payment] = seen.payments;
    const eventIds = new Set<string>();
    for (const hook of hooks) {
      for (const known of [secrets, [webhookSecret], [webhookSecret, 'other']]) {
        const pointer = read(kind, hook, { secrets: known });
        assert.ok(pointer !== null, hook.type);
        assert.deepEqual(pointer.paymentIds, [payment?.id]);
        assert.equal(pointer.purchaseId, purchaseId);
        assert.equal(pointer.type, hook.type);
        eventIds.add(pointer.eventId);
      }
    }
    assert.equal(eventIds.size, 3);
    assert.ok(hooks.some((hook) => read(kind, hook)?.orderIds.includes(orderId)));
  });

  test(`${kind}: forged ones point at nothing`, async () => {
    const { hooks } = await hooksOf(kind);
    const [hook] = hooks;
    assert.ok(hook !== undefined && read(kind, hook) !== null);
    const { body, headers } = hook;
    assert.equal(read(kind, hook, { secrets: ['whsec_other'] }), null);
    assert.equal(read(kind, hook, { secrets: [] }), null);
    // The same members in other bytes: signed was the spelling.
    const spelled = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1));
    assert.equal(read(kind, { body: spelled, headers }), null);
    assert.equal(read(kind, { body: Buffer.concat([body, Buffer.from(' ')]), headers }), null);
    const name = kind === 'stripe' ? 'stripe-signature' : 'x-razorpay-signature';
    const signature = headers[name] ?? '';
    for (const bad of [undefined, '', 't=1', 'v1=', signature.slice(0, -1), `${signature}0`]) {
      const altered = { ...headers, [name]: bad } as Record<string, string>;
      assert.equal(read(kind, { body, headers: altered }), null, String(bad));
    }
    const [other] = hooks.slice(1);
    assert.equal(read(kind, { body, headers: other?.headers ?? {} }), null);
  });

  test(`${kind}: no byte of it may be another`, async () => {
    const { hooks } = await hooksOf(kind);
    const [hook] = hooks;
    assert.ok(hook !== undefined);
    fc.assert(
      fc.property(fc.nat(hook.body.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const body = Buffer.from(hook.body);
        body[at] = (body[at] ?? 0) ^ flip;
        assert.equal(read(kind, { body, headers: hook.headers }), null);
      }),
      { numRuns: 300 },
    );
  });

  test(`${kind}: whatever headers and bytes come, nothing is thrown`, () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (bytes, signature) => {
        const headers = { 'stripe-signature': signature, 'x-razorpay-signature': signature };
        assert.equal(read(kind, { body: Buffer.from(bytes), headers }), null);
      }),
      { numRuns: 500 },
    );
  });
}

const signOf = (text: string | Uint8Array, secret = webhookSecret) =>
  createHmac('sha256', secret).update(text).digest('hex');

test('stripe: a signature is good for five minutes, and one of several is enough', async () => {
  const { hooks } = await hooksOf('stripe');
  const [hook] = hooks;
  assert.ok(hook !== undefined);
  const nowMs = Date.now();
  for (const [offMs, isGood] of [
    [290_000, true],
    [310_000, false],
    [-290_000, true],
    [-310_000, false],
  ] as const) {
    assert.equal(read('stripe', hook, { nowMs: nowMs + offMs }) !== null, isGood, String(offMs));
  }
  const seconds = Math.floor(nowMs / 1_000);
  const body = hook.body;
  const good = signOf(Buffer.concat([Buffer.from(`${seconds}.`), body]));
  const bad = '0'.repeat(64);
  const isRead = (header: string) =>
    read('stripe', { body, headers: { 'stripe-signature': header } }) !== null;
  assert.ok(isRead(`t=${seconds},v1=${bad},v1=${good}`));
  assert.ok(isRead(`t=${seconds}, v1=${good}, v0=${bad}`));
  assert.ok(!isRead(`t=${seconds},v0=${good}`));
  assert.ok(!isRead(`t=${seconds},t=1,v1=${good}`));
  assert.ok(!isRead(`v1=${good}`));
  assert.ok(!isRead(`t=${seconds + 1},v1=${good}`));
});

test('faults of the simulator: an old time and a wrong signature point at nothing', async () => {
  const bench = benches.get('stripe');
  assert.ok(bench !== undefined);
  for (const fault of ['old_timestamp', 'wrong_signature']) {
    await bench.reset();
    await bench.fault(fault, { count: 3 });
    const { hooks } = await hooksOf('stripe');
    for (const hook of hooks) assert.equal(read('stripe', hook), null, fault);
  }
});

test('razorpay: a proof signs no webhook, and a webhook’s signature proves nothing', async () => {
  const { hooks, proof, bench } = await hooksOf('razorpay');
  const [hook] = hooks;
  assert.ok(hook !== undefined);
  const { razorpay_order_id, razorpay_payment_id, razorpay_signature } = proof as Record<
    string,
    string
  >;
  const headers = { ...hook.headers, 'x-razorpay-signature': razorpay_signature ?? '' };
  assert.equal(read('razorpay', { body: hook.body, headers }), null);
  // What the proof signed, sent as if it were an event.
  const text = Buffer.from(`${razorpay_order_id}|${razorpay_payment_id}`);
  assert.equal(read('razorpay', { body: text, headers }), null);
  const forged = {
    orderId: razorpay_order_id ?? '',
    paymentId: razorpay_payment_id ?? '',
    signature: signOf(text),
  };
  assert.equal(bench.adapter.checkProof?.(bench.account, forged), false);
});

test('what is signed and no event is an error of its provider', () => {
  const nowMs = Date.now();
  const seconds = Math.floor(nowMs / 1_000);
  const stripe = (text: string) => ({ 'stripe-signature': `t=${seconds},v1=${signOf(text)}` });
  for (const text of ['', '[]', '{}', 'no JSON', '{"id":"evt_1","type":"x","created":"now"}']) {
    const body = Buffer.from(text);
    const signed = stripe(`${seconds}.${text}`);
    assert.throws(() => read('stripe', { body, headers: signed }), text);
    const headers = { 'x-razorpay-signature': signOf(text), 'x-razorpay-event-id': 'e' };
    assert.throws(() => read('razorpay', { body, headers }), text);
  }
});

test('an event of another kind is read, and points at nothing of ours', () => {
  const event = {
    id: 'evt_1',
    type: 'customer.created',
    created: 1,
    data: { object: { id: 'c' } },
  };
  const text = JSON.stringify(event);
  const seconds = Math.floor(Date.now() / 1_000);
  const headers = { 'stripe-signature': `t=${seconds},v1=${signOf(`${seconds}.${text}`)}` };
  const pointer = read('stripe', { body: Buffer.from(text), headers });
  assert.deepEqual(pointer, {
    eventId: 'evt_1',
    type: 'customer.created',
    at: new Date(1_000),
    purchaseId: null,
    orderIds: [],
    paymentIds: [],
  });
});
