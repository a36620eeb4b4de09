// Buying credits over HTTP, at providers that are simulated over real sockets.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import {
  becomes,
  buy,
  type CheckoutTold,
  callAs,
  payAt,
  payOrder,
  readPurchase,
  tellPayments,
  verify,
} from '../../harness/purchases.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let admin: Pick<TestAccount, 'baseUrl' | 'sessionToken'>;
before(async () => {
  bed = await openTestbed({ own: 'it tells the simulated providers what goes wrong' });
  admin = { baseUrl: bed.url, sessionToken: bed.dev.admin_session_token };
});
after(() => bed?.close());

const empty = () => bed.account({ micros: 1n });
const credits = 1_000_000_000;
const sim = () => bed.dev.simulator_url;

test('a purchase is paid at its provider, and credited once by whatever tells of it', async () => {
  const account = await empty();
  const bought = await buy(account, { return_path: '/voice' });
  assert.equal(bought.status, 201);
  const { purchase, checkout } = bought.body;
  assert.deepEqual(
    [purchase.status, purchase.kind, purchase.provider],
    ['pending', 'checkout', 'stripe'],
  );
  assert.equal(checkout?.type, 'redirect');
  const open = await verify(account, { purchase_id: purchase.id });
  assert.equal(open.body.purchase.status, 'pending');
  assert.ok(open.headers.has('retry-after'));
  await payAt(checkout);
  const answers = await Promise.all(
    [1, 2, 3].map(() => verify(account, { purchase_id: purchase.id })),
  );
  for (const { status, body, headers } of answers) {
    assert.equal(status, 200);
    assert.equal(body.purchase.status, 'completed');
    assert.equal(body.wallet.available_microcredits, credits + 1);
    assert.ok(!headers.has('retry-after'));
  }
});

test('the provider leads back to our own pages, whatever the path looks like', async () => {
  const account = await empty();
  const { body } = await buy(account, { return_path: '//evil' });
  const checkout = body.checkout?.type === 'redirect' ? new URL(body.checkout.url) : null;
  assert.ok(checkout !== null);
  checkout.searchParams.set('sim', 'pay');
  const paid = await fetch(checkout, { redirect: 'manual' });
  await paid.arrayBuffer();
  const back = new URL(paid.headers.get('location') ?? '');
  assert.equal(back.origin, bed.url);
  assert.equal(back.searchParams.get('purchase_id'), body.purchase.id);
  assert.ok(back.searchParams.get('session_id')?.startsWith('cs_'));
});

test('nobody has to come back: the webhook alone credits', async () => {
  const account = await empty();
  const { body } = await buy(account);
  await payAt(body.checkout);
  await becomes(account, body.purchase.id, 'completed');
  assert.equal((await account.balance()).availableMicros, BigInt(credits) + 1n);
});

test('a key names one purchase for a day, and another body under it is refused', async () => {
  const account = await empty();
  const first = await buy(account, {}, 'one');
  const again = await buy(account, {}, 'one');
  assert.deepEqual([first.status, again.status], [201, 200]);
  assert.equal(again.body.purchase.id, first.body.purchase.id);
  assert.deepEqual(again.body.checkout, first.body.checkout);
  const other = await buy(account, { return_path: '/other' }, 'one');
  assert.deepEqual([other.status, other.body.error.code], [422, 'idempotency_key_reused']);
  const many = await Promise.all([1, 2, 3, 4].map(() => buy(account, {}, 'two')));
  assert.equal(new Set(many.map((each) => each.body.purchase.id)).size, 1);
  assert.equal(many.filter(({ status }) => status === 201).length, 1);
});

