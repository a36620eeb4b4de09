// Answers that are cut while their provider has counted less than was delivered, or nothing yet:
// what was delivered is charged, in the buckets of its prices, and never beyond what was asked for.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';
import { ask, eventsOf, type Format, post, type Question } from '../../harness/formats.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

interface Answer {
  events: object[];
  /** What follows: the connection is broken, or stays open. */
  after: 'cut' | 'open' | 'end';
}

const price = {
  input_per_million: '2',
  output_per_million: '10',
  reasoning_per_million: '40',
};
/** Microcredits: dollars a million × 100 credits × 5 %. */
const micros = { input: 210, output: 1_050, reasoning: 4_200 };

let provider: ScriptedServer<Answer>;
let bed: Testbed;
before(async () => {
  const none: Answer = { events: [], after: 'end' };
  provider = await startScriptedServer(none, ({ events, after: next }, { response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    if (next === 'cut') setTimeout(() => response.destroy(), 20);
    if (next === 'end') response.end();
  });
  const families = { chat: 'openai-chat', gemini: 'gemini', responses: 'openai-responses' };
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: Object.entries(families).map(([name, family]) => ({
        name,
        family,
        base_url: provider.url,
        api_key: 'k',
      })),
      models: Object.keys(families).map((name) => ({
        alias: `m-${name}`,
        routes: [{ provider: name, upstream_model: `up-${name}` }],
        price,
        capabilities: ['chat', 'reasoning', 'vision', 'tools'],
      })),
    },
  });
});
after(async () => {
  await bed?.close();
  provider?.close();
});

const sixteenWords = Array.from({ length: 16 }, () => 'hello').join(' ');

function chunk(delta: object, input?: number, output?: number): object {
  const usage = { prompt_tokens: input, completion_tokens: output };
  const choices = [{ index: 0, delta }];
  return { id: 'c', choices, ...(input === undefined ? {} : { usage }) };
}

function thought(part: object, counts: object): object {
  return {
    candidates: [{ index: 0, content: { parts: [part] } }],
    usageMetadata: { promptTokenCount: 100, ...counts },
  };
}

function assertCharge(usage: SvcUsage): void {
  const { input_tokens: input, output_tokens: output, reasoning_tokens: reasoning } = usage;
  const cost = input * micros.input + output * micros.output + reasoning * micros.reasoning;
  assert.equal(usage.charge_microcredits, cost, JSON.stringify(usage));
}

/** Asks on a new account; the wallet must have lost what the answer says. */
async function charged(
  question: Omit<Question, 'text'>,
  format: Format = 'chat',
): Promise<SvcUsage> {
  const account = await bed.account();
  const { availableMicros: before } = await account.balance();
  const told = await ask(format, account, { text: 'hi', stream: true, ...question });
  assert.ok(told.svcUsage !== null, told.raw);
  const { availableMicros } = await account.quiet();
  assert.equal(before - availableMicros, BigInt(told.svcUsage.charge_microcredits), 'the wallet');
  return told.svcUsage;
}

const early = [
  { name: 'zeros until the end', counts: [0, 0] },
  { name: 'the first piece alone', counts: [100, 1] },
] as const;

for (const { name, counts } of early) {
  test(`a report of ${name} is none of an answer that is cut`, async () => {
    const events = [
      chunk({ content: 'hello' }, ...counts),
      chunk({ content: ' there' }),
      chunk({ content: ` ${sixteenWords}` }),
    ];
    provider.behaviour = { events, after: 'cut' };
    const usage = await charged({ model: 'm-chat' });
    assert.equal(usage.source, 'estimated');
    assert.equal(usage.output_tokens, 18);
    if (counts[0] === 0) assert.ok(usage.input_tokens > 0);
    else assert.equal(usage.input_tokens, 100);
    assertCharge(usage);
  });

  test(`a report of ${name} is none of an answer that is cancelled`, async () => {
    const events = [chunk({ content: 'hello' }, ...counts), chunk({ content: ` ${sixteenWords}` })];
    provider.behaviour = { events, after: 'open' };
    const account = await bed.account();
    const question = { model: 'm-chat', text: 'hi', stream: true, key: 'stop' };
    const reply = await post('chat', account, question);
    const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.ok(reader !== undefined);
    let raw = '';
    while (!raw.includes(sixteenWords)) raw += (await reader.read()).value ?? '';
    const headers = { authorization: `Bearer ${account.apiKey}` };
    await fetch(`${bed.url}/v1/generations/stop/cancel`, { method: 'POST', headers });
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      raw += value;
    }
    const usage = eventsOf(raw).at(-1)?.data.svc_usage as SvcUsage;
    assert.equal(usage.source, 'estimated', raw);
    assert.equal(usage.output_tokens, 17);
    assertCharge(usage);
  });
}

test('a report that has kept up is what an answer that is cut costs', async () => {
  const events = [chunk({ content: 'hello' }, 100, 1), chunk({ content: ' there' }, 100, 7)];
  provider.behaviour = { events, after: 'cut' };
  const usage = await charged({ model: 'm-chat' });
  assert.equal(usage.source, 'reported');
  assert.deepEqual([usage.input_tokens, usage.output_tokens], [100, 7]);
  assertCharge(usage);
});

test('a report on the way is the least that a cut answer costs', async () => {
  const events = [chunk({ content: 'hello' }, 100, 40), chunk({ content: ' there' })];
  provider.behaviour = { events, after: 'cut' };
  const usage = await charged({ model: 'm-chat' });
  assert.deepEqual([usage.source, usage.output_tokens], ['estimated', 40]);
});

