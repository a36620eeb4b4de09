// Exact models and what is in a request that they cannot take: refused by its path, for nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { ask, type Format } from '../../harness/formats.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

const model = 'svc-sim-chat';
const blind = 'blind';
let sim: RunningSim;
let bed: Testbed;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  const base_url = `http://127.0.0.1:${sim.port}/v1`;
  const routes = [{ provider: 'p', upstream_model: 'simulated-chat-small-2026-01-15' }];
  const price = { input_per_million: '1', output_per_million: '2' };
  const capabilities = ['chat', 'tools'];
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: [{ name: 'p', family: 'openai-chat', base_url }],
      models: [{ alias: blind, routes, price, capabilities, context_window: 100_000 }],
      routes: [{ alias: 'm-blind', pool: [{ model: blind, quality: 50 }], optimizer: 'never' }],
    },
  });
});

after(async () => {
  await bed?.close();
  sim?.close();
});

test('a model that hears nothing names the sound where the client has put it', async () => {
  const account = await bed.account();
  const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
  const user = { role: 'user', content: 'hi' };
  const spoken = { role: 'user', content: [{ type: 'text', text: 'what is said' }, sound] };
  const words = { role: 'user', content: [{ type: 'input_text', text: 'what is said' }, sound] };
  const cases: [Format, Record<string, unknown>, string][] = [
    ['chat', { messages: [user, spoken] }, 'messages[1].content'],
    ['responses', { input: [words] }, 'input[0].content'],
    ['responses', { input: null, messages: [user, words] }, 'messages[1].content'],
    ['legacy', { input: [user, words] }, 'input[1].content'],
  ];
  for (const [format, members, path] of cases) {
    for (const stream of [false, true]) {
      const told = await ask(format, account, { model, text: '', members: { ...members, stream } });
      assert.equal(told.status, 400, told.raw);
      assert.match(told.raw, /The model takes no audio/);
      const { param, details } = told.error as { param?: string; details?: { path: string } };
      assert.equal(param ?? details?.path, path, told.raw);
    }
  }
  assert.equal((await account.balance()).heldMicros, 0n);
});

test('a model without eyes reads files of text, and refuses others by their path', async () => {
  const account = await bed.account();
  const simulator = new Simulator(`http://127.0.0.1:${sim.port}`);
  const flat = { type: 'text', media_type: 'text/plain', data: 'flat words' };
  const pieces = { type: 'content', content: [{ type: 'text', text: 'one piece' }] };
  const scan = { type: 'base64', media_type: 'application/pdf', data: 'QQ==' };
  const told = (model: string, ...sources: object[]) => {
    const content = sources.map((source) => ({ type: 'document', source }));
    const members = { messages: [{ role: 'user', content }] };
    return ask('messages', account, { model, text: '', members });
  };
  for (const alias of [blind, 'm-blind']) {
    const read = await told(alias, flat, pieces);
    assert.equal(read.status, 200, read.raw);
    assert.match(JSON.stringify(await simulator.lastBody()), /flat words.*one piece/);
    const refused = await told(alias, flat, scan);
    assert.equal(refused.status, 400, refused.raw);
  }
});

const families = ['chat', 'messages', 'gemini'];
const question = { role: 'user', content: 'hi [[sim tokens=1]]' };