test('an answer that was cut leaves one purchase and one object', async () => {
  const account = await empty();
  for (const fault of ['cut_accepted', '500_accepted']) {
    await tellPayments(sim(), { fault, family: 'stripe' });
    const cut = await buy(account, {}, fault);
    const again = await buy(account, {}, fault);
    assert.ok(cut.status === 503 || cut.status === 201, `${cut.status}`);
    assert.equal(again.status, 200);
    assert.equal(again.body.checkout?.type, 'redirect');
    await payAt(again.body.checkout);
    await becomes(account, again.body.purchase.id, 'completed');
  }
  assert.equal((await account.balance()).availableMicros, 2n * BigInt(credits) + 1n);
});

const orderOf = (checkout: CheckoutTold | null) =>
  checkout?.type === 'razorpay' ? checkout.order_id : assert.fail('no order');

test('Razorpay: the proof of the client is checked, then the provider is asked', async () => {
  const account = await empty();
  const { body, status } = await buy(account, { provider: 'razorpay' });
  assert.equal(status, 201);
  const proof = await payOrder(sim(), orderOf(body.checkout));
  const forged = { ...proof, razorpay_signature: 'f'.repeat(64) };
  const refused = await verify(account, forged);
  assert.deepEqual([refused.status, refused.body.error.details?.path], [400, 'razorpay_signature']);
  const done = await verify(account, proof);
  assert.equal(done.body.purchase.status, 'completed');
  const elsewhere = await verify(await empty(), proof);
  assert.equal(elsewhere.status, 404, 'another account’s');
});

test('what is authorized late is captured by us', async () => {
  const account = await empty();
  await tellPayments(sim(), { fault: 'late_authorized', family: 'razorpay' });
  const { body } = await buy(account, { provider: 'razorpay' });
  await payOrder(sim(), orderOf(body.checkout));
  await becomes(account, body.purchase.id, 'completed');
});

test('a decline ends it for the client, and a wrong amount credits nothing', async () => {
  const account = await empty();
  await tellPayments(sim(), { fault: 'wrong_amount', family: 'stripe' });
  const wrong = await buy(account);
  await payAt(wrong.body.checkout);
  const told = await verify(account, { purchase_id: wrong.body.purchase.id });
  assert.equal(told.body.purchase.status, 'failed');
  assert.equal((await account.balance()).availableMicros, 1n);
  const list = await fetch(`${bed.url}/api/admin/payments/anomalies`, {
    headers: { 'x-svc-session': bed.dev.admin_session_token },
  });
  const { data } = (await list.json()) as { data: { kind: string; purchase_id: string }[] };
  const mine = data.filter(({ purchase_id: id }) => id === wrong.body.purchase.id);
  assert.deepEqual(
    mine.map(({ kind }) => kind),
    ['wrong_amount'],
  );
});

test('what cannot be bought is refused at its member', async () => {
  const account = await empty();
  const refusals: [Record<string, unknown>, string][] = [
    [{ package_slug: 'none' }, 'package_slug'],
    [{ package_id: 'other' }, 'package_slug'],
    [{ provider: 'none' }, 'provider'],
    [{ currency: 'xyz' }, 'currency'],
    [{ return_path: 'https://evil.example' }, 'return_path'],
    [{ return_path: '//evil.example' }, 'return_path'],
    [{ more: 1 }, 'more'],
  ];
  for (const [wanted, param] of refusals) {
    const { status, body } = await buy(account, wanted);
    assert.deepEqual([status, body.error.details?.path], [400, param], JSON.stringify(wanted));
  }
  const forms = [{}, { purchase_id: 'x', session_id: 'y' }, { razorpay_order_id: 'z' }];
  for (const form of forms) assert.equal((await verify(account, form)).status, 400);
  assert.equal((await verify(account, { session_id: 'cs_none' })).status, 404);
  assert.equal((await readPurchase(account, `pur_${'0'.repeat(24)}`)).status, 404);
});

