// Sound in the input and searches of the Chat format: what providers charge for by another price
// than that of text, or without counting it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask, type Format, type Question, type Told } from '../../harness/formats.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

const price = {
  input_per_million: '2',
  output_per_million: '10',
  audio_input: '40',
  per_search_call: '0.01',
};
/** Microcredits: dollars a million × 100 credits × 5 %. */
const micros = { input: 210, sound: 4_200, output: 1_050, search: 1_050_000 };
const families = { chat: 'openai-chat', gemini: 'gemini' };
const plainPrice = { input_per_million: '2', output_per_million: '10' };

let provider: ScriptedServer<object[]>;
let lastBody: Record<string, unknown>;
let bed: Testbed;
before(async () => {
  provider = await startScriptedServer<object[]>([], (events, { body, response }) => {
    lastBody = JSON.parse(body.toString());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  });
  const names = Object.entries(families);
  const model = (alias: string, name: string, card: object) => ({
    alias,
    routes: [{ provider: name, upstream_model: `up-${name}` }],
    price: card,
    capabilities: ['chat', 'audio', 'tools'],
  });
  const searches = { capabilities: ['chat', 'tools', 'web_search'] };
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: names.map(([name, family]) => ({
        name,
        family,
        base_url: provider.url,
        api_key: 'k',
      })),
      models: [
        ...names.flatMap(([name]) => [
          model(`m-${name}`, name, price),
          model(`plain-${name}`, name, plainPrice),
        ]),
        { ...model('s-chat', 'chat', price), ...searches },
        {
          ...model('s-both', 'chat', price),
          ...searches,
          routes: names.map(([provider]) => ({ provider, upstream_model: 'up' })),
        },
      ],
      routes: [{ alias: 'r-chat', pool: [{ model: 's-chat', quality: 50 }], optimizer: 'never' }],
      // Nobody searches for the models.
      surfaces: [{ name: 'web_search', display_name: 'Web search', enabled: false }],
    },
  });
});
after(async () => {
  await bed?.close();
  provider?.close();
});

function chatAnswer(usage: object | null, annotations?: object[]): object[] {
  const delta = { role: 'assistant', content: 'hello there' };
  return [
    { id: 'c', choices: [{ index: 0, delta }] },
    { id: 'c', choices: [{ index: 0, delta: annotations ? { annotations } : {} }] },
    { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { id: 'c', choices: [], ...(usage === null ? {} : { usage }) },
  ];
}

function geminiAnswer(usageMetadata: object): object[] {
  const content = { parts: [{ text: 'hello there' }] };
  return [{ candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata }];
}

async function charged(format: Format, question: Question): Promise<Told> {
  const account = await bed.account();
  const { availableMicros: before } = await account.balance();
  const told = await ask(format, account, question);
  assert.ok(told.svcUsage !== null, told.raw);
  const { availableMicros } = await account.quiet();
  assert.equal(before - availableMicros, BigInt(told.svcUsage.charge_microcredits), 'the wallet');
  return told;
}

for (const stream of [true, false]) {
  test(`stream ${stream}: sound has a price of its own, or that of text`, async () => {
    const chat = { audio_tokens: 60, cached_tokens: 20, text_tokens: 40 };
    const usage = { prompt_tokens: 100, completion_tokens: 2, prompt_tokens_details: chat };
    provider.behaviour = chatAnswer(usage);
    const ofChat = await charged('chat', { model: 'm-chat', text: 'hi', stream });
    const cost = 40 * micros.input + 60 * micros.sound + 2 * micros.output;
    assert.equal(ofChat.svcUsage?.charge_microcredits, cost);
    assert.equal(ofChat.svcUsage?.input_tokens, 80);
    const plain = await charged('chat', { model: 'plain-chat', text: 'hi', stream });
    assert.equal(plain.svcUsage?.charge_microcredits, 100 * micros.input + 2 * micros.output);
    provider.behaviour = geminiAnswer({
      promptTokenCount: 100,
      candidatesTokenCount: 2,
      cachedContentTokenCount: 20,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 25 },
        { modality: 'AUDIO', tokenCount: 75 },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 15 }],
    });
    const ofGemini = await charged('chat', { model: 'm-gemini', text: 'hi', stream });
    assert.equal(ofGemini.svcUsage?.charge_microcredits, cost);
  });
}

const second = Buffer.alloc(31_998).toString('base64');
const sound = { type: 'input_audio', input_audio: { data: second, format: 'wav' } };
const spoken = { messages: [{ role: 'user', content: [sound] }] };

test('the hold covers the sound, and without a report it is charged as sound', async () => {
  for (const name of Object.keys(families)) {
    const account = await bed.account({ micros: 1n });
    const required = async (model: string): Promise<number> => {
      const members = { ...spoken, max_tokens: 1 };
      const told = await ask('chat', account, { model, text: '', members });
      assert.equal(told.status, 402, told.raw);
      return Number(told.headers.get('x-svc-required-microcredits'));
    };
    const more = (await required(`m-${name}`)) - (await required(`plain-${name}`));
    // A second of it is about 32 tokens.
    assert.equal(more, 32 * (micros.sound - micros.input));
  }
  provider.behaviour = chatAnswer(null);
  const question = { text: '', members: spoken, stream: true };
  const told = await charged('chat', { ...question, model: 'm-chat' });
  const plain = await charged('chat', { ...question, model: 'plain-chat' });
  assert.equal(told.svcUsage?.source, 'estimated');
  const [dear, cheap] = [told, plain].map(({ svcUsage }) => svcUsage?.charge_microcredits ?? 0);
  assert.equal(Number(dear) - Number(cheap), 32 * (micros.sound - micros.input));
});

