// Stop sequences with a model whose provider knows none: the answer ends before them, in either
// form, and what was told is charged.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { anthropic, textOf } from '../../conformance/anthropic-client.ts';
import { openAi, svcUsage, user } from '../../conformance/client.ts';
import { simulatedPrices } from '../../conformance/pairs/play.ts';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let sim: RunningSim;
let bed: Testbed;
let account: TestAccount;
before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  const url = `http://127.0.0.1:${sim.port}/v1`;
  const upstream = 'simulated-responses-large-2026-01-15';
  const models = ['plain', 'thinker'].map((alias) => ({
    alias,
    routes: [{ provider: 'far', upstream_model: upstream }],
    price: simulatedPrices,
    capabilities: alias === 'plain' ? ['chat', 'tools'] : ['chat', 'reasoning'],
  }));
  const provider = { name: 'far', family: 'openai-responses', base_url: url, simulated: true };
  bed = await openTestbed({ catalog: { providers: [provider], models } });
  account = await bed.account();
});
after(async () => {
  await bed?.close();
  await sim?.close();
});

const messages = user('count [[sim tokens=9]]');

test('a client of Chat: streamed, replayed whole, and charged for what it was told', async () => {
  const client = openAi(account);
  const body = { model: 'plain', messages, stop: ['3 t', 'never'] };
  const options = { headers: { 'idempotency-key': 'stops' } };
  const stream = client.chat.completions.stream({ ...body, stream: true }, options);
  const streamed = await stream.finalChatCompletion();
  const whole = await client.chat.completions.create(body, options);
  for (const { choices } of [streamed, whole]) {
    assert.equal(choices[0]?.message.content, ' t0 t1 t2 t');
    assert.equal(choices[0]?.finish_reason, 'stop');
  }
  const usage = svcUsage(whole);
  assert.equal(usage?.source, 'estimated');
  assert.ok((usage?.charge_microcredits ?? 0) > 0);
});

test('a client of Messages is told which sequence it was', async () => {
  const body = { model: 'plain', max_tokens: 50, messages: [...messages] as never[] };
  const reply = await anthropic(account).messages.create({ ...body, stop_sequences: [' t3'] });
  assert.equal(textOf(reply), ' t0 t1 t2');
  assert.equal(reply.stop_reason, 'stop_sequence');
  assert.equal(reply.stop_sequence, ' t3');
});

test('an answer that begins with it costs its input', async () => {
  const body = { model: 'plain', messages, stop: ' t0' };
  const reply = await openAi(account).chat.completions.create(body);
  assert.equal(reply.choices[0]?.message.content, '');
  const usage = svcUsage(reply);
  assert.equal(usage?.source, 'reported');
  assert.equal(usage?.input_tokens, 3);
  assert.equal(usage?.output_tokens, 0);
});

test('models that reason refuse it, as their vendor does', async () => {
  const body = { model: 'thinker', messages, stop: ' t3' };
  await assert.rejects(openAi(account).chat.completions.create(body), {
    status: 400,
    param: 'stop',
  });
});
