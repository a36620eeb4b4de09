// What leaves for a Messages server, forwarded or written from another format; what is counted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  GenerationRequest,
  Message,
  OutputFormat,
} from '../../../../../media/model/request.ts';
import { noSampling } from '../../../../../media/model/request.ts';
import { anthropicMessages } from '../../../../../media/providers/generation/anthropic-messages/family.ts';
import type { CallOptions } from '../../../../../media/providers/generation/contract.ts';
import { neutralRequest, upstreamTarget, userMessage } from '../../../../harness/request.ts';

type Members = Record<string, unknown>;

const target = upstreamTarget('anthropic-messages');

function send(request: GenerationRequest, options: Partial<CallOptions> = {}) {
  const call = anthropicMessages.encodeRequest(request, target, {
    outputTokensMax: 4_000,
    nativeSearch: false,
    ...options,
  });
  return { call, sent: JSON.parse(JSON.stringify(call.body)) as Members };
}

function forward(
  body: Members,
  headers: Record<string, string> = {},
  options: Partial<CallOptions> = {},
) {
  const messages = [{ role: 'user', content: 'hi' }];
  const whole = { model: 'alias', max_tokens: 9_000, messages, ...body };
  const source = { format: 'messages' as const, body: whole, headers, rewritten: false };
  return send(neutralRequest({ source }), options);
}

function translate(
  messages: Message[],
  change: Partial<GenerationRequest> = {},
  options: Partial<CallOptions> = {},
): Members {
  return send(neutralRequest({ messages, ...change }), options).sent;
}

function said(text: string, calls: Message['toolCalls'] = [], parts: Message['parts'] = []) {
  const words: Message['parts'] = text === '' ? [] : [{ type: 'text', text }];
  return {
    role: 'assistant' as const,
    parts: [...parts, ...words],
    toolCalls: calls,
    toolCallId: null,
  };
}

function result(id: string, text: string): Message {
  return { role: 'tool', parts: [{ type: 'text', text }], toolCalls: [], toolCallId: id };
}

const call = { id: 'call_1', name: 'f', arguments: '{"a":1}' };
const block = (text: string) => ({ type: 'text', text });

test('a last turn without words is still a turn: the model does not go on with its own', () => {
  const { messages } = translate([userMessage('a'), said('b '), userMessage(' ')]);
  assert.deepEqual(messages, [
    { role: 'user', content: [{ type: 'text', text: 'a' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'b ' }] },
    { role: 'user', content: [{ type: 'text', text: '(An empty message.)' }] },
  ]);
  const { messages: alone } = translate([userMessage('')]);
  assert.deepEqual(alone, [
    { role: 'user', content: [{ type: 'text', text: '(An empty message.)' }] },
  ]);
});

test('forwards what may pass, takes out what is ours or has another price', () => {
  const { sent, call: made } = forward(
    {
      system: 'be kind',
      temperature: 0.5,
      brand_new: { a: 1 },
      request_id: 'x',
      conversation_id: 'c',
      web_search: false,
      client_context: {},
      optimization: {},
      text: { format: { type: 'text' } },
      max_output_tokens: 9,
      metadata: { user_id: 'u', intelligent_reroute: true, mine: 1 },
      stream: false,
      service_tier: 'auto',
      speed: 'fast',
      inference_geo: 'us',
      workspace_id: 'w',
      billing_policy: { type: 'billing_policy', bill_to: 'user_profile' },
      ...JSON.parse('{"__proto__":{"polluted":1}}'),
    },
    { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a,b' },
  );
  assert.deepEqual(sent, {
    model: 'upstream-model',
    system: 'be kind',
    messages: [{ role: 'user', content: 'hi' }],
    temperature: 0.5,
    metadata: { user_id: 'u' },
    max_tokens: 4_000,
    stream: true,
  });
  assert.equal(made.url, 'http://localhost:1234/v1/messages');
  assert.equal(made.headers['x-api-key'], 'secret');
  assert.equal(made.headers['anthropic-version'], '2026-10-21');
  assert.equal(made.headers['anthropic-beta'], 'a,b');
  assert.equal(forward({}).call.headers['anthropic-version'], '2023-06-01');
  assert.equal('anthropic-beta' in forward({}).call.headers, false);
});

test('thinking stays under the ceiling that really holds, or goes', () => {
  const enabled = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } });
  assert.deepEqual(forward(enabled(2_000)).sent.thinking, enabled(2_000).thinking);
  assert.deepEqual(forward(enabled(8_000)).sent.thinking, enabled(3_999).thinking);
  assert.equal(forward(enabled(8_000), {}, { outputTokensMax: 900 }).sent.thinking, undefined);
  const adaptive = { type: 'adaptive' };
  assert.deepEqual(forward({ thinking: adaptive }).sent.thinking, adaptive);
});