test('reasoning that was told before a cut has its own price', async () => {
  const events = [
    chunk({ reasoning_content: 'one two' }),
    chunk({ reasoning_content: ' three' }),
    chunk({ content: 'hello there' }),
  ];
  provider.behaviour = { events, after: 'cut' };
  const usage = await charged({ model: 'm-chat' });
  assert.deepEqual([usage.output_tokens, usage.reasoning_tokens], [2, 3]);
  assertCharge(usage);
  // A report on the way may have had it in its output: it is not charged twice.
  const [first, second, third] = events;
  const counted = { ...second, ...{ usage: { prompt_tokens: 9, completion_tokens: 3 } } };
  provider.behaviour = { events: [first, counted, third] as object[], after: 'cut' };
  const told = await charged({ model: 'm-chat' });
  assert.deepEqual([told.output_tokens, told.reasoning_tokens], [2, 3]);
});

test('thoughts that a provider counts before it says anything are paid for', async () => {
  const counts = { thoughtsTokenCount: 300, totalTokenCount: 400 };
  const events = [thought({ text: 'I wonder.', thought: true }, counts)];
  provider.behaviour = { events, after: 'cut' };
  const usage = await charged({ model: 'm-gemini' });
  assert.equal(usage.source, 'reported');
  assert.deepEqual([usage.input_tokens, usage.reasoning_tokens], [100, 300]);
  assertCharge(usage);
  provider.behaviour = { events: [...events, thought({ text: 'hello there' }, {})], after: 'cut' };
  const more = await charged({ model: 'm-gemini' });
  assert.deepEqual([more.output_tokens, more.reasoning_tokens], [2, 300]);
});

test('what was counted before the wallet ran dry is paid for as far as it goes', async () => {
  const counts = { thoughtsTokenCount: 300, candidatesTokenCount: 1 };
  const word = thought({ text: 'word ' }, counts);
  provider.behaviour = { events: Array.from({ length: 1_200 }, () => word), after: 'end' };
  const account = await bed.account({ micros: 4_302_000n });
  const told = await ask('chat', account, { model: 'm-gemini', text: 'hi', stream: true });
  assert.equal(told.svcUsage?.credits_exhausted, true, told.raw.slice(-500));
  assert.equal(told.svcUsage?.reasoning_tokens, 300);
  const { availableMicros } = await account.quiet();
  assert.equal(4_302_000n - availableMicros, BigInt(told.svcUsage?.charge_microcredits ?? 0));
});

test('a stop sequence that is watched for here ends an answer, and its report', async () => {
  const stop = ['1', '2', '3', '4', '5', 'END'];
  const counts = { candidatesTokenCount: 1 };
  const events = [
    thought({ text: 'hello ' }, counts),
    thought({ text: `${sixteenWords} END and more` }, { candidatesTokenCount: 21 }),
  ];
  provider.behaviour = { events, after: 'open' };
  const usage = await charged({ model: 'm-gemini', members: { stop } });
  assert.equal(usage.source, 'estimated');
  assert.ok(usage.output_tokens >= 17, String(usage.output_tokens));
  assertCharge(usage);
});

test('no more is estimated than was asked for', async () => {
  provider.behaviour = { events: [chunk({ content: sixteenWords })], after: 'cut' };
  const usage = await charged({ model: 'm-chat', members: { max_tokens: 5 } });
  assert.deepEqual([usage.source, usage.output_tokens], ['estimated', 5]);
  const thinking = [chunk({ reasoning_content: 'one two three' }), chunk({ content: 'hello you' })];
  provider.behaviour = { events: thinking, after: 'cut' };
  const both = await charged({ model: 'm-chat', members: { max_tokens: 4 } });
  assert.deepEqual([both.output_tokens, both.reasoning_tokens], [1, 3]);
});

test('pictures count in the input of an answer that is cut, and beforehand', async () => {
  provider.behaviour = { events: [chunk({ content: 'hello' })], after: 'cut' };
  const url = `data:image/png;base64,${'A'.repeat(40)}`;
  const pictures = [1, 2].map(() => ({ type: 'image_url', image_url: { url } }));
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi' }, ...pictures] }];
  const usage = await charged({ model: 'm-chat', members: { messages } });
  assert.equal(usage.source, 'estimated');
  assert.equal(Math.floor(usage.input_tokens / 1_024), 2);
  assertCharge(usage);
  const source = { type: 'url', url: 'https://example.com/a.png' };
  const content = [
    { type: 'text', text: 'hi' },
    { type: 'image', source },
  ];
  const account = await bed.account();
  const reply = await fetch(`${bed.url}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm-chat', messages: [{ role: 'user', content }] }),
  });
  const { input_tokens: counted } = (await reply.json()) as { input_tokens: number };
  assert.equal(Math.floor(counted / 1_024), 1);
});

for (const isEnded of [false, true]) {
  test(`what a model wrote for a tool of its own is paid for, ended ${isEnded}`, async () => {
    const item = { type: 'custom_tool_call', id: 'ct', call_id: 'c1', name: 'patch', input: '' };
    const place = { item_id: 'ct', output_index: 0 };
    const type = 'response.custom_tool_call_input.delta';
    const done = { type: 'response.output_item.done', output_index: 0 };
    const end = { ...done, item: { ...item, input: sixteenWords } };
    provider.behaviour = {
      events: [
        { type: 'response.created', response: { id: 'r', status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item },
        { type, ...place, delta: sixteenWords.slice(0, 50) },
        { type, ...place, delta: sixteenWords.slice(50) },
        ...(isEnded ? [end] : []),
      ],
      after: 'cut',
    };
    const tools = [{ type: 'custom', name: 'patch' }];
    const usage = await charged({ model: 'm-responses', members: { tools } }, 'responses');
    assert.deepEqual([usage.source, usage.output_tokens], ['estimated', 16]);
    assertCharge(usage);
  });
}
