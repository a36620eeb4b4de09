// Usage that a provider reports badly, dearer caches and a provider's own searches: what is charged
// is what the receipt says, the wallet loses, the generation shows and the summary adds up.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask, type Format, type Question, type Told } from '../../harness/formats.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

interface Answer {
  events: object[];
  /** The connection is broken behind them. */
  cut?: boolean;
}

const families = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
  gemini: 'gemini',
} as const;
type Family = keyof typeof families;
const names = Object.keys(families) as Family[];

const price = {
  input_per_million: '2',
  cached_input_per_million: '0.2',
  cache_write_per_million: '2.5',
  cache_write_1h_per_million: '4',
  output_per_million: '10',
  per_search_call: '0.01',
};
/** Microcredits: dollars a million × 100 credits × 5 %. */
const micros = { input: 210, cached: 21, write: 262.5, write1h: 420, output: 1_050 };
const searchMicros = 1_050_000;

let provider: ScriptedServer<Answer>;
let bed: Testbed;
before(async () => {
  provider = await startScriptedServer<Answer>({ events: [] }, ({ events, cut }, { response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const lines = events.map((event) => {
      const { type } = event as { type?: string };
      const name = type === undefined ? '' : `event: ${type}\n`;
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    });
    response.write(lines.join(''));
    if (cut === true) setTimeout(() => response.destroy(), 20);
    else response.end();
  });
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: names.map((name) => ({
        name,
        family: families[name],
        base_url: provider.url,
        api_key: 'k',
      })),
      models: names.map((name) => ({
        alias: `m-${name}`,
        routes: [{ provider: name, upstream_model: `up-${name}` }],
        price,
        capabilities: ['chat', 'tools'],
      })),
    },
  });
});
after(async () => {
  await bed?.close();
  provider?.close();
});

/** A streamed answer of `hello there`, whose usage has this input and this output. */
function answerOf(family: Family, input: unknown, output: unknown): object[] {
  const text = 'hello there';
  switch (family) {
    case 'chat':
      return [
        { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: text } }] },
        { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        { id: 'c', choices: [], usage: { prompt_tokens: input, completion_tokens: output } },
      ];
    case 'responses': {
      const usage = { input_tokens: input, output_tokens: output };
      return [
        { type: 'response.created', response: { id: 'r', status: 'in_progress' } },
        {
          type: 'response.output_text.delta',
          item_id: 'i',
          output_index: 0,
          content_index: 0,
          delta: text,
        },
        { type: 'response.completed', response: { id: 'r', status: 'completed', usage } },
      ];
    }
    case 'messages':
      return [
        { type: 'message_start', message: { usage: { input_tokens: input, output_tokens: 1 } } },
        ...textBlock(0, text),
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: { output_tokens: output },
        },
        { type: 'message_stop' },
      ];
    case 'gemini':
      return [
        {
          candidates: [{ index: 0, content: { parts: [{ text }] }, finishReason: 'STOP' }],
          usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
        },
      ];
  }
}

function textBlock(index: number, text: string): object[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
  ];
}

/** Asks on a new account, and compares everything that tells of the charge. */
async function charged(format: Format, question: Question): Promise<Told> {
  const account = await bed.account();
  const { availableMicros: before } = await account.balance();
  const told = await ask(format, account, question);
  const usage = told.svcUsage;
  assert.ok(usage !== null, told.raw);
  const { availableMicros } = await account.quiet();
  assert.equal(before - availableMicros, BigInt(usage.charge_microcredits), 'the wallet');
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const shown = await fetch(`${bed.url}/v1/generations/${usage.request_id}`, { headers });
  const generation = (await shown.json()) as { svc_usage: unknown };
  assert.deepEqual(generation.svc_usage, usage, 'the generation');
  const summary = await fetch(`${bed.url}/api/me/billing/summary`, { headers });
  const { usage: rows } = (await summary.json()) as { usage: { charge_microcredits: number }[] };
  const sum = rows.reduce((total, row) => total + row.charge_microcredits, 0);
  assert.equal(sum, usage.charge_microcredits, 'the summary');
  const [row] = await bed.sql<{ missing: bigint }[]>`
    SELECT shortfall_micros AS missing FROM wallets WHERE id = ${account.walletId}`;
  assert.equal(Number(row?.missing), 0, 'nothing is missing');
  return told;
}

test('a character that is cut in two reaches its client whole, and is counted once', async () => {
  const said = (content: string) => ({ id: 'c', choices: [{ index: 0, delta: { content } }] });
  const [, end, usage] = answerOf('chat', 100, 4);
  const events = [said('a\ud83d'), said('\ude00b\ud800'), end ?? {}, usage ?? {}];
  provider.behaviour = { events };
  for (const format of ['chat', 'responses', 'messages'] as const) {
    for (const stream of [true, false]) {
      const told = await charged(format, { model: 'm-chat', text: 'hi', stream });
      assert.equal(told.text, 'a😀b\ufffd');
      assert.doesNotMatch(told.raw, /\\ud8/i);
    }
  }
});