test('a tool turn without its own thinking is gone on with without thinking', () => {
  const thinking = { type: 'enabled', budget_tokens: 2_000 };
  const thought = { type: 'thinking', thinking: 'hm', signature: 's' };
  const used = { type: 'tool_use', id: 't', name: 'f', input: {} };
  const answered = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't' }] };
  const turn = (...content: Members[]) => [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content },
    answered,
  ];
  const isOn = (messages: unknown) => forward({ messages, thinking }).sent.thinking !== undefined;
  assert.equal(isOn(turn(thought, used)), true);
  assert.equal(isOn(turn({ type: 'redacted_thinking', data: 'x' }, used)), true);
  assert.equal(isOn(turn(used)), false);
  // Of a model of another format: it has no signature, and is not sent.
  const unsigned = { ...thought, signature: '' };
  const { sent } = forward({ messages: turn(unsigned, used), thinking });
  assert.equal(sent.thinking, undefined);
  assert.deepEqual((sent.messages as Members[])[1]?.content, [used]);
});

test('effort becomes a budget with room for the answer; what cannot stand beside goes', () => {
  const reasoning = (effort: string | null, budgetTokens: number | null = null) => ({
    reasoning: { effort, budgetTokens, summary: false },
    sampling: { ...noSampling, temperature: 0.5, topK: 4 },
  });
  const thinkingOf = (change: Partial<GenerationRequest>, outputTokensMax = 4_000) =>
    translate([userMessage('hi')], change, { outputTokensMax, reasons: true });
  assert.deepEqual(thinkingOf(reasoning('low')).thinking, {
    type: 'enabled',
    budget_tokens: 2_048,
  });
  assert.deepEqual(thinkingOf(reasoning('high')).thinking, {
    type: 'enabled',
    budget_tokens: 3_000,
  });
  assert.equal(thinkingOf(reasoning('low')).temperature, undefined);
  assert.equal(thinkingOf(reasoning('low')).top_k, undefined);
  assert.equal(thinkingOf(reasoning('none')).thinking, undefined);
  assert.equal(thinkingOf(reasoning('none')).temperature, 0.5);
  assert.equal(thinkingOf(reasoning('high'), 1_200).thinking, undefined);
  assert.deepEqual(thinkingOf(reasoning(null, 9_000)).thinking, {
    type: 'enabled',
    budget_tokens: 3_999,
  });
  const tools = [{ name: 'f', description: null, parameters: null, strict: null }];
  const forced = { ...reasoning('low'), tools, toolChoice: 'required' as const };
  assert.equal(thinkingOf(forced).thinking, undefined);
  const unknown = translate([userMessage('hi')], reasoning('low'), { outputTokensMax: 4_000 });
  assert.equal(unknown.thinking, undefined, 'not with a model that is not known to reason');
  assert.equal(unknown.temperature, 0.5);
});

