// Reading a Messages body: what is accepted, what becomes of it, what is refused and where.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJsonSchema } from '@valibot/to-json-schema';
import {
  readCountRequest,
  readRequest,
} from '../../../../../media/model/dialects/messages/request.ts';
import {
  type CountRequestBody,
  countRequestSchema,
  type MessagesRequestBody,
  messagesRequestSchema,
} from '../../../../../media/model/dialects/messages/schema.ts';
import type { GenerationRequest } from '../../../../../media/model/request.ts';
import { encodeParts } from '../../../../../media/providers/generation/anthropic-messages/parts.ts';
import { validateBody } from '../../../../../runtime/http/validate.ts';
import { Problem } from '../../../../../runtime/problem.ts';

const user = { role: 'user', content: 'hi' };

function read(body: Record<string, unknown>): GenerationRequest {
  const whole = { model: 'svc-sim-messages', max_tokens: 100, messages: [user], ...body };
  return readRequest(validateBody(messagesRequestSchema, whole) as MessagesRequestBody, {});
}

function refusal(body: Record<string, unknown>): { code: string; param: string | null } {
  try {
    read(body);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return { code: error.code, param: error.param };
  }
  return assert.fail(`accepted ${JSON.stringify(body)}`);
}

test('reads every role and block, calls and their results', () => {
  const cache_control = { type: 'ephemeral' };
  const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
  const request = read({
    system: [{ type: 'text', text: 's', cache_control }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/b.png' } },
          {
            type: 'document',
            title: 'T',
            source: { type: 'base64', media_type: 'application/pdf', data: 'BB' },
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
          { type: 'document', source: { type: 'file', file_id: 'f' } },
          { type: 'brand_new_block', x: 1 },
        ],
      },
      {
        role: 'assistant',
        content: [
          thinking,
          { type: 'text', text: 'I call.' },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
          { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'one' },
          {
            type: 'tool_result',
            tool_use_id: 'toolu_2',
            is_error: true,
            content: [{ type: 'text', text: 'two' }],
          },
          { type: 'text', text: 'go on' },
        ],
      },
      { role: 'system', content: 'be brief' },
      { role: 'assistant', content: 'So' },
    ],
  });
  const { messages } = request;
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'tool', 'user', 'system', 'assistant'],
  );
  assert.deepEqual(messages[0]?.parts, [{ type: 'text', text: 's', cacheControl: cache_control }]);
  assert.deepEqual(
    messages[1]?.parts.map((part) => ('url' in part ? part.url : part.type)),
    [
      'text',
      'data:image/png;base64,AA',
      'https://example.com/b.png',
      'data:application/pdf;base64,BB',
      `data:text/plain;charset=utf-8;base64,${Buffer.from('Grüße').toString('base64')}`,
      'native',
      'native',
    ],
  );
  assert.deepEqual(messages[2]?.parts[0], { type: 'native', format: 'messages', value: thinking });
  assert.deepEqual(
    messages[2]?.toolCalls.map(({ id, name, arguments: text }) => [id, name, text]),
    [
      ['toolu_1', 'f', '{"a":1}'],
      ['toolu_2', 'g', '{}'],
    ],
  );
  assert.equal(messages[3]?.toolCallId, 'toolu_1');
  assert.equal(messages[4]?.toolFailed, true);
});