const absurd = [-1, 1e300, '7', null, { tokens: 7 }];

for (const family of names) {
  for (const stream of [true, false]) {
    test(`${family}, stream ${stream}: absurd output is counted here`, async () => {
      for (const output of absurd) {
        provider.behaviour = { events: answerOf(family, 100, output) };
        const told = await charged('chat', { model: `m-${family}`, text: 'hi', stream });
        // A count that is left out is zero where the format leaves zeros out.
        if (family === 'gemini' && output === null) continue;
        // The null of a second report says nothing: the first one's 1 stands.
        if (family === 'messages' && output === null) continue;
        const name = JSON.stringify(output);
        assert.equal(told.svcUsage?.source, 'estimated', name);
        assert.equal(told.svcUsage?.input_tokens, 100, name);
        assert.equal(told.svcUsage?.output_tokens, 2, name);
        assert.equal(told.svcUsage?.charge_microcredits, 100 * micros.input + 2 * micros.output);
      }
    });
  }

  test(`${family}: absurd input is counted here, and zeros are a report`, async () => {
    provider.behaviour = { events: answerOf(family, -5, 7) };
    const told = await charged('chat', { model: `m-${family}`, text: 'one two three' });
    assert.equal(told.svcUsage?.source, 'estimated');
    assert.ok((told.svcUsage?.input_tokens ?? 0) >= 3, told.raw);
    provider.behaviour = { events: answerOf(family, 5, 0) };
    const zero = await charged('chat', { model: `m-${family}`, text: 'hi' });
    assert.equal(zero.svcUsage?.source, 'reported');
    assert.equal(zero.svcUsage?.charge_microcredits, 5 * micros.input);
  });
}

for (const family of names) {
  test(`${family}: an output far above the ceiling or from nothing is not believed`, async () => {
    const members = { max_tokens: 100 };
    const asked = { model: `m-${family}`, text: 'one two three', members };
    // At the bound it is believed: 2 × 100 + 1,024.
    provider.behaviour = { events: answerOf(family, 100, 1_224) };
    const most = await charged('chat', asked);
    assert.equal(most.svcUsage?.source, 'reported');
    assert.equal(most.svcUsage?.output_tokens, 1_224);
    provider.behaviour = { events: answerOf(family, 100, 1_225) };
    const long = await charged('chat', asked);
    assert.equal(long.svcUsage?.source, 'estimated');
    assert.equal(long.svcUsage?.input_tokens, 100, 'the input is believed');
    assert.equal(long.svcUsage?.output_tokens, 2, 'the output is counted');
    provider.behaviour = { events: answerOf(family, 0, 7) };
    const free = await charged('chat', asked);
    assert.equal(free.svcUsage?.source, 'estimated');
    assert.ok((free.svcUsage?.input_tokens ?? 0) >= 3, 'the input is counted');
    assert.equal(free.svcUsage?.output_tokens, 7, 'the output is believed');
    provider.behaviour = { events: answerOf(family, 0, 0) };
    const zero = await charged('chat', asked);
    assert.equal(zero.svcUsage?.source, 'reported');
    assert.equal(zero.svcUsage?.charge_microcredits, 0);
  });
}

const cacheUsage = {
  input_tokens: 10,
  cache_read_input_tokens: 20,
  cache_creation_input_tokens: 100,
  cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 70 },
  output_tokens: 1,
};

function cached(usage: object, last: object = {}): object[] {
  return [
    { type: 'message_start', message: { usage } },
    ...textBlock(0, 'hello'),
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 3, ...last },
    },
    { type: 'message_stop' },
  ];
}

const rest = 10 * micros.input + 20 * micros.cached + 3 * micros.output;

for (const stream of [true, false]) {
  test(`stream ${stream}: what a cache keeps for an hour has its own price`, async () => {
    const question = { model: 'm-messages', text: 'hi', stream };
    provider.behaviour = { events: cached(cacheUsage) };
    const told = await charged('messages', question);
    assert.equal(told.svcUsage?.cache_write_tokens, 100);
    const cost = rest + 30 * micros.write + 70 * micros.write1h;
    assert.equal(told.svcUsage?.charge_microcredits, Math.ceil(cost));
    // Without its parts a write is the cheaper one; a total that grew is as its parts.
    provider.behaviour = { events: cached({ ...cacheUsage, cache_creation: null }) };
    const plain = await charged('messages', question);
    assert.equal(plain.svcUsage?.charge_microcredits, Math.ceil(rest + 100 * micros.write));
    const grown = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 100 };
    provider.behaviour = {
      events: cached(
        { ...cacheUsage, cache_creation: grown },
        { cache_creation_input_tokens: 150 },
      ),
    };
    const more = await charged('messages', question);
    assert.equal(more.svcUsage?.charge_microcredits, Math.ceil(rest + 150 * micros.write1h));
  });
}

