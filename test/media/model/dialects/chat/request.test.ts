// Reading a Chat Completions body: what is accepted, what becomes of it, what is refused and where.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJsonSchema } from '@valibot/to-json-schema';
import { readRequest } from '../../../../../media/model/dialects/chat/request.ts';
import {
  type ChatRequestBody,
  chatRequestSchema,
} from '../../../../../media/model/dialects/chat/schema.ts';
import type { GenerationRequest } from '../../../../../media/model/request.ts';
import { validateBody } from '../../../../../runtime/http/validate.ts';
import { Problem } from '../../../../../runtime/problem.ts';

const user = { role: 'user', content: 'hi' };

function read(body: Record<string, unknown>): GenerationRequest {
  const whole = { model: 'svc-sim-chat', messages: [user], ...body };
  return readRequest(validateBody(chatRequestSchema, whole) as ChatRequestBody, {});
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

test('reads every role, parts, tool calls and tool results', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const request = read({
    instructions: 'be kind',
    messages: [
      { role: 'system', content: 's' },
      { role: 'developer', content: [{ type: 'text', text: 'd' }] },
      {
        role: 'user',
        name: 'n',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'result' },
      { role: 'assistant', content: 'fine', unknown_member: 1 },
    ],
    tools: [
      { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } },
    ],
    tool_choice: { type: 'function', function: { name: 'f' } },
    max_tokens: 3,
    max_completion_tokens: 2,
    max_output_tokens: 1,
    unknown_top_level: { kept: true },
  });
  const roles = request.messages.map((message) => message.role);
  assert.deepEqual(roles, [
    'system',
    'system',
    'developer',
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
  assert.deepEqual(request.messages[3]?.parts, [
    { type: 'text', text: 'look' },
    { type: 'image', url: 'data:image/png;base64,AA', detail: 'low' },
    {
      type: 'native',
      format: 'chat',
      value: { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
    },
  ]);
  assert.deepEqual(request.messages[4]?.toolCalls, [{ id: 'c', name: 'f', arguments: '{}' }]);
  assert.equal(request.messages[5]?.toolCallId, 'c');
  assert.deepEqual(request.toolChoice, { name: 'f' });
  assert.equal(request.outputTokensMax, 1);
  assert.deepEqual(request.source.body.unknown_top_level, { kept: true });
});

test('functions of old are read as tools, where there are none', () => {
  const f = { name: 'f', description: 'd', parameters: { type: 'object' } };
  const request = read({ functions: [f], function_call: { name: 'f' } });
  assert.deepEqual(request.tools, [{ ...f, strict: null }]);
  assert.deepEqual(request.toolChoice, { name: 'f' });
  assert.equal(read({ functions: [f], function_call: 'none' }).toolChoice, 'none');
  const tools = [{ type: 'function', function: { name: 'g' } }];
  assert.deepEqual(
    read({ tools, functions: [f] }).tools.map(({ name }) => name),
    ['g'],
  );
  assert.deepEqual(refusal({ functions: [{}] }).param, 'functions[0].name');
});

test('response_format goes before text.format, which is mapped onto it', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const flat = { type: 'json_schema', name: 'thing', schema, strict: true };
  assert.deepEqual(read({ text: { format: flat } }).outputFormat, flat);
  const both = read({ text: { format: flat }, response_format: { type: 'json_object' } });
  assert.deepEqual(both.outputFormat, { type: 'json_object' });
  const nested = { type: 'json_schema', json_schema: { name: 'thing', schema } };
  assert.deepEqual(read({ response_format: nested }).outputFormat, { ...flat, strict: false });
  assert.deepEqual(read({ response_format: null, text: null }).outputFormat, { type: 'text' });
});

test('null stands for a member that is not set', () => {
  const nulls = [
    'stream',
    'stream_options',
    'max_tokens',
    'n',
    'stop',
    'tools',
    'tool_choice',
    'web_search',
    'metadata',
    'client_context',
  ];
  const request = read(Object.fromEntries(nulls.map((name) => [name, null])));
  assert.deepEqual(request.tools, []);
  assert.equal(request.toolChoice, null);
});

const bad: [string, Record<string, unknown>, string][] = [
  ['no messages', { messages: [] }, 'messages'],
  ['more stop sequences than are watched for', { stop: Array(65).fill('x') }, 'stop'],
  ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
  ['content of a wrong type', { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
  [
    'null content of a user',
    { messages: [{ role: 'user', content: null }] },
    'messages[0].content',
  ],
  [
    'an unknown part',
    { messages: [{ role: 'user', content: [{ type: 'hologram' }] }] },
    'messages[0].content[0].type',
  ],
  [
    'a video on a private network',
    {
      messages: [
        { role: 'user', content: [{ type: 'video_url', video_url: { url: 'http://10.0.0.1/' } }] },
      ],
    },
    'messages[0].content[0].video_url.url',
  ],
  [
    'a server of tools on a private network',
    { tools: [{ type: 'mcp', server_url: 'http://169.254.169.254/' }] },
    'tools[0].server_url',
  ],
  [
    'a tool result without its call',
    { messages: [{ role: 'tool', content: 'x' }] },
    'messages[0].tool_call_id',
  ],
  ['several choices', { n: 2 }, 'n'],
  ['a ceiling of zero', { max_tokens: 0 }, 'max_tokens'],
  ['a fraction of a token', { max_completion_tokens: 1.5 }, 'max_completion_tokens'],
  ['too hot', { temperature: 3 }, 'temperature'],
  ['audio output', { modalities: ['text', 'audio'] }, 'modalities'],
  ['a connected app', { tools: [{ type: 'svc_app', selection: 'auto' }] }, 'tools[0].type'],
  [
    'a tool without a name',
    { tools: [{ type: 'function', function: {} }] },
    'tools[0].function.name',
  ],
  [
    'a list of allowed tools without a declared one',
    { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } },
    'tool_choice.allowed_tools.tools',
  ],
  ['a function without declaration', { tools: [{ type: 'function' }] }, 'tools[0].function'],
  [
    'an unknown member of client_context',
    { client_context: { planet: 'x' } },
    'client_context.planet',
  ],
  [
    'an offset out of bounds',
    { client_context: { utc_offset_minutes: 900 } },
    'client_context.utc_offset_minutes',
  ],
  ['an unknown member of optimization', { optimization: { x: 1 } }, 'optimization.x'],
  ['an unknown format', { response_format: { type: 'yaml' } }, 'response_format.type'],
  [
    'a format without its schema object',
    { response_format: { type: 'json_schema' } },
    'response_format.json_schema',
  ],
  [
    'a schema that is none',
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', schema: { type: 'thing' } },
      },
    },
    'response_format.json_schema.schema',
  ],
  ['a long idempotency key', { request_id: 'x'.repeat(161) }, 'request_id'],
];