test('settings, tools and choices become neutral', () => {
  const request = read({
    tools: [
      { name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
    ],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    stop_sequences: ['a', 'b'],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    metadata: { user_id: 'u', require_web_search: true },
    brand_new: { kept: 1 },
  });
  assert.deepEqual(request.tools, [
    { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
  ]);
  assert.equal(request.nativeTools[0]?.value.type, 'web_search_20250305');
  assert.equal(request.toolChoice, 'required');
  assert.equal(request.parallelToolCalls, false);
  assert.equal(request.outputTokensMax, 100);
  assert.deepEqual(request.sampling.stop, ['a', 'b']);
  assert.deepEqual(
    [request.sampling.temperature, request.sampling.topP, request.sampling.topK],
    [0.5, 0.9, 5],
  );
  assert.equal(request.reasoning?.budgetTokens, 2_000);
  assert.equal(request.controls.requireWebSearch, true);
  assert.deepEqual(request.source.body.brand_new, { kept: 1 });
  assert.deepEqual(read({ tool_choice: { type: 'tool', name: 'f' } }).toolChoice, { name: 'f' });
  assert.equal(read({ tool_choice: { type: 'none' } }).toolChoice, 'none');
  assert.equal(read({ max_output_tokens: 7 }).outputTokensMax, 7);
});

test('a search is insisted on where a call is required and nothing else can be called', () => {
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const tool = { name: 'f', input_schema: { type: 'object' } };
  const isFree = (tools: unknown[], type: string) =>
    read({ tools, tool_choice: { type } }).nativeTools[0]?.isOptional;
  assert.equal(isFree([search], 'any'), false);
  assert.equal(isFree([search], 'auto'), true);
  assert.equal(isFree([search, tool], 'any'), true);
});

test('the format of the answer has three names, and the shared one goes first', () => {
  const schema = { type: 'object', properties: {} };
  const wanted = { type: 'json_schema', name: 'output', schema, strict: true };
  const format = { type: 'json_schema', schema };
  assert.deepEqual(read({ output_config: { format } }).outputFormat, wanted);
  assert.deepEqual(read({ output_format: format }).outputFormat, wanted);
  const both = { output_config: { format }, response_format: { type: 'json_object' } };
  assert.deepEqual(read(both).outputFormat, { type: 'json_object' });
  assert.deepEqual(read({}).outputFormat, { type: 'text' });
});

test('effort and thinking, on and off', () => {
  assert.equal(read({ thinking: { type: 'disabled' } }).reasoning, null);
  const effort = read({ output_config: { effort: 'max' }, thinking: { type: 'adaptive' } });
  assert.deepEqual(effort.reasoning, { effort: 'xhigh', budgetTokens: null, summary: true });
});

const bad: [string, Record<string, unknown>, string][] = [
  ['no ceiling', { max_tokens: undefined }, 'max_tokens'],
  ['no messages', { messages: [] }, 'messages'],
  ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
  ['content of a wrong type', { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
  [
    'a text block without text',
    { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
    'messages[0].content[0].text',
  ],
  [
    'an image without its source',
    { messages: [{ role: 'user', content: [{ type: 'image' }] }] },
    'messages[0].content[0].source',
  ],
  [
    'a result without its call',
    { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] },
    'messages[0].content[0].tool_use_id',
  ],
  [
    'a call whose input is no object',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: 'x' }] },
      ],
    },
    'messages[0].content[0].input',
  ],
  ['too hot', { temperature: 1.5 }, 'temperature'],
  ['a tool without a name', { tools: [{ input_schema: {} }] }, 'tools[0].name'],
  ['a tool without a schema', { tools: [{ name: 'f' }] }, 'tools[0].input_schema'],
  ['a connected app', { tools: [{ type: 'svc_app', selection: 'auto' }] }, 'tools[0].type'],
  ['a choice of no tool', { tool_choice: { type: 'tool' } }, 'tool_choice.name'],
  ['an unknown choice', { tool_choice: { type: 'maybe' } }, 'tool_choice.type'],
  ['an unknown format', { output_config: { format: { type: 'x' } } }, 'output_config.format.type'],
  [
    'a schema that is none',
    { output_config: { format: { type: 'json_schema', schema: { type: 'thing' } } } },
    'output_config.format.schema',
  ],
  ['a thread', { thread: { type: 'create' } }, 'thread'],
];

for (const [what, body, param] of bad) {
  test(`refuses ${what} and names ${param}`, () => {
    assert.deepEqual(refusal(body), { code: 'invalid_request', param });
  });
}

test('null stands for a member that is not set', () => {
  const names = ['system', 'tools', 'tool_choice', 'thinking', 'stop_sequences', 'thread', 'top_k'];
  const request = read(Object.fromEntries(names.map((name) => [name, null])));
  assert.deepEqual(request.tools, []);
  assert.equal(request.reasoning, null);
});

test('a system message may set the effort alone, and is told until its turn is over', () => {
  const reminder = (content: string) => ({
    role: 'system',
    content,
    clear_at: 'next_user_message',
  });
  const effort = { role: 'system', output_config: { effort: 'low' } };
  const lasting = { role: 'system', content: 'lasting', clear_at: 'never' };
  const messages = [user, reminder('old'), effort, lasting, user, reminder('new')];
  const told = read({ messages }).messages.map(({ parts }) => parts.map(textOf).join());
  assert.deepEqual(told, ['hi', 'lasting', 'hi', 'new']);
  const empty = { code: 'invalid_request', param: 'messages[0].content' };
  assert.deepEqual(refusal({ messages: [{ role: 'user' }] }), empty);
});

function textOf(part: GenerationRequest['messages'][number]['parts'][number]): string {
  return part.type === 'text' ? part.text : part.type;
}

test('what is counted needs no ceiling', () => {
  const body = { model: 'm', messages: [user], system: 'be kind' };
  const request = readCountRequest(validateBody(countRequestSchema, body) as CountRequestBody, {});
  assert.equal(request.outputTokensMax, null);
  assert.equal(request.messages.length, 2);
});

test('the schema can be written as JSON Schema for OpenAPI', () => {
  const schema = toJsonSchema(messagesRequestSchema, { target: 'draft-2020-12' });
  assert.deepEqual(schema.required?.toSorted(), ['max_tokens', 'messages', 'model']);
});

test('what holds text alone is a text document, and its own format is told it as it was', () => {
  const cache_control = { type: 'ephemeral' };
  const piece = (text: string) => ({ type: 'text', text });
  const result = {
    type: 'search_result',
    source: 's',
    title: 'T',
    content: [piece('a'), piece('b')],
    citations: { enabled: true },
    cache_control,
  };
  const document = { type: 'document', title: 'D', source: { type: 'content', content: 'c' } };
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/b.png' } };
  const scan = { type: 'document', source: { type: 'content', content: [piece('d'), image] } };
  const request = read({ messages: [{ role: 'user', content: [result, document, scan] }] });
  const texts = request.messages[0]?.parts.map((part) =>
    part.type === 'file' ? Buffer.from(part.url.split(',')[1] ?? '', 'base64').toString() : null,
  );
  assert.deepEqual(texts, ['T\ns\na\nb', 'c', null]);
  assert.deepEqual(encodeParts(request.messages[0]?.parts ?? []), [result, document, scan]);
});
