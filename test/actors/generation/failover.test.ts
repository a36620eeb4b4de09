// A model with several provider routes: who answers when one fails, in which order they are tried
// afterwards, and what the client is told when none is left.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { askChat, streamChat } from '../../harness/chat.ts';
import { ask, type Format } from '../../harness/formats.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

const secret = 'sk-provider-secret-42';
const running: RunningSim[] = [];
let bed: Testbed;
let first: Simulator;
let second: Simulator;

async function provider(name: string, seed: number): Promise<[Simulator, object]> {
  const sim = await startSim({ port: 0, key: secret, seed });
  running.push(sim);
  const url = `http://127.0.0.1:${sim.port}`;
  const record = { name, family: 'openai-chat', base_url: `${url}/v1/`, api_key: secret };
  return [new Simulator(url), record];
}

before(async () => {
  const [one, firstRecord] = await provider('first', 1);
  const [two, secondRecord] = await provider('second', 2);
  [first, second] = [one, two];
  const upstream = 'simulated-chat-small-2026-01-15';
  const price = { input_per_million: '1', output_per_million: '2' };
  const nowhere = { name: 'nowhere', family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' };
  const route = (name: string) => ({ provider: name, upstream_model: upstream });
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: [firstRecord, secondRecord, nowhere],
      models: [
        { alias: 'two-routes', routes: [route('first'), route('second')], price },
        { alias: 'gone-first', routes: [route('nowhere'), route('second')], price },
        { alias: 'gone', routes: [route('nowhere')], price },
        {
          alias: 'free',
          routes: [route('second')],
          price: { input_per_million: '0', output_per_million: '0' },
        },
        { alias: 'hidden', routes: [route('first')], price, enabled: false },
      ],
    },
  });
});
after(async () => {
  await bed?.close();
  for (const sim of running) sim.close();
});

async function reset(): Promise<void> {
  await Promise.all([first.reset(), second.reset()]);
}

async function started(): Promise<[number, number]> {
  return [(await first.stats()).started, (await second.stats()).started];
}

const model = 'two-routes';

test('the declared order is kept while all is well', async () => {
  await reset();
  const account = await bed.account();
  for (let round = 0; round < 3; round += 1) {
    const { status, body } = await askChat(account, '[[sim tokens=2]]', { model });
    assert.equal(status, 200);
    assert.equal(body.model, model);
    assert.equal(body.svc_usage.simulated, false);
    assert.equal(body.svc_usage.charge_microcredits, Math.ceil(2 * 105 + 2 * 210));
  }
  assert.deepEqual(await started(), [3, 0]);
});

for (const status of [500, 429, 408, 401]) {
  test(`a ${status} of the first route is answered by the second, charged once`, async () => {
    await reset();
    await first.outage(status, 60_000);
    const account = await bed.account();
    const stream = await streamChat(account, '[[sim tokens=2]]', { model });
    assert.equal(stream.text, ' t0 t1');
    assert.equal(stream.svcUsage?.charge_microcredits, 630);
    const { availableMicros } = await account.quiet();
    assert.equal(availableMicros, 1_000_000_000n - 630n);
    const [, atSecond] = await started();
    assert.equal(atSecond, 1);
  });
}

test('a route that just failed is tried last, and first again after a success', async () => {
  await reset();
  const account = await bed.account();
  // What came before has put the first route to rest.
  const { status } = await askChat(account, '[[sim tokens=2]]', { model });
  assert.equal(status, 200);
  assert.deepEqual(await started(), [0, 1]);
  await second.outage(500, 60_000);
  const again = await askChat(account, '[[sim tokens=2]]', { model });
  assert.equal(again.status, 200);
  assert.deepEqual(await started(), [1, 2]);
  await second.outage(0, 0);
  await askChat(account, '[[sim tokens=2]]', { model });
  assert.deepEqual(await started(), [2, 2]);
});

test('a stream that fails before its first delta goes on at the other route', async () => {
  await reset();
  const account = await bed.account();
  const stream = await streamChat(account, '[[sim fault=cut at=1 gap_ms=10]]', { model });
  // Both have the fault; what counts is that both were asked, and nothing is charged.
  assert.equal(stream.error?.code, 'upstream_error');
  assert.deepEqual(await started(), [1, 1]);
  assert.equal((await account.quiet()).availableMicros, 1_000_000_000n);
});

test('after the first delta there is no other route', async () => {
  await reset();
  const account = await bed.account();
  const stream = await streamChat(account, '[[sim fault=cut at=4 gap_ms=10]]', { model });
  assert.equal(stream.error?.code, 'upstream_error');
  const [one, two] = await started();
  assert.equal(one + two, 1);
});

test('what a provider refuses as invalid is asked of no other', async () => {
  await reset();
  const account = await bed.account();
  const { status } = await askChat(account, '[[sim status=400]]', { model });
  assert.equal(status, 400);
  const [one, two] = await started();
  assert.equal(one + two, 1);
});

test('when every route is busy the client is told when to come back', async () => {
  await reset();
  const account = await bed.account();
  for (const stream of [false, true]) {
    const reply = await askChat(account, '[[sim status=429 retry_after=3]]', { model, stream });
    assert.equal(reply.status, 503);
    assert.equal(reply.body.error?.code, 'upstream_busy');
    assert.equal(reply.headers.get('retry-after'), '3');
  }
  // The second time the first route is left alone, as it asked: the last one must be tried.
  assert.deepEqual(await started(), [1, 2]);
  assert.equal((await account.quiet()).availableMicros, 1_000_000_000n);
});

