// Payment providers are records of the catalog whose secrets are sealed together. Shown are their
// faults, what is stored, told and served, and what development mode declares.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema, packageSchema } from '../../../actors/catalog/document.ts';
import { documentFaults, faultLine } from '../../../actors/catalog/faults.ts';
import { packagePrice } from '../../../actors/catalog/payments/price.ts';
import { paymentProvider } from '../../../actors/catalog/payments/provider.ts';
import { type CatalogStage, type Members, masterKey, openCatalogStage } from './stage.ts';

let stage: CatalogStage;
before(async () => {
  stage = await openCatalogStage();
});
after(() => stage?.close());

const stripe = (more: Members = {}) => ({
  name: 'cards',
  kind: 'stripe',
  secret_key: 'sk_live_canary',
  webhook_secrets: ['whsec_canary'],
  currencies: ['usd', 'eur'],
  ...more,
});
const razorpay = (more: Members = {}) =>
  stripe({ name: 'upi', kind: 'razorpay', key_id: 'rzp_live_1', currencies: ['inr'], ...more });
const patch = (members: Members) => ({ verb: 'update', patch: members }) as const;
const served = (name: string) => paymentProvider({ snapshot: stage.served() }, name);

function linesOf(document: Members): string[] {
  return documentFaults(v.parse(catalogDocumentSchema, document)).map(faultLine);
}

test('a provider that contradicts itself is a fault with its path', () => {
  const lines = (record: Members) => linesOf({ payment_providers: [record] });
  assert.deepEqual([...lines(stripe()), ...lines(razorpay())], []);
  const { key_id: _id, ...withoutId } = razorpay() as Members;
  const path = 'payment_providers[0]';
  assert.deepEqual(lines(withoutId), [`${path}.key_id: razorpay needs one`]);
  assert.deepEqual(lines(stripe({ key_id: 'x' })), [`${path}.key_id: stripe has none`]);
  assert.deepEqual(lines(razorpay({ automatic_tax: true })), [
    `${path}.automatic_tax: razorpay adds no taxes`,
  ]);
  assert.deepEqual(lines(stripe({ webhook_secrets: ['a', 'a'] })), [
    `${path}.webhook_secrets[1]: it is there twice`,
  ]);
  assert.deepEqual(lines(stripe({ currencies: ['usd', 'qqq', 'usd'] })), [
    `${path}.currencies[1]: there is no currency "qqq"`,
    `${path}.currencies[2]: "usd" is there twice`,
  ]);
  assert.match(lines(stripe({ base_url: 'http://169.254.169.254' }))[0] ?? '', /base_url/);
  for (const bad of [
    { kind: 'paypal' },
    { currencies: [] },
    { currencies: ['USD'] },
    { webhook_secrets: [] },
    { webhook_secrets: ['a', 'b', 'c'] },
    { secret_key: 'with a blank' },
    { unknown: 1 },
  ]) {
    const document = { payment_providers: [stripe(bad)] };
    assert.ok(!v.safeParse(catalogDocumentSchema, document).success, JSON.stringify(bad));
  }
});

test('a package has one price a currency, in whole minor units', () => {
  const offered = (more: Members) => ({
    slug: 'a',
    name: 'A',
    credits: 1,
    price_usd: '10',
    ...more,
  });
  const priced = (more: Members, code: string) =>
    packagePrice(v.parse(packageSchema, offered(more)), code);
  assert.equal(priced({}, 'usd'), 1_000);
  assert.equal(priced({ price_usd: '10.5' }, 'usd'), 1_050);
  assert.equal(priced({ price_usd: '0.070' }, 'usd'), 7);
  assert.equal(priced({ price_usd: '0' }, 'usd'), 0);
  assert.equal(priced({ price_usd: '0.005' }, 'usd'), null);
  assert.equal(priced({ price_usd: '999999999.99' }, 'usd'), 99_999_999_999);
  assert.equal(priced({ prices: { eur: 950 } }, 'eur'), 950);
  assert.equal(priced({ prices: { eur: 950 } }, 'inr'), null);
  const lines = (more: Members) => linesOf({ packages: [offered(more)] });
  assert.deepEqual(lines({ prices: { usd: 1_000, eur: 950, inr: 85_000 } }), []);
  assert.deepEqual(lines({ prices: { usd: 999 } }), [
    'packages[0].prices.usd: price_usd says 1000',
  ]);
  assert.deepEqual(lines({ prices: { qqq: 1 } }), [
    'packages[0].prices.qqq: there is no currency "qqq"',
  ]);
  assert.deepEqual(lines({ price_usd: '0.00', prices: { eur: 1 } }), [
    'packages[0].prices: what is free in dollars has no other price',
  ]);
  for (const prices of [{ eur: 0 }, { eur: 1.5 }, { EUR: 5 }, { eur: '5' }]) {
    assert.ok(!v.safeParse(packageSchema, offered({ prices })).success, JSON.stringify(prices));
  }
});

