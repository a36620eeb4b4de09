// How far the credits reach on a managed route: the hold is made for the dearest model that may
// answer, but once one has begun to, what it costs decides.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { ask } from '../../harness/formats.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

/** Microcredits a token: dollars a million × 100 credits × 5 %. */
const cheapMicros = 105n;
const dearMicros = 100n * cheapMicros;
/** A slice of output of the dearest model, and its input. */
const firstHoldMicros = 1_024n * dearMicros + 100n * cheapMicros;

let sim: RunningSim;
let bed: Testbed;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  const routes = [{ provider: 'sim', upstream_model: 'simulated-chat-small-2026-01-15' }];
  const price = { input_per_million: '1', output_per_million: '1' };
  const pool = [
    { model: 'cheap', quality: 90 },
    { model: 'dear', quality: 10 },
  ];
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: [
        { name: 'sim', family: 'openai-chat', base_url: `http://127.0.0.1:${sim.port}/v1` },
      ],
      models: [
        { alias: 'cheap', routes, price },
        { alias: 'dear', routes, price: { ...price, output_per_million: '100' } },
      ],
      routes: [{ alias: 'either', pool, optimizer: 'never' }],
    },
  });
});
after(async () => {
  await bed?.close();
  sim?.close();
});

test('a long answer of a cheap model is not cut for what a dear one would cost', async () => {
  const account = await bed.account({ micros: firstHoldMicros });
  const question = { model: 'either', text: '[[sim tokens=3000]]', stream: true };
  const told = await ask('chat', account, question);
  const { svcUsage, svcRouting } = told;
  assert.ok(svcUsage !== null && svcRouting !== null, told.raw.slice(-500));
  assert.equal(svcRouting.selected_model, 'cheap');
  assert.equal(svcUsage.credits_exhausted, false);
  assert.equal(svcUsage.output_tokens, 3_000);
  const charge = BigInt(svcUsage.input_tokens + 3_000) * cheapMicros;
  assert.equal(BigInt(svcUsage.charge_microcredits), charge);
  assert.equal((await account.quiet()).availableMicros, firstHoldMicros - charge);
});