test('turns alternate, the user’s first, results right behind their calls', () => {
  const system: Message = { ...userMessage('s'), role: 'system' };
  const developer: Message = { ...userMessage('d'), role: 'developer' };
  const other = { id: 'call_2', name: 'g', arguments: '' };
  const sent = translate([
    system,
    userMessage('one'),
    userMessage('two'),
    developer,
    said('I call.', [call, other]),
    userMessage('meanwhile'),
    result('call_2', 'second'),
    result('call_1', 'first'),
    said('done '),
  ]);
  assert.deepEqual(sent.system, [block('s'), block('d')]);
  assert.deepEqual(sent.messages, [
    { role: 'user', content: [block('one'), block('two')] },
    {
      role: 'assistant',
      content: [
        block('I call.'),
        { type: 'tool_use', id: 'call_1', name: 'f', input: { a: 1 } },
        { type: 'tool_use', id: 'call_2', name: 'g', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: [block('first')] },
        { type: 'tool_result', tool_use_id: 'call_2', content: [block('second')] },
        block('meanwhile'),
      ],
    },
    { role: 'assistant', content: [block('done')] },
  ]);
});

test('calls without results, results without calls, ids used twice and odd ids are mended', () => {
  const odd = { id: 'call:1/x', name: 'f', arguments: 'not json' };
  const sent = translate([
    said('', [odd]),
    userMessage('go on'),
    said('', [odd]),
    result('call:1/x', 'now'),
    result('nobody', 'lost'),
  ]);
  const [first, asked, missing, again, last] = sent.messages as { content: Members[] }[];
  assert.equal((first as unknown as Members).role, 'user');
  assert.deepEqual(asked?.content[0], {
    type: 'tool_use',
    id: 'call_1_x',
    name: 'f',
    input: { invalid_arguments: 'not json' },
  });
  assert.equal(missing?.content[0]?.is_error, true);
  assert.equal(missing?.content[0]?.tool_use_id, 'call_1_x');
  assert.equal(again?.content[0]?.id, 'call_1_x_2');
  assert.deepEqual(
    last?.content.map(({ type }) => type),
    ['tool_result', 'text'],
  );
});

test('a conversation of instructions alone is what the user says', () => {
  const sent = translate([{ ...userMessage('s'), role: 'system' }]);
  assert.equal(sent.system, undefined);
  assert.deepEqual(sent.messages, [{ role: 'user', content: [block('s')] }]);
});

test('images and files become blocks, native parts of this format stay, others go', () => {
  const thought = { type: 'thinking', thinking: 'hm', signature: 's' };
  const native = (format: 'messages' | 'responses', value: Members) => {
    return { type: 'native' as const, format, value };
  };
  const user: Message = {
    ...userMessage('look'),
    parts: [
      { type: 'image', url: 'data:image/jpeg;base64,AA', detail: 'low' },
      { type: 'image', url: 'https://a.example/b.png', detail: null },
      { type: 'file', url: 'data:application/pdf;base64,BB', name: 'N' },
      { type: 'file', url: 'data:text/plain,Gr%C3%BC%C3%9Fe', name: null },
      { type: 'file', url: 'https://a.example/c.pdf', name: null },
    ],
  };
  const assistant = said(
    'so',
    [],
    [
      native('messages', thought),
      native('messages', { type: 'thinking', thinking: 'x', signature: '' }),
      native('responses', { type: 'reasoning' }),
    ],
  );
  const sent = translate([user, assistant, userMessage('go')]).messages as { content: Members[] }[];
  assert.deepEqual(
    sent[0]?.content.map(({ source }) => source),
    [
      { type: 'base64', media_type: 'image/jpeg', data: 'AA' },
      { type: 'url', url: 'https://a.example/b.png' },
      { type: 'base64', media_type: 'application/pdf', data: 'BB' },
      { type: 'text', media_type: 'text/plain', data: 'Grüße' },
      { type: 'url', url: 'https://a.example/c.pdf' },
    ],
  );
  assert.equal(sent[0]?.content[2]?.title, 'N');
  assert.deepEqual(sent[1]?.content, [thought, block('so')]);
});

