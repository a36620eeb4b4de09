// What the policy blocks sends a provider nothing: their requests are counted. A change of settings
// holds for the next call, while others go on.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OrganizationSettings } from '../../../actors/organization/settings.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { Contract } from '../../harness/contract.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type Company, makeCompany, rowOf } from './company.ts';

const secret = 'sk-provider-secret-42';
const running: RunningSim[] = [];
let bed: Testbed;
let company: Company;
let key: string;
let european: Simulator;
let american: Simulator;

async function provider(name: string, region: string): Promise<[Simulator, object]> {
  const sim = await startSim({ port: 0, key: secret, seed: 1 });
  running.push(sim);
  const url = `http://127.0.0.1:${sim.port}`;
  const place = { base_url: `${url}/v1/`, api_key: secret, public_name: name, region };
  return [new Simulator(url), { name, family: 'openai-chat', ...place }];
}

before(async () => {
  const [one, acme] = await provider('acme', 'eu');
  const [two, bolt] = await provider('bolt', 'us');
  [european, american] = [one, two];
  const price = { input_per_million: '1', output_per_million: '2' };
  const route = (name: string) => ({
    provider: name,
    upstream_model: 'simulated-chat-small-2026-01-15',
  });
  bed = await openTestbed({
    env: { TOLLGATE_REGION: 'eu' },
    catalog: {
      providers: [acme, bolt],
      models: [
        { alias: 'both', routes: [route('bolt'), route('acme')], price },
        { alias: 'european', routes: [route('acme')], price },
        { alias: 'american', routes: [route('bolt')], price },
      ],
    },
  });
  company = await makeCompany(bed, await Contract.load(bed.url));
  const { wallet_id: walletId } = await rowOf(bed, company);
  await bed.wallet(walletId, 'grant', {
    ...{ operationId: `test.${walletId}`, kind: 'promotion', amountMicros: 1_000_000_000n },
    ...{ note: 'test', expiresAtMs: null },
  });
  const made = await company.owner.call('POST', `${company.path}/keys`, {
    label: 'there',
    scopes: ['models:generate', 'models:read'],
  });
  assert.equal(made.status, 201, made.text);
  key = made.json.raw_token as string;
});
after(async () => {
  await bed?.close();
  for (const sim of running) sim.close();
});

async function set(settings: Partial<OrganizationSettings>): Promise<void> {
  const reply = await company.owner.call('PATCH', `${company.path}/settings`, { settings });
  assert.equal(reply.status, 200, reply.text);
}

const messages = [{ role: 'user', content: 'Hello' }];
/** The forms in which a model is asked. */
const forms: readonly [string, (model: string) => object][] = [
  ['/v1/chat/completions', (model) => ({ model, messages })],
  ['/v1/chat/completions', (model) => ({ model, messages, stream: true })],
  ['/v1/responses', (model) => ({ model, input: 'Hello' })],
  ['/v1/responses', (model) => ({ model, input: 'Hello', background: true })],
  ['/v1/messages', (model) => ({ model, messages, max_tokens: 20 })],
];

/** The status, and the code of a refusal. */
async function ask(model: string, form = 0): Promise<string> {
  const [path, bodyOf] = forms[form] ?? forms[0] ?? ['', () => ({})];
  const reply = await fetch(bed.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(model)),
  });
  const text = await reply.text();
  return /A policy does not allow/.test(text)
    ? `${reply.status} policy_blocked`
    : `${reply.status}`;
}

const started = async (): Promise<[number, number]> => [
  (await european.stats()).started,
  (await american.stats()).started,
];

/** Every form of it is blocked, and neither provider was asked anything. */
async function assertBlocked(model: string): Promise<void> {
  const before = await started();
  for (const form of forms.keys()) {
    const [path] = forms[form] ?? [];
    assert.equal(await ask(model, form), '403 policy_blocked', path);
  }
  assert.deepEqual(await started(), before, `${model}: no packet`);
}

test('a blocked model, provider or region is not asked, in whichever form', async () => {
  const free = await started();
  for (const form of forms.keys()) assert.equal(await ask('american', form), '200');
  assert.ok((await started())[1] >= free[1] + forms.length - 1, 'it is asked while nothing blocks');
  await set({ routing_policy: { denied_models: ['american'] } });
  await assertBlocked('american');
  await set({ routing_policy: { allowed_providers: ['acme'] } });
  await assertBlocked('american');
  await set({ routing_policy: {}, data_residency_region: 'eu' });
  await assertBlocked('american');
  const before = await started();
  for (let calls = 0; calls < 10; calls += 1) assert.equal(await ask('both'), '200');
  assert.equal(await ask('european'), '200');
  assert.deepEqual(await started(), [before[0] + 11, before[1]], 'only the region is asked');
  await set({ data_residency_region: 'auto' });
  assert.equal(await ask('american'), '200');
});

test('a change holds for the next call, while others are under way', async () => {
  console.log(`# seed ${testSeed}`);
  const random = createRandom(testSeed);
  let going = true;
  const others = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (going) await ask('european');
    }),
  );
  after(() => {
    going = false;
  });
  for (let round = 0; round < 15; round += 1) {
    const isRegion = random() < 0.5;
    await set(
      isRegion
        ? { data_residency_region: 'eu' }
        : { routing_policy: { denied_models: ['american'] } },
    );
    const [, before] = await started();
    // Whichever shard each meets.
    const told = await Promise.all(Array.from({ length: 6 }, () => ask('american')));
    assert.deepEqual([...new Set(told)], ['403 policy_blocked'], `round ${round}`);
    assert.equal((await started())[1], before);
    await set({ data_residency_region: 'auto', routing_policy: {} });
    assert.equal(await ask('american'), '200', `round ${round}`);
  }
  going = false;
  await others;
});
