// Structured output of models that cannot constrain it, through a real gateway: withheld until it
// is valid, repaired once, and every call of it in the wallet to the microcredit.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { ask, type Format, formats, post } from '../../harness/formats.ts';
import { type ScriptedProvider, startProvider } from '../../harness/provider.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let sim: RunningSim;
let simulator: Simulator;
let scripted: ScriptedProvider;
let bed: Testbed;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  simulator = new Simulator(`http://127.0.0.1:${sim.port}`);
  scripted = await startProvider({ kind: 'answer', text: '{}' });
  const upstream = 'simulated-chat-small-2026-01-15';
  const price = { input_per_million: '10', output_per_million: '20' };
  const tiers = [{ min_input_tokens: 60, input_per_million: '1000', output_per_million: '1000' }];
  const loose = { provider: 'loose', upstream_model: upstream };
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: [
        { name: 'loose', family: 'openai-chat', base_url: `${simulator.url}/v1` },
        { name: 'scripted', family: 'openai-chat', base_url: scripted.url },
      ],
      models: [
        { alias: 'loose', routes: [loose], price },
        { alias: 'tiered', routes: [loose], price: { ...price, pricing_tiers: tiers } },
        {
          alias: 'strict',
          routes: [loose],
          price,
          capabilities: ['chat', 'structured_output'],
        },
        {
          alias: 'scripted',
          routes: [{ provider: 'scripted', upstream_model: 'scripted' }, loose],
          price,
        },
        { alias: 'alone', routes: [{ provider: 'scripted', upstream_model: 'alone' }], price },
      ],
    },
  });
});
after(async () => {
  await bed?.close();
  sim?.close();
  scripted?.close();
});

const schema = { type: 'object', properties: {}, additionalProperties: false };

function asked(format: Format): Record<string, unknown> {
  if (format === 'responses') {
    return { text: { format: { type: 'json_schema', name: 'empty', schema, strict: true } } };
  }
  const json_schema = { name: 'empty', schema, strict: true };
  return { response_format: { type: 'json_schema', json_schema } };
}

const cost = (input: number, output: number) => BigInt(Math.ceil(input * 1_050 + output * 2_100));

for (const format of formats) {
  test(`${format}: a good object is withheld, then told in one delta`, async () => {
    const account = await bed.account();
    const members = asked(format);
    const question = { model: 'loose', text: '[[sim json=good]]', members, stream: true };
    const told = await ask(format, account, question);
    assert.equal(told.text, '{}', told.raw);
    const sent = JSON.stringify(await simulator.lastBody());
    assert.match(sent, /JSON Schema/);
    assert.doesNotMatch(sent, /response_format/);
  });

  test(`${format}: what breaks the schema is repaired once, and both are paid`, async () => {
    for (const stream of [true, false]) {
      await simulator.reset();
      const account = await bed.account();
      const { availableMicros: before } = await account.balance();
      const question = {
        model: 'loose',
        text: '[[sim json=repair]]',
        members: asked(format),
        stream,
      };
      const told = await ask(format, account, question);
      assert.equal(told.text, '{}', told.raw);
      assert.doesNotMatch(told.raw, /simulated_violation/);
      assert.equal((await simulator.stats()).started, 2);
      const usage = told.svcUsage;
      assert.ok(usage !== null && usage.source === 'reported');
      assert.ok(usage.output_tokens > 1);
      const charge = cost(usage.input_tokens, usage.output_tokens);
      assert.equal(BigInt(usage.charge_microcredits), charge);
      assert.equal(before - (await account.quiet()).availableMicros, charge);
      const renewals = await bed.sql`SELECT 1 FROM ledger
        WHERE wallet_id = ${account.walletId} AND kind = 'extend'`;
      assert.equal(renewals.length, 1, 'the hold outlives the second answer as well');
    }
  });

  test(`${format}: bad twice is an error, and both calls are paid`, async () => {
    for (const stream of [true, false]) {
      await simulator.reset();
      const account = await bed.account();
      const { availableMicros: before } = await account.balance();
      const question = { model: 'loose', text: '[[sim json=bad]]', members: asked(format), stream };
      const told = await ask(format, account, question);
      assert.doesNotMatch(told.raw, /simulated_violation/);
      assert.ok(told.error !== null, told.raw);
      if (!stream) {
        assert.equal(told.status, 502);
        assert.equal(told.headers.get('x-should-retry'), 'false');
      }
      assert.equal((await simulator.stats()).started, 2);
      const paid = before - (await account.quiet()).availableMicros;
      const [row] = await bed.sql<{ usage: { input_tokens: number; output_tokens: number } }[]>`
        SELECT usage FROM generations WHERE account_id = ${account.accountId}`;
      assert.ok(row !== undefined);
      assert.equal(paid, cost(row.usage.input_tokens, row.usage.output_tokens));
    }
  });
}

test('a code fence is no part of the object', async () => {
  const account = await bed.account();
  for (const stream of [true, false]) {
    const question = {
      model: 'loose',
      text: '[[sim text=```json_{}_```]]',
      members: asked('chat'),
      stream,
    };
    assert.equal((await ask('chat', account, question)).text, '{}');
  }
});