test('an item that another family has no form for is refused by its place', async () => {
  const account = await bed.account();
  const told = (model: string, members: object) =>
    ask('responses', account, { model, text: '', members: { ...members } });
  const pictured = { role: 'user', content: [{ type: 'input_image', file_id: 'f' }] };
  const strange = [
    { type: 'mystery', x: 1 },
    { type: 'compaction', encrypted_content: 'x' },
    // One of its tools is neither the client's own function nor a mere offer.
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'local_shell' }] },
    { type: 'additional_tools', role: 'developer' },
    // Executed by the client: it may declare tools, and this family would never hear of them.
    {
      type: 'tool_search_output',
      call_id: 't',
      execution: 'client',
      status: 'completed',
      tools: [],
    },
    { type: 'tool_search_call', call_id: 't', status: 'completed', arguments: {} },
  ];
  const executed = { call_id: null, execution: 'server', status: 'completed' };
  const traces = [
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'tool_search_call', id: 'tsc_1', ...executed, arguments: { paths: ['crm'] } },
    { type: 'tool_search_output', id: 'tso_1', ...executed, tools: [] },
  ];
  for (const family of families) {
    const model = `svc-sim-${family}`;
    for (const item of strange) {
      const refused = await told(model, { input: [question, item, question] });
      assert.equal(refused.status, 400, refused.raw);
      assert.equal(refused.error?.param, 'input[1]');
    }
    const within = await told(model, { input: null, messages: [question, pictured] });
    assert.equal(within.error?.param, 'messages[1].content', within.raw);
    const answered = await told(model, { input: [question, ...traces, question] });
    assert.equal(answered.status, 200, answered.raw);
  }
  const forwarded = await told('svc-sim-responses', { input: [question, strange[1]] });
  assert.equal(forwarded.status, 200, forwarded.raw);
  assert.equal((await account.balance()).heldMicros, 0n);
});

test('what compacts a conversation is refused where another family would lose it', async () => {
  const account = await bed.account();
  const told = (family: string, members: object) =>
    ask('messages', account, { model: `svc-sim-${family}`, text: '', members: { ...members } });
  const begun = (content: string | null) => {
    const compacted = { role: 'assistant', content: [{ type: 'compaction', content }] };
    return { messages: [compacted, question] };
  };
  const [summary] = begun('So far: nothing.').messages;
  const asked = { messages: [question], compaction: { type: 'summarize' } };
  for (const family of [...families.filter((name) => name !== 'messages'), 'responses']) {
    const refusals: [object, RegExp][] = [
      [asked, /'compaction'/],
      [begun('So far: nothing.'), /'messages\[0\]\.content'/],
    ];
    for (const [members, path] of refusals) {
      const refused = await told(family, members);
      assert.equal(refused.status, 400, refused.raw);
      assert.match(refused.error?.message ?? '', path);
    }
    // All that it stands for is there, or it stands for nothing.
    for (const members of [{ messages: [question, summary, question] }, begun(null)]) {
      const answered = await told(family, members);
      assert.equal(answered.status, 200, answered.raw);
    }
  }
  for (const members of [asked, begun('So far: nothing.')]) {
    const forwarded = await told('messages', members);
    assert.equal(forwarded.status, 200, forwarded.raw);
  }
  assert.equal((await account.balance()).heldMicros, 0n);
});

test('a conversation without anything in it is refused by its member', async () => {
  const account = await bed.account();
  const cases: [Format, object, string][] = [
    ['responses', { input: [] }, 'input'],
    ['responses', { input: [], background: true }, 'input'],
    ['responses', { input: null, messages: [] }, 'messages'],
    ['legacy', { input: [] }, 'input'],
    ['legacy', { input: null, messages: [] }, 'messages'],
  ];
  for (const family of [...families, 'responses']) {
    const told = (format: Format, members: object) =>
      ask(format, account, { model: `svc-sim-${family}`, text: '', members: { ...members } });
    for (const [format, members, path] of cases) {
      const empty = await told(format, members);
      assert.equal(empty.status, 400, empty.raw);
      const { param, details } = empty.error as { param?: string; details?: { path: string } };
      assert.equal(param ?? details?.path, path, empty.raw);
    }
    // They are the question then.
    for (const format of ['responses', 'legacy'] as const) {
      const instructed = await told(format, { input: [], instructions: question.content });
      assert.equal(instructed.status, 200, instructed.raw);
    }
  }
  assert.equal((await account.balance()).heldMicros, 0n);
});