test('a restricted account buys nothing until that is lifted', async () => {
  const account = await empty();
  const path = `/api/admin/users/${account.accountId}/billing`;
  const restricted = await callAs(admin, path, { restricted: true, reason: 'fraud' });
  assert.equal(restricted.status, 200);
  const refused = await buy(account);
  assert.deepEqual(
    [refused.status, refused.body.error.details?.reason],
    [403, 'billing_restricted'],
  );
  await callAs(admin, path, { restricted: false, reason: 'it was not' });
  assert.equal((await buy(account)).status, 201);
});

test('forged webhooks store nothing and credit nothing', async () => {
  const account = await empty();
  const { body } = await buy(account);
  const event = JSON.stringify({
    id: 'evt_forged',
    created: Math.floor(Date.now() / 1_000),
    type: 'checkout.session.completed',
    data: { object: { id: 'cs_forged', metadata: { purchase_id: body.purchase.id } } },
  });
  const seconds = Math.floor(Date.now() / 1_000);
  const sign = (secret: string, at: number, text = event) =>
    `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${text}`).digest('hex')}`;
  const secret = 'whsec_simulated';
  const forged: Record<string, string> = {
    'wrong secret': sign('whsec_other', seconds),
    'another body': sign(secret, seconds, `${event} `),
    'too old': sign(secret, seconds - 301),
    none: '',
  };
  for (const [what, signature] of Object.entries(forged)) {
    const reply = await fetch(`${bed.url}/api/payments/webhooks/stripe`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'stripe-signature': signature },
      body: event,
    });
    assert.equal(reply.status, 400, what);
    await reply.arrayBuffer();
  }
  const rows = await bed.sql`SELECT 1 FROM payment_events WHERE event_id = 'evt_forged'`;
  assert.equal(rows.length, 0);
  const right = await fetch(`${bed.url}/api/payments/webhooks/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': sign(secret, seconds) },
    body: event,
  });
  assert.equal(right.status, 200, 'signed, and still only a hint');
  assert.equal(
    (await verify(account, { purchase_id: body.purchase.id })).body.purchase.status,
    'pending',
  );
  const unknown = await fetch(`${bed.url}/api/payments/webhooks/none`, {
    method: 'POST',
    body: 'x',
  });
  assert.equal(unknown.status, 404);
});

test('an administrator refunds: credits go, then the money, once an operation', async () => {
  const account = await empty();
  const { body } = await buy(account);
  await payAt(body.checkout);
  const { id } = await becomes(account, body.purchase.id, 'completed');
  const path = `/api/admin/purchases/${id}/refund`;
  const wish = { operation_id: `half-${id}`, amount_cents: 400, reason: 'asked for' };
  const first = await callAs(admin, path, wish);
  assert.equal(first.status, 200);
  assert.deepEqual((await callAs(admin, path, wish)).body, first.body);
  const after = await readPurchase(account, id);
  assert.equal(after.body.purchase.refunded_cents, 400);
  assert.ok(after.body.purchase.reversed_microcredits > 0);
  const rest = await callAs(admin, path, { operation_id: `rest-${id}`, reason: 'the rest' });
  assert.equal(rest.status, 200);
  await becomes(account, id, 'refunded');
  assert.equal((await account.balance()).availableMicros, 1n);
  assert.equal((await callAs(admin, path, { ...wish, operation_id: 'x' })).status, 409);
  const events = await callAs(admin, `/api/admin/purchases/${id}/events`);
  assert.equal(events.status, 200);
});

test('an eleventh open checkout ends the oldest, and twenty an hour are enough', async () => {
  const account = await empty();
  const made: string[] = [];
  for (let at = 0; at < 11; at += 1) made.push((await buy(account)).body.purchase.id);
  await becomes(account, made[0] ?? '', 'expired');
  assert.equal((await readPurchase(account, made[1] ?? '')).body.purchase.status, 'pending');
  for (let at = 11; at < 20; at += 1) await buy(account);
  const refused = await buy(account);
  assert.equal(refused.status, 429);
  assert.ok(refused.headers.has('retry-after'));
});
