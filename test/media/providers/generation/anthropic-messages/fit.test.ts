// What leaves for a server of Messages, in the form that it is not known to refuse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asked,
  called,
  calledInChat,
  hi,
  type Members,
  oddPattern,
  pdfBase64,
  pngBase64,
  sent,
  tool,
} from '../fitting/asked.ts';

const family = 'anthropic-messages';
const vendor = { baseUrl: 'https://api.anthropic.com/v1' };
const object = (properties: Members, more: Members = {}) => ({
  type: 'object',
  properties,
  ...more,
});
const text = { type: 'string' };

interface Sending extends Members {
  messages: { role: string; content: Members[] }[];
  tools: { name: string; input_schema: Members }[];
}

function told(format: 'chat' | 'responses' | 'messages', body: Members, target = {}): Sending {
  return sent(family, asked(format, body), target).body as Sending;
}

test('combinations at the top of a schema become one object', () => {
  const variants = [
    object({ kind: { const: 'a' }, x: text }, { required: ['kind', 'x'] }),
    object({ kind: { const: 'b' }, y: text }, { required: ['kind'] }),
  ];
  const schema = { oneOf: variants };
  const [declared] = told('chat', { messages: hi, tools: [tool('chat', 'f', schema)] }).tools;
  assert.deepEqual(declared?.input_schema, {
    ...object({ kind: { enum: ['a', 'b'] }, x: text, y: text }),
    required: ['kind'],
  });
  // What stands deeper is taken.
  const inner = object({ one: { anyOf: [text, { type: 'null' }] } });
  const [kept] = told('chat', { messages: hi, tools: [tool('chat', 'f', inner)] }).tools;
  assert.deepEqual(kept?.input_schema, inner);
});

test('the vendor is told a pattern of JavaScript, others what is a grammar', () => {
  const schema = object({ a: { ...text, pattern: oddPattern }, b: { ...text, pattern: '(' } });
  const body = { messages: hi, tools: [tool('chat', 'f', schema)] };
  const [atVendor] = told('chat', body, vendor).tools;
  assert.deepEqual(
    atVendor?.input_schema,
    object({ a: { ...text, pattern: oddPattern }, b: text }),
  );
  const [elsewhere] = told('chat', body).tools;
  assert.deepEqual(elsewhere?.input_schema, object({ a: text, b: text }));
});

test('arguments with names that it refuses are left out', () => {
  const schema = object({ $filter: text, 'x.y-z_1': text }, { required: ['$filter', 'x.y-z_1'] });
  const [declared] = told('chat', { messages: hi, tools: [tool('chat', 'f', schema)] }).tools;
  const plain = object({ 'x.y-z_1': text }, { required: ['x.y-z_1'] });
  assert.deepEqual(declared?.input_schema, plain);
});

test('a client of the format is told as it said', () => {
  const schema = { oneOf: [object({ $a: { ...text, pattern: oddPattern } })] };
  const tools = [tool('messages', 'a name', schema)];
  const messages = called('a name', 'functions.f:0');
  const body = told('messages', { messages, tools });
  assert.deepEqual(body.tools, tools);
  assert.deepEqual(body.messages, messages);
});

test('names and ids of clients of other formats have its characters', () => {
  const name = `files.read ${'x'.repeat(150)}`;
  const id = `functions.f:0${'x'.repeat(80)}`;
  const body = told('chat', { messages: calledInChat(name, id), tools: [tool('chat', name)] });
  const [declared] = body.tools;
  assert.match(declared?.name ?? '', /^files_read_x+_[\da-f]{8}$/);
  assert.equal(declared?.name.length, 128);
  const [use] = body.messages[1]?.content ?? [];
  const [result] = body.messages[2]?.content ?? [];
  assert.equal(use?.name, declared?.name);
  assert.match(String(use?.id), /^[a-zA-Z0-9_-]{1,64}$/);
  assert.equal(result?.tool_use_id, use?.id);
});

test('ids of another model are made fit for the vendor, of its own clients too', () => {
  const messages = called('f', 'functions.f:0');
  const body = told('messages', { messages, tools: [tool('messages', 'f')] }, vendor);
  const [use] = body.messages[1]?.content ?? [];
  const [result] = body.messages[2]?.content ?? [];
  assert.match(String(use?.id), /^[a-zA-Z0-9_-]{1,64}$/);
  assert.equal(result?.tool_use_id, use?.id);
});

const drawing = { temperature: 0.2, top_p: 0.9, top_k: 5 };
const models: readonly (readonly [model: string, kept: string[], dropped: string[]])[] = [
  ['claude-3-5-sonnet-20241022', ['temperature', 'top_p', 'top_k'], []],
  ['claude-opus-4-20250514', ['temperature', 'top_p', 'top_k'], []],
  ['claude-sonnet-4-5', ['temperature', 'top_k'], ['top_p']],
  ['claude-opus-4-7', [], ['temperature', 'top_p', 'top_k']],
];

for (const [upstreamModel, kept, dropped] of models) {
  test(`${upstreamModel} is told ${kept.join(' and ') || 'nothing'} of how to draw tokens`, () => {
    const request = asked('messages', { messages: hi, ...drawing });
    const { fitted, body } = sent(family, request, { upstreamModel });
    const given = Object.keys(drawing).filter((name) => name in body);
    assert.deepEqual(given, kept);
    assert.deepEqual(fitted.dropped, dropped);
  });
}

test('pictures and documents of its own clients are of the type that their bytes show', () => {
  const block = (type: string, media_type: string, data: string) => {
    return { type, source: { type: 'base64', media_type, data } };
  };
  const content = [
    block('image', 'image/jpeg', pngBase64),
    block('document', 'application/pdf', pdfBase64),
    { type: 'text', text: 'see', cache_control: { type: 'ephemeral' } },
  ];
  const [message] = told('messages', { messages: [{ role: 'user', content }] }).messages;
  const right = [block('image', 'image/png', pngBase64), ...content.slice(1)];
  assert.deepEqual(message?.content, right);
});

test('instructions between turns stay, or stand where the provider’s quirk wants them', () => {
  const messages = [...hi, { role: 'system', content: 'be brief' }];
  const request = asked('messages', { system: 'be honest', messages });
  assert.deepEqual(sent(family, request).body.messages, messages);
  const quirks = { systemMessages: 'first' as const };
  const { system, messages: others } = sent(family, request, { quirks }).body as Sending;
  assert.deepEqual(system, [
    { type: 'text', text: 'be honest' },
    { type: 'text', text: 'be brief' },
  ]);
  assert.equal(others.length, 1);
});

test('what has nothing to fit is the same request', () => {
  const request = asked('chat', { messages: calledInChat('f', 'call_1'), temperature: 0.2 });
  assert.equal(sent(family, request).fitted.request, request);
});
