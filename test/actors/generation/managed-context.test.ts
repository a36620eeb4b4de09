// What a request is made of before it is sent: the shorter context, the client's own context, what
// does not fit, and what a managed route needs of its models.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serviceLog } from '../../../bench/optimizer/outputs.ts';
import { createRandom } from '../../../bench/optimizer/random.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { streamChat } from '../../harness/chat.ts';
import { ask, formats } from '../../harness/formats.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let sim: RunningSim;
let simulator: Simulator;
let bed: Testbed;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  simulator = new Simulator(`http://127.0.0.1:${sim.port}`);
  const routes = [{ provider: 'p', upstream_model: 'simulated-chat-small-2026-01-15' }];
  const cheap = { input_per_million: '1', output_per_million: '2' };
  const dear = { input_per_million: '9', output_per_million: '18' };
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: [{ name: 'p', family: 'openai-chat', base_url: `${simulator.url}/v1` }],
      models: [
        { alias: 'small', routes, price: cheap, context_window: 1_000, output_tokens_max: 500 },
        { alias: 'wide', routes, price: dear, context_window: 1_000_000, capabilities: ['chat'] },
        {
          alias: 'roomy',
          routes,
          price: dear,
          context_window: 1_000_000,
          capabilities: ['chat', 'tools'],
        },
        { alias: 'able', routes, price: dear, capabilities: ['chat', 'tools', 'vision'] },
        { alias: 'strict', routes, price: dear, capabilities: ['chat', 'structured_output'] },
      ],
      routes: [
        { alias: 'm-small', pool: [{ model: 'small', quality: 50 }], optimizer: 'never' },
        { alias: 'm-short', pool: [{ model: 'roomy', quality: 50 }], optimizer: 'always' },
        { alias: 'm-whole', pool: [{ model: 'roomy', quality: 50 }], optimizer: 'never' },
        {
          alias: 'm-all',
          pool: [
            { model: 'small', quality: 80 },
            { model: 'wide', quality: 40 },
            { model: 'able', quality: 30 },
            { model: 'strict', quality: 20 },
          ],
          optimizer: 'never',
        },
        {
          alias: 'm-guarded',
          pool: [
            { model: 'small', quality: 10 },
            { model: 'wide', quality: 90 },
          ],
          optimizer: 'never',
          cost_guard: { max_cost_premium_percent: 50 },
        },
      ],
    },
  });
});
after(async () => {
  await bed?.close();
  sim?.close();
});

test('a managed route takes a model that can, fits and is not too dear', async () => {
  const account = await bed.account();
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  const format = { type: 'json_schema', json_schema: { name: 'any', schema: { type: 'object' } } };
  const picture = [
    { type: 'text', text: '[[sim tokens=1]]' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
  ];
  const long = `${'word '.repeat(2_000)}[[sim tokens=1]]`;
  const cases: [string, string, object, string, string][] = [
    ['m-all', 'hi [[sim tokens=1]]', {}, 'small', 'quality'],
    ['m-all', 'hi [[sim tokens=1]]', { tools }, 'able', 'capability'],
    ['m-all', '', { messages: [{ role: 'user', content: picture }] }, 'able', 'capability'],
    ['m-all', '[[sim json=good]]', { response_format: format }, 'strict', 'capability'],
    ['m-all', long, {}, 'wide', 'capability'],
    ['m-guarded', 'hi [[sim tokens=1]]', {}, 'small', 'cost'],
  ];
  for (const [model, text, members, selected, category] of cases) {
    const told = await ask('chat', account, { model, text, members: { ...members } });
    assert.equal(told.svcRouting?.selected_model, selected, told.raw);
    assert.equal(told.svcRouting?.decision_category, category, selected);
  }
  const both = { tools, response_format: format };
  const none = await ask('chat', account, { model: 'm-all', text: 'hi', members: both });
  assert.equal(none.status, 400);
});

test('what is too long has the code of each envelope, for exact and managed aliases', async () => {
  const account = await bed.account();
  const { availableMicros } = await account.balance();
  const text = 'word '.repeat(3_000);
  for (const format of formats) {
    for (const model of ['small', 'm-small']) {
      const told = await ask(format, account, { model, text, stream: true });
      const isOpenAi = format === 'chat' || format === 'responses';
      assert.equal(told.status, isOpenAi ? 400 : 422, told.raw);
      if (format === 'messages') assert.equal(told.error?.type, 'invalid_request_error');
      else assert.equal(told.error?.code, isOpenAi ? 'context_length_exceeded' : 'input_too_long');
      if (format === 'chat') assert.equal(told.error?.param, 'messages');
      if (format === 'responses') assert.equal(told.error?.param, 'input');
    }
  }
  assert.equal((await account.quiet()).availableMicros, availableMicros);
});

test('nobody is refused for an estimate: the tokenizer says what fits', async () => {
  const account = await bed.account();
  // 1,000 tokens by length, 500 by count.
  const text = `${'a'.repeat(4_000)} [[sim tokens=1]]`;
  for (const model of ['small', 'm-small']) {
    const told = await ask('chat', account, { model, text });
    assert.equal(told.status, 200, told.raw);
  }
});

test('no messages at all and a tool result last are no trouble', async () => {
  const account = await bed.account();
  for (const model of ['wide', 'm-whole']) {
    const empty = await ask('chat', account, { model, text: '', members: { messages: [] } });
    assert.ok(empty.status === 400 || empty.status === 200, empty.raw);
    const bare = await ask('responses', account, { model, text: 'hi [[sim tokens=1]]' });
    assert.equal(bare.text, ' t0');
  }
});

for (const format of formats) {
  test(`${format}: the client's context stands in front of the last turn`, async () => {
    const account = await bed.account();
    const question = {
      model: 'wide',
      text: 'hi [[sim tokens=1]]',
      history: [
        { role: 'user' as const, content: 'first' },
        { role: 'assistant' as const, content: 'yes' },
      ],
    };
    const sent = async (client_context?: object) => {
      const members = client_context === undefined ? {} : { client_context };
      const told = await ask(format, account, { ...question, members });
      assert.equal(told.status, 200, told.raw);
      return (await simulator.lastBody()).messages as { role: string; content: unknown }[];
    };
    const before = await sent();
    const after = await sent({
      timezone: 'Europe/Zurich',
      locale: 'de-CH',
      temperature_unit: 'celsius',
      location: { city: 'Bern' },
    });
    assert.deepEqual(after.slice(0, -1), before.slice(0, -1));
    const turn = JSON.stringify(after.at(-1));
    assert.match(turn, /local time \w+day, \d{4}-\d\d-\d\d \d\d:\d\d \(Europe\/Zurich\)/);
    assert.match(turn, /locale de-CH; temperatures in degrees celsius\]/);
    assert.ok(turn.indexOf('About the user') < turn.indexOf('hi [[sim'));
    assert.doesNotMatch(turn, /Bern/);
    const shared = JSON.stringify(
      await sent({
        timezone: 'Nowhere/Nothing',
        utc_offset_minutes: -90,
        share_location: true,
        location: { city: 'Bern' },
      }),
    );
    assert.match(shared, /\(UTC-01:30\)/);
    assert.match(shared, /Bern/);
    assert.deepEqual(await sent({}), before);
  });
}