test('tools, their choice and the search of the provider', () => {
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  const tools = [
    { name: 'f', description: 'd', parameters: closed, strict: true },
    { name: 'g', description: null, parameters: null, strict: true },
    // As clients in Go write an empty map.
    {
      name: 'h',
      description: null,
      parameters: { type: 'object', properties: null },
      strict: null,
    },
  ];
  const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 };
  const sent = translate(
    [userMessage('hi')],
    { tools, parallelToolCalls: false },
    {
      nativeSearch: true,
    },
  );
  const [first, second, empty, third] = sent.tools as Members[];
  assert.deepEqual(empty?.input_schema, { type: 'object', properties: {} });
  assert.deepEqual(first, { name: 'f', description: 'd', input_schema: closed, strict: true });
  assert.deepEqual(second?.input_schema, {
    type: 'object',
    properties: {},
    additionalProperties: false,
  });
  assert.deepEqual(third, search);
  assert.deepEqual(sent.tool_choice, { type: 'auto', disable_parallel_tool_use: true });
  const own = forward({ tools: [{ ...search, max_uses: 1 }] }, {}, { nativeSearch: true });
  assert.equal((own.sent.tools as Members[]).length, 1, 'it is not offered twice');
  const choices = [
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [{ name: 'f' }, { type: 'tool', name: 'f' }],
  ] as const;
  for (const [toolChoice, expected] of choices) {
    assert.deepEqual(translate([userMessage('hi')], { tools, toolChoice }).tool_choice, expected);
  }
});

test('its own search has a name that a function of the client’s may have taken', () => {
  const named = (name: string) =>
    neutralRequest({ tools: [{ name, description: null, parameters: null, strict: null }] });
  assert.equal(anthropicMessages.searches(named('f')), true);
  assert.equal(anthropicMessages.searches(named('web_search')), false);
});

function formatOf(schema: Members): OutputFormat {
  return { type: 'json_schema', name: 'n', schema, strict: false };
}

test('a schema is kept to as far as the provider can, any object is asked for in words', () => {
  const item = { type: 'object', properties: { a: { type: 'string' } } };
  const open = { type: 'object', properties: { list: { type: 'array', items: item } } };
  const outputFormat = formatOf(open);
  const constrains = (format: OutputFormat) =>
    anthropicMessages.constrains(format, neutralRequest(), target);
  assert.equal(constrains(outputFormat), true);
  const closedItems = { ...item, additionalProperties: false };
  const sent = translate([userMessage('hi')], { outputFormat });
  assert.deepEqual(sent.output_config, {
    format: {
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: { list: { type: 'array', items: closedItems } },
        additionalProperties: false,
      },
    },
  });
  for (const rule of [
    { type: 'string', pattern: 'a+' },
    { type: 'integer', minimum: 3 },
    { type: 'object', additionalProperties: { type: 'string' } },
    { type: 'array', items: { type: 'string' }, minItems: 4 },
    // Closed, as the provider wants all objects, nothing could be in it.
    { type: 'object' },
    { type: ['object', 'null'] },
    { enum: [{ a: 1 }] },
    { $ref: 'https://x.test/schema' },
    {},
  ]) {
    assert.equal(constrains(formatOf({ type: 'object', properties: { rule } })), false);
  }
  for (const rule of [{ type: ['object', 'null'], properties: {} }, { enum: ['a', 1, null] }]) {
    assert.equal(constrains(formatOf({ type: 'object', properties: { rule } })), true);
  }
  const whole = { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 };
  const { format } = translate([userMessage('hi')], {
    outputFormat: formatOf({ type: 'object', properties: { whole } }),
  }).output_config as Members;
  assert.deepEqual((format as { schema: Members }).schema.properties, {
    whole: { type: 'integer' },
  });
  assert.equal(constrains({ type: 'json_object' }), false);
  const object = translate([userMessage('hi')], { outputFormat: { type: 'json_object' } });
  assert.deepEqual([object.system, object.output_config], [undefined, undefined]);
});