for (const [what, body, param] of bad) {
  test(`refuses ${what} and names ${param}`, () => {
    assert.deepEqual(refusal(body), { code: 'invalid_request', param });
  });
}

test('the controls of the service are read, whoever will serve them', () => {
  const { controls } = read({
    web_search: true,
    conversation_id: 'c1',
    metadata: { require_web_search: true, mine: 1 },
    optimization: { mode: 'safe' },
    client_context: { locale: 'de', location: { city: 'Köln' } },
  });
  assert.deepEqual([controls.webSearch, controls.requireWebSearch], [true, true]);
  assert.equal(controls.conversationId, 'c1');
  assert.equal(controls.optimization.mode, 'balanced');
  assert.deepEqual(
    [controls.clientContext?.locale, controls.clientContext?.location],
    ['de', null],
  );
});

test('a prototype-polluting key is dropped', () => {
  const request = read(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"x":1}}'));
  assert.equal(Object.getPrototypeOf(request.source.body), Object.prototype);
  assert.equal('polluted' in request.source.body, false);
});

test('the schema can be written as JSON Schema for OpenAPI', () => {
  const schema = toJsonSchema(chatRequestSchema, { target: 'draft-2020-12' });
  assert.deepEqual(schema.required, ['model', 'messages']);
});

test('a file’s bare base64, as the format has it, is data of the type that its name tells', () => {
  const fileOf = (file: Record<string, unknown>) =>
    read({ messages: [{ role: 'user', content: [{ type: 'file', file }] }] }).messages[0]?.parts;
  const pdf = 'data:application/pdf;base64,JVBERi0=';
  assert.deepEqual(fileOf({ file_data: 'JVBERi0=', filename: 'a.pdf' }), [
    { type: 'file', url: pdf, name: 'a.pdf' },
  ]);
  assert.deepEqual(fileOf({ file_data: 'JVBERi0=' }), [{ type: 'file', url: pdf, name: null }]);
  assert.deepEqual(fileOf({ file_data: 'aGk=', filename: 'Notes.TXT' }), [
    { type: 'file', url: 'data:text/plain;base64,aGk=', name: 'Notes.TXT' },
  ]);
  assert.deepEqual(fileOf({ file_data: pdf }), [{ type: 'file', url: pdf, name: null }]);
  const cut = { file_data: 'data:application/pdf' };
  assert.equal(
    refusal({ messages: [{ role: 'user', content: [{ type: 'file', file: cut }] }] }).param,
    'messages[0].content[0].file.file_data',
  );
});