const source = { url: 'https://sky.test/', title: 'Sky', start_index: 0, end_index: 5, more: 1 };
const annotations = [
  { type: 'url_citation', url_citation: source },
  { type: 'file', file: 'f' },
];

for (const stream of [true, false]) {
  test(`stream ${stream}: Chat's own search is paid for, its sources are told`, async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2 };
    const cost = 10 * micros.input + 2 * micros.output;
    provider.behaviour = chatAnswer(usage, annotations);
    const members = { web_search_options: {} };
    const question = { model: 'm-chat', text: 'hi', stream };
    const told = await charged('chat', { ...question, members });
    assert.equal(told.svcUsage?.search_calls, 1, told.raw);
    assert.equal(told.svcUsage?.charge_microcredits, cost + micros.search);
    for (const annotation of annotations) {
      assert.ok(told.raw.includes(JSON.stringify(annotation)), told.raw);
    }
    for (const format of ['responses', 'messages'] as const) {
      const other = await charged(format, question);
      assert.ok(other.raw.includes(source.url), other.raw);
    }
    // Nothing of a search: none was asked for, or none is to be seen.
    const unasked = await charged('chat', question);
    assert.equal(unasked.svcUsage?.charge_microcredits, cost);
    provider.behaviour = chatAnswer(usage);
    const unused = await charged('chat', { ...question, members });
    assert.equal(unused.svcUsage?.charge_microcredits, cost);
  });
}

for (const stream of [true, false]) {
  test(`stream ${stream}: sources behind a call are told, their search is paid for`, async () => {
    const calls = [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }];
    const [words, cited, ...rest] = chatAnswer({ prompt_tokens: 10 }, annotations);
    const called = { id: 'c', choices: [{ index: 0, delta: { tool_calls: calls } }] };
    provider.behaviour = [words, called, cited, ...rest] as object[];
    const members = { web_search_options: {} };
    const told = await charged('chat', { model: 'm-chat', text: 'hi', stream, members });
    assert.ok(told.raw.includes(JSON.stringify(annotations[0])), told.raw);
    assert.equal(told.svcUsage?.search_calls, 1, told.raw);
  });
}

test('an answer that is asked for once more was searched for twice', async () => {
  provider.behaviour = chatAnswer({ prompt_tokens: 10, completion_tokens: 2 }, annotations);
  const account = await bed.account();
  const { availableMicros: before } = await account.balance();
  const members = { web_search_options: {}, response_format: { type: 'json_object' } };
  const told = await ask('chat', account, { model: 'm-chat', text: 'hi', members });
  assert.equal(told.status, 502, told.raw);
  const cost = 10 * micros.input + 2 * micros.output + micros.search;
  const { availableMicros } = await account.quiet();
  assert.equal(before - availableMicros, BigInt(2 * cost));
  // Enough for one search, and for all the tokens.
  const poor = await bed.account({ micros: BigInt(micros.search + 200_000) });
  const question = { model: 'm-chat', text: 'hi', members: { ...members, max_tokens: 9 } };
  const refused = await ask('chat', poor, question);
  assert.equal(refused.status, 402, refused.raw);
  assert.equal((await poor.quiet()).availableMicros, BigInt(micros.search + 200_000 - cost));
});

test('servers that count their searches are believed', async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 2 };
  const counts = [{ num_search_queries: 3 }, { server_tool_use: { web_search_requests: 3 } }];
  for (const counted of counts) {
    provider.behaviour = chatAnswer({ ...usage, ...counted }, annotations);
    const members = { web_search_options: {} };
    const told = await charged('chat', { model: 'm-chat', text: 'hi', members });
    assert.equal(told.svcUsage?.search_calls, 3, told.raw);
  }
});

for (const stream of [true, false]) {
  test(`stream ${stream}: who asks for a search gets Chat's own`, async () => {
    provider.behaviour = chatAnswer({ prompt_tokens: 10, completion_tokens: 2 }, annotations);
    const cost = 10 * micros.input + 2 * micros.output + micros.search;
    const asked = [{ web_search: true }, { metadata: { require_web_search: true } }];
    for (const format of ['chat', 'responses', 'messages', 'legacy'] as const) {
      for (const members of asked) {
        for (const model of ['s-chat', 'r-chat']) {
          const told = await charged(format, { model, text: 'hi', stream, members });
          assert.equal(told.svcUsage?.search_calls, 1, told.raw);
          assert.equal(told.svcUsage?.charge_microcredits, cost);
          assert.deepEqual(lastBody.web_search_options, {});
        }
      }
    }
    // Required, and none is to be seen.
    const account = await bed.account();
    const { availableMicros } = await account.balance();
    provider.behaviour = chatAnswer({ prompt_tokens: 10, completion_tokens: 2 });
    const required = { model: 's-chat', text: 'hi', stream, members: asked[1] ?? {} };
    const unseen = await ask('chat', account, required);
    assert.ok(unseen.error !== null, unseen.raw);
    assert.equal((await account.quiet()).availableMicros, availableMicros);
  });
}

test('Chat is not asked for a search where another route may have it', async () => {
  provider.behaviour = geminiAnswer({ promptTokenCount: 10, candidatesTokenCount: 2 });
  const members = { web_search: true };
  const told = await charged('chat', { model: 's-both', text: 'hi', members });
  assert.equal(told.status, 200, told.raw);
  assert.ok('contents' in lastBody);
});