test('a model that constrains is told the schema as its member', async () => {
  const account = await bed.account();
  const question = { model: 'strict', text: '[[sim json=good]]', members: asked('chat') };
  assert.equal((await ask('chat', account, question)).text, '{}');
  assert.match(JSON.stringify(await simulator.lastBody()), /response_format/);
});

test('each call is priced in its own tier', async () => {
  const account = await bed.account();
  const question = { model: 'tiered', text: '[[sim json=repair]]', members: asked('chat') };
  const told = await ask('chat', account, question);
  const usage = told.svcUsage;
  assert.ok(usage !== null, told.raw);
  assert.ok(usage.input_tokens > 60, `${usage.input_tokens} of both calls`);
  assert.equal(BigInt(usage.charge_microcredits), cost(usage.input_tokens, usage.output_tokens));
});

test('when the repair fails the answer is an error, and its first call is paid', async () => {
  await simulator.reset();
  await simulator.outage(500, 60_000);
  const account = await bed.account();
  const { availableMicros: before } = await account.balance();
  scripted.first = [
    { kind: 'answer', text: '{"no":1}' },
    { kind: 'status', status: 500 },
  ];
  const question = { model: 'scripted', text: 'x', members: asked('chat') };
  const told = await ask('chat', account, question);
  await simulator.outage(0, 0);
  assert.equal(told.status, 502, told.raw);
  assert.equal(before - (await account.quiet()).availableMicros, cost(10, 3));
});

test('a repair that its route fails is asked of the next route of the same model', async () => {
  await simulator.reset();
  const account = await bed.account();
  scripted.first = [{ kind: 'answer', text: '{"no":1}' }, { kind: 'cutAfterDelta' }];
  const question = { model: 'scripted', text: '[[sim json=good]]', members: asked('chat') };
  const told = await ask('chat', account, question);
  assert.equal(told.text, '{}', told.raw);
  assert.equal((await simulator.stats()).started, 1);
  assert.equal((await account.quiet()).heldMicros, 0n);
});

test('a wallet that cannot pay for the repair pays for the first call alone', async () => {
  await simulator.reset();
  // The hold of one call: about 60 tokens of input and a slice of output.
  const members = { ...asked('chat'), max_output_tokens: 16 };
  const account = await bed.account({ micros: 80_000n });
  const question = { model: 'loose', text: '[[sim json=bad]]', members };
  const told = await ask('chat', account, question);
  assert.equal(told.status, 402, told.raw);
  assert.equal(told.error?.code, 'insufficient_credits');
  assert.equal(told.headers.get('x-should-retry'), 'false');
  assert.equal((await simulator.stats()).started, 1);
  const [row] = await bed.sql<{ usage: { input_tokens: number; output_tokens: number } }[]>`
    SELECT usage FROM generations WHERE account_id = ${account.accountId}`;
  assert.ok(row !== undefined);
  const paid = 80_000n - (await account.quiet()).availableMicros;
  assert.equal(paid, cost(row.usage.input_tokens, row.usage.output_tokens));
  const shortfalls = await bed.sql`SELECT 1 FROM ledger
    WHERE wallet_id = ${account.walletId} AND shortfall_micros <> 0`;
  assert.equal(shortfalls.length, 0);
});

test('who leaves a withheld answer pays nothing, and the provider is stopped', async () => {
  await simulator.reset();
  const account = await bed.account();
  const { availableMicros: before } = await account.balance();
  const control = new AbortController();
  const text = '[[sim tokens=400 gap_ms=20]]';
  const question = { model: 'loose', text, members: asked('chat'), signal: control.signal };
  const reply = post('chat', account, question).catch(() => null);
  await simulator.expect({ open: 1 });
  control.abort();
  await reply;
  await simulator.expect({ started: 1, aborted: 1, open: 0 });
  assert.equal((await account.quiet()).availableMicros, before);
});

test('who cancels before a repair has begun was shown nothing, and pays nothing', async () => {
  const account = await bed.account();
  const { availableMicros: before } = await account.balance();
  scripted.bodies.length = 0;
  scripted.first = [{ kind: 'answer', text: '{"no":1}' }, { kind: 'stallInStream' }];
  const key = 'cancelled-repair';
  const members = asked('chat');
  const told = ask('chat', account, { model: 'alone', text: 'x', members, key, stream: true });
  for (let waits = 0; scripted.bodies.length < 2 && waits < 1_000; waits += 1) await sleep(10);
  const cancelled = await fetch(`${account.baseUrl}/v1/generations/${key}/cancel`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}` },
  });
  assert.equal(cancelled.status, 200, await cancelled.text());
  const { text, svcUsage, raw } = await told;
  assert.equal(text, '', raw);
  assert.equal(svcUsage?.charge_microcredits, 0, raw);
  assert.equal((await account.quiet()).availableMicros, before);
});

test('an answer that is cut at its ceiling is told as far as it came', async () => {
  const account = await bed.account();
  const members = { ...asked('chat'), max_output_tokens: 1 };
  const question = { model: 'loose', text: '[[sim json=bad]]', members, stream: true };
  const told = await ask('chat', account, question);
  assert.equal(told.error, null);
  assert.match(told.text, /^\{"simulated/);
});
