// Marks of a cache in requests of the Chat format, as gateways have taught clients of models that
// speak Messages: they reach the provider, and the hold covers what writing to a cache costs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cacheLifeOf } from '../../../media/model/cache-marks.ts';
import { ask } from '../../harness/formats.ts';
import { chatSource, neutralRequest } from '../../harness/request.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed();
});
after(() => bed?.close());

const model = 'svc-sim-messages';
const text = { type: 'text', text: 'x'.repeat(8_000) };
const marked = { ...text, cache_control: { type: 'ephemeral' } };
const picture = {
  type: 'image_url',
  image_url: { url: 'data:image/png;base64,aGVsbG8=' },
  cache_control: { type: 'ephemeral' },
};

function messagesOf(...parts: object[]): object[] {
  return [
    { role: 'system', content: parts.slice(-1) },
    { role: 'user', content: [text, ...parts] },
  ];
}

test('they reach a provider of Messages where they stood', async () => {
  const account = await bed.account();
  const members = { messages: messagesOf(picture, marked) };
  const told = await ask('chat', account, { model, text: '', members });
  assert.equal(told.status, 200, told.raw);
  const { system, messages } = (await bed.simulator.lastBody()) as Record<string, object[]>;
  assert.deepEqual(system, [marked]);
  const [{ content = [] } = {}] = messages as { content?: Record<string, unknown>[] }[];
  assert.deepEqual(
    content.map((block) => [block.type, block.cache_control]),
    [
      ['text', undefined],
      ['image', { type: 'ephemeral' }],
      ['text', { type: 'ephemeral' }],
    ],
  );
});

test('those of tools do, too, beside the function or in it', async () => {
  const account = await bed.account();
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const tools = [
    { type: 'function', function: { name: 'plain' } },
    { type: 'function', function: { name: 'beside' }, ...mark },
    { type: 'function', function: { name: 'inside', ...mark } },
  ];
  const told = await ask('chat', account, { model, text: 'hello', members: { tools } });
  assert.equal(told.status, 200, told.raw);
  const sent = (await bed.simulator.lastBody()) as { tools: Record<string, unknown>[] };
  assert.deepEqual(
    sent.tools.map((tool) => [tool.name, tool.cache_control]),
    [
      ['plain', undefined],
      ['beside', mark.cache_control],
      ['inside', mark.cache_control],
    ],
  );
  const old = { functions: [{ name: 'old', ...mark }] };
  for (const declared of [...tools.slice(1).map((tool) => ({ tools: [tool] })), old]) {
    const source = chatSource({ messages: [], ...declared });
    assert.equal(cacheLifeOf(neutralRequest({ source })), '1h');
  }
});

test('one deep in the result of a tool is seen', () => {
  const piece = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
  const document = { type: 'document', source: { type: 'content', content: [piece] } };
  const result = { type: 'tool_result', tool_use_id: 't', content: [document] };
  const body = { messages: [{ role: 'user', content: [result] }] };
  const source = { format: 'messages' as const, body, headers: {}, rewritten: false };
  assert.equal(cacheLifeOf(neutralRequest({ source })), '5m');
});

test('one beside the messages does', async () => {
  const account = await bed.account();
  const members = { cache_control: { type: 'ephemeral' } };
  const told = await ask('chat', account, { model, text: 'hello', members });
  assert.equal(told.status, 200, told.raw);
  const { cache_control } = (await bed.simulator.lastBody()) as Record<string, unknown>;
  assert.deepEqual(cache_control, members.cache_control);
});

test('the hold is told of them', () => {
  const lifeOf = (part: object) => {
    const body = { messages: messagesOf(part) };
    return cacheLifeOf(neutralRequest({ source: chatSource(body) }));
  };
  assert.equal(lifeOf(text), 'none');
  assert.equal(lifeOf(marked), '5m');
  assert.equal(lifeOf({ ...text, cache_control: { type: 'ephemeral', ttl: '1h' } }), '1h');
});