test('a route to nowhere is passed over, and alone is a 502', async () => {
  await reset();
  const account = await bed.account();
  const passed = await askChat(account, '[[sim tokens=1]]', { model: 'gone-first' });
  assert.equal(passed.status, 200);
  const alone = await askChat(account, '[[sim tokens=1]]', { model: 'gone' });
  assert.equal(alone.status, 502);
  assert.equal(alone.body.error?.code, 'upstream_error');
  assert.doesNotMatch(JSON.stringify(alone.body), /nowhere|127\.0\.0\.1|ECONNREFUSED/);
});

test('a free model answers at length to an empty wallet', async () => {
  await reset();
  const account = await bed.account({ micros: 0n });
  const stream = await streamChat(account, '[[sim tokens=4000]]', { model: 'free' });
  assert.equal(stream.finishReason, 'stop');
  assert.equal(stream.svcUsage?.output_tokens, 4_000);
  assert.equal(stream.svcUsage?.charge_microcredits, 0);
  assert.equal(stream.svcUsage?.credits_exhausted, false);
});

test('a disabled model is not there', async () => {
  const account = await bed.account();
  const { status } = await askChat(account, 'hi', { model: 'hidden' });
  assert.equal(status, 404);
});

test('a model without tools refuses them before any money is held', async () => {
  const account = await bed.account();
  const tools = [{ type: 'function', function: { name: 'look' } }];
  const { status, body } = await askChat(account, 'hi', { model, tools });
  assert.equal(status, 400);
  assert.equal(body.error?.param, 'tools');
});

test('a model that sees nothing names the picture where the client has put it', async () => {
  const account = await bed.account();
  const url = 'https://example.com/b.png';
  const content = [{ type: 'image_url', image_url: { url } }];
  const picture = { type: 'input_image', image_url: url };
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'c', output: [picture] };
  const source = { type: 'url', url };
  const use = { type: 'tool_use', id: 't', name: 'f', input: {} };
  const found = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] };
  const user = { role: 'user', content: 'hi' };
  const system = 'be kind';
  const cases: [Format, Record<string, unknown>, string][] = [
    ['chat', { instructions: system, messages: [user, { role: 'user', content }] }, 'messages[1]'],
    ['responses', { instructions: system, input: [{ ...user, content: [picture] }] }, 'input[0]'],
    ['responses', { input: [user, call, output] }, 'input[2].output'],
    ['responses', { input: null, messages: [{ ...user, content: [picture] }] }, 'messages[0]'],
    ['legacy', { instructions: system, input: [{ ...user, content: [picture] }] }, 'input[0]'],
    [
      'messages',
      {
        system,
        messages: [user, { role: 'assistant', content: [use] }, { ...user, content: [found] }],
      },
      'messages[2].content',
    ],
  ];
  for (const [format, members, path] of cases) {
    const told = await ask(format, account, { model, text: '', members });
    assert.equal(told.status, 400, told.raw);
    assert.match(told.raw, /The model reads no images/);
    // Messages has no member for the path.
    if (format === 'messages') continue;
    const { param, details } = told.error as { param?: string; details?: { path: string } };
    assert.ok((param ?? details?.path)?.startsWith(path), told.raw);
  }
});

test('known members reach a provider of the same format, unknown and our own do not', async () => {
  await reset();
  const account = await bed.account();
  const members = {
    model,
    stream: false,
    service_tier: 'priority',
    logit_bias: { 50256: -100 },
    vendor_extension: { deep: [1, { a: null }] },
    metadata: { purpose: 'test' },
    conversation_id: 'conv-1',
    client_context: { timezone: 'UTC' },
    optimization: { mode: 'off' },
    request_id: 'own-key',
  };
  const { status } = await askChat(account, '[[sim tokens=1]]', members);
  assert.equal(status, 200);
  const [one] = await started();
  const sent = await (one > 0 ? first : second).lastBody();
  assert.equal(sent.model, 'simulated-chat-small-2026-01-15');
  assert.deepEqual(sent.logit_bias, { 50256: -100 });
  assert.equal(sent.vendor_extension, undefined);
  // A dearer tier of the provider would be paid by nobody; the rest is ours.
  const kept = ['service_tier', 'conversation_id', 'client_context', 'optimization', 'request_id'];
  for (const name of kept) assert.equal(sent[name], undefined, name);
  assert.equal(sent.stream, true);
});

test('credentials are sealed in the database, and a second start changes nothing', async () => {
  const rows = await bed.sql<
    { text: string }[]
  >`SELECT row_to_json(p)::text AS text FROM providers p`;
  assert.ok(rows.length >= 3);
  for (const { text } of rows) {
    assert.ok(!text.includes(secret));
    assert.ok(!text.includes(Buffer.from(secret).toString('hex')));
    assert.ok(!text.includes(Buffer.from(secret).toString('base64')));
  }
  const snapshot = () => bed.sql`
    SELECT 'provider' AS kind, row_to_json(p)::text AS row FROM providers p
    WHERE name NOT LIKE 'simulator%'
    UNION ALL SELECT 'model', row_to_json(m)::text FROM models m
    UNION ALL SELECT 'route', row_to_json(r)::text FROM routes r
    UNION ALL SELECT 'package', row_to_json(k)::text FROM packages k ORDER BY 1, 2`;
  // The dev simulator, of every family, has another port at every start.
  const before = await snapshot();
  assert.equal(await bed.gateway.stop(), 0);
  await bed.gateway.start();
  assert.deepEqual(await snapshot(), before);
  const account = await bed.account();
  assert.equal((await askChat(account, '[[sim tokens=1]]', { model })).status, 200);
});
