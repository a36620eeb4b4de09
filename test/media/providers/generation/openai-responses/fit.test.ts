// What leaves for a server of Responses, in the form that it is not known to refuse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asked,
  called,
  calledInChat,
  hi,
  longNames,
  type Members,
  oddPattern,
  pngBase64,
  sent,
  tool,
} from '../fitting/asked.ts';

const family = 'openai-responses';
const vendor = { baseUrl: 'https://api.openai.com/v1' };
const object = (field: Members) => ({ type: 'object', properties: { field } });

type Item = Members & { call_id: string };
type Sending = Members & { input: Item[]; tools: Item[] };

test('patterns and combinations that it refuses are left out; a client’s own are not', () => {
  const schema = { anyOf: [object({ type: 'string', pattern: oddPattern }), { type: 'null' }] };
  const from = (format: 'messages' | 'chat' | 'responses') => {
    const body = format === 'responses' ? { input: 'hi' } : { messages: hi };
    const request = asked(format, { ...body, tools: [tool(format, 'Artifact', schema)] });
    const [declared] = (sent(family, request, vendor).body as Sending).tools;
    return declared?.parameters;
  };
  const plain = object({ type: 'string' });
  assert.deepEqual(from('messages'), plain);
  assert.deepEqual(from('chat'), plain);
  assert.deepEqual(from('responses'), schema);
});

test('so are those of the format of an answer', () => {
  const json_schema = { name: 'n', schema: object({ type: 'string', pattern: oddPattern }) };
  const request = asked('chat', {
    messages: hi,
    response_format: { type: 'json_schema', json_schema },
  });
  const { text } = sent(family, request, vendor).body;
  const format = { type: 'json_schema', name: 'n', strict: false };
  assert.deepEqual(text, { format: { ...format, schema: object({ type: 'string' }) } });
});

test('a strict schema loses a look around, and stays strict', () => {
  const strict = {
    ...object({ type: 'string', pattern: '^(?!__)[a-z]+$' }),
    required: ['field'],
    additionalProperties: false,
  };
  const tools = [{ ...tool('messages', 'f', strict), strict: true }];
  const request = asked('messages', { messages: hi, tools });
  const [declared] = (sent(family, request, vendor).body as Sending).tools;
  assert.equal(declared?.strict, true);
  assert.deepEqual(declared?.parameters, {
    ...strict,
    properties: { field: { type: 'string' } },
  });
});

test('one that is deeper than the vendor takes is not called strict', () => {
  let schema: Members = { type: 'string' };
  for (let level = 0; level < 11; level += 1) {
    const closed = { additionalProperties: false, required: ['field'] };
    schema = { ...object(schema), ...closed };
  }
  const tools = [{ ...tool('messages', 'f', schema), strict: true }];
  const request = asked('messages', { messages: hi, tools });
  const [declared] = (sent(family, request, vendor).body as Sending).tools;
  assert.equal(declared?.strict, false);
});

test('names and ids that are too long are told shorter', () => {
  const id = `toolu_${'x'.repeat(80)}`;
  const tools = longNames.map((name) => tool('messages', name));
  const tool_choice = { type: 'tool', name: longNames[0] };
  const request = asked('messages', { messages: called(longNames[1], id), tools, tool_choice });
  const { body } = sent(family, request);
  const { input, tools: declared, tool_choice: choice } = body as Sending;
  const names = declared.map(({ name }) => String(name));
  assert.equal(new Set(names).size, 2);
  for (const name of names) assert.ok(name.length <= 64, name);
  assert.deepEqual(choice, { type: 'function', name: names[0] });
  const call = input.find(({ type }) => type === 'function_call');
  const result = input.find(({ type }) => type === 'function_call_output');
  assert.equal(call?.name, names[1]);
  assert.ok((call?.call_id.length ?? 99) <= 64);
  assert.equal(result?.call_id, call?.call_id);
});

test('a client of the format moves here with ids of another model', () => {
  const call_id = `toolu_${'x'.repeat(80)}`;
  const input = [
    ...hi,
    { type: 'function_call', call_id, name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id, output: 'ok' },
  ];
  const request = asked('responses', { input, tools: [tool('responses', 'f')] });
  const [, call, result] = (sent(family, request, vendor).body as Sending).input;
  assert.match(call?.call_id ?? '', /^call_[\w-]{24}$/);
  assert.equal(result?.call_id, call?.call_id);
});

test('a model that reasons is not told how to draw tokens', () => {
  for (const request of [
    asked('responses', { input: 'hi', temperature: 0.2, top_p: 0.9 }),
    asked('messages', { messages: hi, temperature: 0.2, top_p: 0.9 }),
  ]) {
    const { fitted, body } = sent(family, request, { upstreamModel: 'gpt-5-mini' });
    assert.equal('temperature' in body || 'top_p' in body, false);
    assert.deepEqual(fitted.dropped, ['temperature', 'top_p']);
    assert.equal(sent(family, request, { upstreamModel: 'gpt-4.1' }).body.temperature, 0.2);
  }
});

test('instructions stand where the provider’s quirk wants them', () => {
  const input = [...hi, { role: 'developer', content: 'be brief' }, { role: 'user', content: 'x' }];
  const request = asked('responses', { instructions: 'be honest', input });
  const target = { quirks: { systemMessages: 'first' as const } };
  const { body } = sent(family, request, target);
  assert.equal(body.instructions, 'be honest\nbe brief');
  assert.equal((body as Sending).input.length, 2);
});

test('a picture is of the type that its bytes show', () => {
  const image_url = { url: `data:image/gif;base64,${pngBase64}` };
  const content = [{ type: 'image_url', image_url }];
  const request = asked('chat', { messages: [{ role: 'user', content }] });
  const [message] = (sent(family, request).body as Sending).input;
  const [part] = (message?.content ?? []) as Members[];
  assert.equal(part?.image_url, `data:image/png;base64,${pngBase64}`);
});

test('what has nothing to fit is the same request', () => {
  const request = asked('chat', { messages: calledInChat('f', 'call_1') });
  assert.equal(sent(family, request).fitted.request, request);
});
