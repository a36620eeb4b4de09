// Payment providers under administration: their whole life, secrets that come out of nothing, and a
// call that says whether a key is good.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { tell } from '../../bench/sim/payments.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, everything, openAdminApi, refusal } from './admin-api.ts';

type Members = Record<string, unknown>;

const path = '/payment-providers';
let bed: Testbed;
let adminApi: AdminApi;
before(async () => {
  bed = await openTestbed({ own: 'it changes the catalog and reads the log' });
  adminApi = await openAdminApi(bed);
});
after(() => bed?.close());

const stripe = (name: string, more: Members = {}) => ({
  name,
  kind: 'stripe',
  secret_key: 'sk_test_very-secret-1',
  webhook_secrets: ['whsec_very-secret-2'],
  currencies: ['usd'],
  base_url: bed.dev.simulator_url,
  ...more,
});

test('one is created, read, changed, disabled and deleted, and tells no secret', async () => {
  const texts: string[] = [];
  const call = async (method: string, at: string, body?: Members) => {
    const reply = await adminApi(method, path + at, body === undefined ? {} : { body });
    texts.push(reply.text);
    return reply;
  };
  const made = await call('POST', '', stripe('cards'));
  assert.equal(made.status, 201, made.text);
  const { has_credential, enabled, webhook_secrets, secret_key } = made.json
    .payment_provider as Members;
  assert.deepEqual([has_credential, enabled], [true, true]);
  assert.deepEqual([webhook_secrets, secret_key], [undefined, undefined]);
  assert.equal((await call('POST', '', stripe('cards'))).status, 409);
  const changed = await call('PATCH', '/cards', {
    webhook_secrets: ['whsec_very-secret-3', 'whsec_very-secret-2'],
    currencies: ['usd', 'eur'],
    revision: 1,
  });
  assert.equal((changed.json.payment_provider as Members).revision, 2, changed.text);
  for (const verb of ['disable', 'enable', 'disable']) {
    const reply = await call('POST', `/cards/${verb}`);
    assert.equal((reply.json.payment_provider as Members).enabled, verb === 'enable');
  }
  const elsewhere = refusal(await call('PATCH', '/cards', { base_url: 'https://x.example' }));
  assert.deepEqual([elsewhere.status, elsewhere.details.path], [400, 'secret_key']);
  for (const [body, at] of [
    [{ kind: 'razorpay', currencies: ['inr'] }, 'key_id'],
    [{ currencies: ['usd', 'zzq'] }, 'currencies[1]'],
    [{ currencies: ['USD'] }, 'currencies[0]'],
    [{ unknown: 1 }, 'unknown'],
  ] as const) {
    const { status, details } = refusal(await call('POST', '', stripe('bad', body)));
    assert.deepEqual([status, details.path], [400, at]);
  }
  await call('GET', '?limit=100');
  const events = await everything(adminApi, '/audit?subject=payment_provider:cards');
  assert.equal((await call('DELETE', '/cards')).status, 200);
  assert.equal((await call('GET', '/cards')).status, 404);
  const trail = await bed.sql`SELECT to_jsonb(e) FROM audit_events e`;
  const rows = await bed.sql`SELECT to_jsonb(p) FROM payment_providers p`;
  const written = JSON.stringify([trail, rows, events]);
  for (const text of [...texts, written, bed.gateway.logs.join('\n')]) {
    for (const secret of ['very-secret-1', 'very-secret-2', 'very-secret-3']) {
      assert.ok(!text.includes(secret), secret);
    }
  }
});

test('development has both at the simulator, and a call says whether a key is good', async () => {
  const test = async (name: string) => {
    const reply = await adminApi('POST', `${path}/${name}/test`);
    assert.equal(reply.status, 200, reply.text);
    return (reply.json.test as { failure: string | null }).failure;
  };
  assert.deepEqual([await test('stripe'), await test('razorpay')], [null, null]);
  const sim = { port: Number(new URL(bed.dev.simulator_url).port) };
  for (const [status, failure] of [
    [401, 'credential'],
    [429, 'busy'],
    [500, 'unreachable'],
  ] as const) {
    await tell(sim, '/sim/outage', { status, for_ms: 60_000 });
    assert.deepEqual([await test('stripe'), await test('razorpay')], [failure, failure]);
    await tell(sim, '/sim/reset', {});
  }
  const body = stripe('nowhere', { base_url: 'http://127.0.0.1:9', enabled: false });
  assert.equal((await adminApi('POST', path, { body })).status, 201);
  assert.equal(await test('nowhere'), 'unreachable');
  assert.equal((await adminApi('POST', `${path}/none/test`)).status, 404);
  const events = await everything(adminApi, '/audit?action=payment_provider.test');
  assert.equal(events.length, 9);
});