test('schemas that lead back to themselves are asked for in words', () => {
  const treeOf = (leaf: Members, node: Members) =>
    formatOf({
      type: 'object',
      properties: { root: { $ref: '#/$defs/node' } },
      $defs: { node: { type: 'object', properties: { next: node } }, leaf },
    });
  const constrains = (format: OutputFormat) =>
    anthropicMessages.constrains(format, neutralRequest(), target);
  const text = { type: 'string' };
  const again = { $ref: '#/$defs/node' };
  const toLeaf = { anyOf: [{ $ref: '#/$defs/leaf' }, { $ref: '#/$defs/leaf' }] };
  assert.equal(constrains(treeOf(text, toLeaf)), true);
  assert.equal(constrains(treeOf(text, { type: 'array', items: again })), false);
  assert.equal(constrains(treeOf({ anyOf: [again, { type: 'null' }] }, toLeaf)), false);
  assert.equal(constrains(formatOf({ properties: { self: { $ref: '#' } } })), false);
  // The same by another spelling of its name (RFC 6901, 3 and 6).
  for (const [name, spelt] of [
    ['a/b', 'a~1b'],
    ['node', '%6eode'],
  ] as const) {
    const $ref = `#/$defs/${spelt}`;
    const node = { type: 'object', properties: { next: { type: 'array', items: { $ref } } } };
    const hidden = { type: 'object', properties: { root: { $ref } }, $defs: { [name]: node } };
    assert.equal(constrains(formatOf(hidden)), false, spelt);
  }
});

test('data URLs may be written in any case, and say their encoding anywhere', () => {
  const parts: Message['parts'] = [
    { type: 'image', url: 'DATA:image/PNG; BASE64,AA==', detail: null },
    { type: 'file', url: 'Data:Text/Plain;charset=utf-8,a%20b', name: null },
  ];
  const sent = translate([{ ...userMessage(''), parts }]);
  const source = { type: 'base64', media_type: 'image/png', data: 'AA==' };
  const text = { type: 'text', media_type: 'text/plain', data: 'a b' };
  assert.deepEqual(sent.messages, [
    {
      role: 'user',
      content: [
        { type: 'image', source },
        { type: 'document', source: text },
      ],
    },
  ]);
});

test('what it has no form for is named', () => {
  const value = { type: 'file_search' };
  const native = { format: 'responses' as const, value, path: 'tools[0]' };
  assert.equal(anthropicMessages.lacks(neutralRequest({ nativeTools: [native] })), 'tools');
  const audio: Message = {
    ...userMessage(''),
    parts: [{ type: 'native', format: 'chat', value: { type: 'input_audio' } }],
  };
  assert.equal(anthropicMessages.lacks(neutralRequest({ messages: [audio] })), 'messages');
  assert.equal(anthropicMessages.lacks(neutralRequest()), null);
});

test('a count is of the same body without what only an answer needs', () => {
  const { counting } = anthropicMessages;
  assert.ok(counting);
  const body = {
    model: 'alias',
    system: 's',
    max_tokens: 10,
    stream: true,
    temperature: 1,
    stop_sequences: ['x'],
    metadata: { user_id: 'u' },
    messages: [{ role: 'user', content: 'hi' }],
  };
  const source = { format: 'messages' as const, body, headers: {}, rewritten: false };
  const made = counting.encode(neutralRequest({ source }), target);
  assert.equal(made.url, 'http://localhost:1234/v1/messages/count_tokens');
  assert.deepEqual(JSON.parse(JSON.stringify(made.body)), {
    model: 'upstream-model',
    system: 's',
    messages: [{ role: 'user', content: 'hi' }],
  });
  assert.equal(counting.read('{"input_tokens":12}'), 12);
  for (const nonsense of ['', '[]', '{}', '{"input_tokens":"3"}', '{"input_tokens":-1}']) {
    assert.equal(counting.read(nonsense), null);
  }
});