test('its secrets are sealed, served to threads, and stand in no definition or event', async () => {
  const definition = stripe({ base_url: 'https://pay.example/' });
  const made = await stage.change('payment_providers', 'cards', { verb: 'create', definition });
  assert.equal(made.status, 'changed');
  const { account, webhookSecrets, enabled } = served('cards') ?? assert.fail();
  assert.deepEqual(account, {
    kind: 'stripe',
    baseUrl: 'https://pay.example',
    secretKey: 'sk_live_canary',
    keyId: null,
    automaticTax: false,
  });
  assert.deepEqual([webhookSecrets, enabled], [['whsec_canary'], true]);
  const change = (members: Members) => stage.change('payment_providers', 'cards', patch(members));
  await change({ webhook_secrets: ['whsec_canary_2', 'whsec_canary'] });
  assert.deepEqual(served('cards')?.webhookSecrets, ['whsec_canary_2', 'whsec_canary']);
  assert.equal(served('cards')?.account.secretKey, 'sk_live_canary');
  await stage.change('payment_providers', 'cards', { verb: 'disable' });
  assert.equal(served('cards')?.enabled, false);
  assert.deepEqual(await stage.stored('payment_providers', 'cards'), {
    name: 'cards',
    kind: 'stripe',
    currencies: ['usd', 'eur'],
    base_url: 'https://pay.example/',
    enabled: false,
  });
  const [row] = await stage.sql`
    SELECT (SELECT json_agg(p)::text FROM payment_providers AS p)
      || (SELECT json_agg(e)::text FROM audit_events AS e) AS written`;
  assert.ok(!String(row?.written).includes('canary'));
  assert.ok(String(row?.written).includes('payment_provider.update'));
});

test('what is stored is not sent to another server, nor under another kind', async () => {
  const change = (members: Members) => stage.change('payment_providers', 'cards', patch(members));
  const refused = { status: 'invalid', path: 'secret_key' };
  for (const members of [
    { base_url: 'https://evil.example' },
    { base_url: null },
    { kind: 'razorpay', key_id: 'x', base_url: null },
    { base_url: 'https://evil.example', webhook_secrets: ['mine'] },
  ]) {
    const { status, path } = (await change(members)) as { status: string; path?: string };
    assert.deepEqual({ status, path }, refused, JSON.stringify(members));
  }
  assert.equal((await change({ base_url: 'https://pay.example/v2' })).status, 'changed');
  const moved = await change({ base_url: null, secret_key: 'sk_live_canary_2' });
  assert.equal(moved.status, 'changed');
  assert.equal(served('cards')?.account.baseUrl, 'https://api.stripe.com');
});

test('a file declares them; credentials are compared, and sealed anew', async () => {
  const file = { payment_providers: [razorpay()] };
  const lines = await stage.start(file);
  assert.ok(lines.includes('+ payment_provider upi'), lines.join('\n'));
  assert.ok((await stage.start(file)).includes('= nothing to change'));
  const changed = { payment_providers: [razorpay({ webhook_secrets: ['other'] })] };
  assert.ok((await stage.start(changed)).includes('~ payment_provider upi: secret_key'));
  const key = randomBytes(32).toString('base64url');
  await stage.start(changed, { key, previousKey: masterKey });
  const [row] = await stage.sql`
    SELECT count(*)::integer AS events FROM audit_events WHERE action = 'payment_provider.reseal'`;
  assert.ok(Number(row?.events) >= 1);
  await stage.start(changed, { previousKey: key });
  await stage.change('payment_providers', 'upi', { verb: 'disable' });
  assert.deepEqual(served('upi')?.webhookSecrets, ['other']);
  assert.equal(served('upi')?.account.keyId, 'rzp_live_1');
});

test('development has both at the simulator, or at vendors whose keys are all set', async () => {
  const dev = (more: Record<string, string> = {}) => ({ TOLLGATE_MODE: 'dev', ...more });
  const at = (name: string) => stage.stored('payment_providers', name);
  await stage.start(null, { env: dev(), simulatorUrl: 'http://127.0.0.1:1001' });
  assert.equal((await at('stripe'))?.base_url, 'http://127.0.0.1:1001');
  assert.equal((await at('razorpay'))?.key_id, 'rzp_test_simulated');
  // Its address is new with each start, and that is no change of an administrator's.
  await stage.change('payment_providers', 'razorpay', { verb: 'disable' });
  await stage.start(null, { env: dev(), simulatorUrl: 'http://127.0.0.1:1002' });
  const { base_url, enabled } = (await at('razorpay')) ?? {};
  assert.deepEqual([base_url, enabled], ['http://127.0.0.1:1002', false]);
  const keys = { STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };
  await stage.start(null, { env: dev(keys), simulatorUrl: 'http://127.0.0.1:1002' });
  assert.equal((await at('stripe'))?.base_url, undefined);
  assert.equal((await at('razorpay'))?.base_url, 'http://127.0.0.1:1002');
  for (const name of Object.keys(keys)) {
    const { [name as keyof typeof keys]: _left, ...partial } = keys;
    await assert.rejects(
      stage.start(null, { env: dev(partial) }),
      new RegExp(`${name} is missing`),
    );
  }
  const partial = dev({ RAZORPAY_KEY_ID: 'rzp_1', RAZORPAY_KEY_SECRET: 'x' });
  await assert.rejects(stage.start(null, { env: partial }), /RAZORPAY_WEBHOOK_SECRET is missing/);
});