/** A conversation with long outputs of tools, as many as make it so long. */
function longConversation(bytes: number): object[] {
  const messages: object[] = [{ role: 'user', content: 'Look at the logs of all hosts.' }];
  for (let turn = 0, size = 0; size < bytes; turn += 1) {
    const output = serviceLog(createRandom(turn), []);
    const call = { id: `c${turn}`, type: 'function', function: { name: 'log', arguments: '{}' } };
    messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    messages.push({ role: 'tool', tool_call_id: `c${turn}`, content: output });
    messages.push({ role: 'user', content: `And host ${turn}?   Keep    these spaces.` });
    size += output.length;
  }
  return messages;
}

test('a long conversation is shortened where the route wants it, its last turn never', async () => {
  const account = await bed.account();
  const last = { role: 'user', content: 'Now   say   it.\n\n\n\nAll. [[sim tokens=1]]' };
  const messages = [...longConversation(120_000), last];
  const tokens = async (model: string, members: object = {}) => {
    const question = { model, text: '', members: { messages, ...members } };
    const told = await ask('chat', account, question);
    assert.equal(told.status, 200, told.raw);
    const sent = (await simulator.lastBody()).messages as unknown[];
    assert.deepEqual(sent.at(-1), last);
    return told.svcUsage?.input_tokens ?? 0;
  };
  const whole = await tokens('m-whole');
  assert.equal(await tokens('roomy'), whole);
  const aggressive = { optimization: { mode: 'aggressive', allow_lossy_context: true } };
  assert.equal(await tokens('m-whole', aggressive), whole);
  const short = await tokens('m-short', { optimization: { mode: 'off' } });
  console.log(`# ${whole} input tokens, ${short} on an optimizing route`);
  assert.ok(short < whole);
  assert.ok((await tokens('roomy', aggressive)) < whole);
});

test('tokens are counted of what would be sent, which a route may shorten', async () => {
  const account = await bed.account();
  const messages: object[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const id = `toolu_${turn}`;
    const result = { type: 'tool_result', tool_use_id: id };
    messages.push(
      { role: 'user', content: `Look at host ${turn}.` },
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'log', input: {} }] },
      { role: 'user', content: [{ ...result, content: serviceLog(createRandom(turn), []) }] },
      { role: 'assistant', content: 'Seen.' },
    );
  }
  messages.push({ role: 'user', content: 'Say it. [[sim tokens=1]]' });
  const count = async (model: string, members: object = {}) => {
    const reply = await fetch(`${bed.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, ...members }),
    });
    assert.equal(reply.status, 200);
    return ((await reply.json()) as { input_tokens: number }).input_tokens;
  };
  const whole = await count('m-whole');
  assert.equal(await count('roomy'), whole);
  assert.ok((await count('m-short')) < whole);
  const aggressive = { optimization: { mode: 'aggressive', allow_lossy_context: true } };
  assert.equal(await count('m-whole', aggressive), whole);
  assert.ok((await count('roomy', aggressive)) < whole);
});

test('a conversation of a megabyte is answered beside a stream', async () => {
  const account = await bed.account();
  const messages = [
    ...longConversation(1_000_000),
    { role: 'user', content: 'Say it. [[sim tokens=1]]' },
  ];
  const question = { model: 'm-short', text: '', members: { messages } };
  const reading = streamChat(account, '[[sim tokens=300 gap_ms=10]]', { model: 'roomy' });
  const told = await ask('chat', account, question);
  assert.equal(told.status, 200, told.raw);
  assert.equal((await reading).finishReason, 'stop');
});