test('an answer that is cut pays for the hour that its cache was written for', async () => {
  const [start, ...others] = cached(cacheUsage);
  assert.ok(start !== undefined);
  provider.behaviour = { events: [start, ...others.slice(0, 2)], cut: true };
  const told = await charged('messages', { model: 'm-messages', text: 'hi', stream: true });
  const input = 10 * micros.input + 20 * micros.cached + 30 * micros.write + 70 * micros.write1h;
  const output = (told.svcUsage?.output_tokens ?? 0) * micros.output;
  assert.equal(told.svcUsage?.charge_microcredits, Math.ceil(input + output));
});

/** What a request would hold: an empty wallet is told. */
async function required(format: Format, members: object, model = 'm-messages'): Promise<number> {
  const account = await bed.account({ micros: 1n });
  const shared = { max_tokens: 1, ...members };
  const told = await ask(format, account, { model, text: 'w '.repeat(400), members: shared });
  assert.equal(told.status, 402, told.raw);
  return Number(told.headers.get('x-svc-required-microcredits'));
}

test('the hold covers an hour of cache where one is asked for, wherever it is marked', async () => {
  const plain = await required('messages', {});
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const atHour = await required('messages', mark);
  const inputs = (held: number) => held - micros.output;
  assert.equal(inputs(atHour) / inputs(plain), micros.write1h / micros.input);
  const five = await required('messages', { cache_control: { type: 'ephemeral' } });
  assert.equal(inputs(five) / inputs(plain), micros.write / micros.input);
  const system = [{ type: 'text', text: 'x', ...mark }];
  const tools = [{ name: 't', input_schema: { type: 'object' }, ...mark }];
  const blocks = [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(800), ...mark }] }];
  for (const members of [{ system }, { tools }, { messages: blocks }]) {
    const bare = JSON.parse(JSON.stringify(members).replaceAll('"1h"', '"5m"'));
    const [dear, cheap] = [await required('messages', members), await required('messages', bare)];
    assert.ok(inputs(dear) / inputs(cheap) > 1.59, `${dear} ${cheap}`);
  }
});

test('the hold covers a cache that servers of OpenAI’s formats write unasked', async () => {
  const inputs = async (model: string) => (await required('chat', {}, model)) - micros.output;
  const plain = await inputs('m-gemini');
  for (const model of ['m-chat', 'm-responses']) {
    assert.equal((await inputs(model)) / plain, micros.write / micros.input, model);
  }
  assert.equal(await inputs('m-messages'), plain);
});

test('the hold covers the searches that a provider is allowed', async () => {
  const plain = await required('messages', {});
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const bounded = await required('messages', { tools: [{ ...search, max_uses: 3 }] });
  assert.ok(bounded - plain >= 3 * searchMicros && bounded - plain < 4 * searchMicros);
  const open = await required('messages', { tools: [search] });
  assert.ok(open - plain >= 5 * searchMicros && open - plain < 6 * searchMicros);
  const members = { max_tokens: undefined, max_output_tokens: 16, max_tool_calls: 2 };
  const asked = { ...members, tools: [{ type: 'web_search' }] };
  const responses = await required('responses', asked, 'm-responses');
  assert.ok(responses >= 2 * searchMicros && responses < 3 * searchMicros, String(responses));
});

const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } };
const result = { type: 'web_search_tool_result', tool_use_id: 's1', content: [] };
const failed = { ...result, content: { type: 'web_search_tool_result_error', error_code: 'x' } };

function block(index: number, content_block: object): object[] {
  return [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ];
}

for (const format of ['messages', 'chat', 'responses'] as const) {
  test(`${format}: searches of an answer that is cut are paid for`, async () => {
    const start = { type: 'message_start', message: { usage: cacheUsage } };
    const events = [start, ...block(0, search), ...block(1, result), ...block(2, failed)];
    provider.behaviour = { events: [...events, ...textBlock(3, 'hello there')], cut: true };
    const ofMessages = await charged(format, { model: 'm-messages', text: 'hi', stream: true });
    assert.equal(ofMessages.svcUsage?.search_calls, 1, ofMessages.raw);
    const call = (id: string, type: string) => ({
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'web_search_call', id, status: 'completed', action: { type, query: 'q' } },
    });
    const [created, text] = answerOf('responses', 1, 1);
    assert.ok(created !== undefined && text !== undefined);
    provider.behaviour = {
      events: [created, call('a', 'search'), call('b', 'open_page'), { ...text, output_index: 2 }],
      cut: true,
    };
    const told = await charged(format, { model: 'm-responses', text: 'hi', stream: true });
    assert.equal(told.svcUsage?.search_calls, 1, told.raw);
    assert.ok((told.svcUsage?.charge_microcredits ?? 0) > searchMicros);
  });
}
