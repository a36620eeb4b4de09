// Bodies of this format as the neutral request, and what is refused with the field's path.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { readRequest } from '../../../../../media/model/dialects/responses/request.ts';
import { responsesRequestSchema } from '../../../../../media/model/dialects/responses/schema.ts';
import { Problem } from '../../../../../runtime/problem.ts';

function read(body: Record<string, unknown>) {
  return readRequest(v.parse(responsesRequestSchema, { model: 'm', input: 'hi', ...body }), {});
}

function refused(body: Record<string, unknown>, param: string): void {
  assert.throws(
    () => read(body),
    (error) => error instanceof Problem && error.status === 400 && error.param === param,
    param,
  );
}

const user = { role: 'user', content: 'hi' };

test('a string, a list of items and the shared messages are read alike', () => {
  const [plain] = read({}).messages;
  assert.deepEqual(plain, {
    role: 'user',
    parts: [{ type: 'text', text: 'hi' }],
    toolCalls: [],
    toolCallId: null,
  });
  assert.deepEqual(read({ input: [user] }).messages, [plain]);
  assert.deepEqual(read({ input: null, messages: [user] }).messages, [plain]);
  const parts = [{ type: 'input_text', text: 'hi' }];
  assert.deepEqual(read({ input: [{ type: 'message', role: 'user', content: parts }] }).messages, [
    plain,
  ]);
  const { messages } = read({ instructions: 'be brief' });
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'user'],
  );
});

test('one turn of the model is one message: reasoning, text, calls', () => {
  const { messages } = read({
    input: [
      user,
      { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'e' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'c2', name: 'g', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      {
        type: 'function_call_output',
        call_id: 'c2',
        output: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }],
      },
      { type: 'web_search_call', id: 'ws', status: 'completed' },
      { type: 'computer_call_output', call_id: 'x', output: {} },
    ],
  });
  assert.deepEqual(
    messages.map(({ role, parts, toolCalls, toolCallId }) => [
      role,
      parts.map((part) => part.type).join(),
      toolCalls.map(({ id }) => id).join(),
      toolCallId,
    ]),
    [
      ['user', 'text', '', null],
      ['assistant', 'native,text', 'c1,c2', null],
      ['tool', 'text', '', 'c1'],
      ['tool', 'image', '', 'c2'],
      ['assistant', 'native', '', null],
      ['user', 'native', '', null],
    ],
  );
});

test('pictures and files by address or content are neutral, a provider’s own stay native', () => {
  const content = [
    { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'high' },
    { type: 'input_image', file_id: 'file_1' },
    { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' },
    { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    { type: 'input_file', file_id: 'file_1' },
    { type: 'input_file', file_data: 'AA==', filename: 'a.pdf' },
  ];
  const [message] = read({ input: [{ role: 'user', content }] }).messages;
  assert.deepEqual(message?.parts, [
    { type: 'image', url: 'https://example.com/a.png', detail: 'high' },
    { type: 'native', format: 'responses', value: content[1] },
    { type: 'file', url: 'data:application/pdf;base64,AA==', name: 'a.pdf' },
    { type: 'file', url: 'https://example.com/a.pdf', name: null },
    { type: 'native', format: 'responses', value: content[4] },
    { type: 'file', url: 'data:application/pdf;base64,AA==', name: 'a.pdf' },
  ]);
});

test('settings are read: tools of both kinds, choice, format, reasoning, ceiling', () => {
  const request = read({
    tools: [
      { type: 'function', name: 'f', description: 'd', parameters: {}, strict: true },
      { type: 'web_search' },
    ],
    tool_choice: { type: 'function', name: 'f' },
    parallel_tool_calls: false,
    text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } },
    reasoning: { effort: 'minimal', summary: 'auto' },
    max_output_tokens: 9,
    temperature: 0.5,
    top_p: 0.9,
  });
  assert.deepEqual(request.tools, [{ name: 'f', description: 'd', parameters: {}, strict: true }]);
  assert.deepEqual(request.nativeTools, [
    { format: 'responses', value: { type: 'web_search' }, path: 'tools[1]', isOptional: true },
  ]);
  assert.deepEqual(request.toolChoice, { name: 'f' });
  assert.equal(request.parallelToolCalls, false);
  assert.equal(request.outputFormat.type, 'json_schema');
  assert.deepEqual(request.reasoning, { effort: 'minimal', budgetTokens: null, summary: true });
  assert.equal(request.outputTokensMax, 9);
  assert.equal(request.sampling.temperature, 0.5);
  assert.equal(read({ tool_choice: { type: 'web_search' } }).toolChoice, 'auto');
});

test('of a list of allowed tools the others are not there', () => {
  const tools = [
    { type: 'function', name: 'f' },
    { type: 'function', name: 'g' },
    { type: 'mcp', server_label: 'one' },
    { type: 'mcp', server_label: 'two' },
    { type: 'web_search' },
  ];
  const listed = [tools[1], tools[3], { type: 'web_search' }];
  const choice = { type: 'allowed_tools', mode: 'required', tools: listed };
  const request = read({ tools, tool_choice: choice });
  assert.equal(request.toolChoice, 'required');
  assert.deepEqual(
    request.tools.map(({ name }) => name),
    ['g'],
  );
  assert.deepEqual(
    request.nativeTools.map(({ value }) => value),
    [tools[3], tools[4]],
  );
  const other = { ...choice, tools: [{ type: 'function', name: 'h' }] };
  refused({ tools, tool_choice: other }, 'tool_choice.tools');
});

test('what a schema cannot refuse is refused by its path', () => {
  refused({ input: null }, 'input');
  refused({ input: [{ type: 'item_reference', id: 'msg_x' }] }, 'input[0].id');
  refused({ input: [{ role: 'robot', content: 'x' }] }, 'input[0].role');
  refused({ input: [{ role: 'user' }] }, 'input[0].content');
  refused(
    { input: [user, { role: 'user', content: [{ type: 'x' }] }] },
    'input[1].content[0].type',
  );
  refused({ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, 'input[0].arguments');
  refused({ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id');
  refused({ tools: [{ type: 'function' }] }, 'tools[0].name');
  refused({ tools: [{ type: 'svc_app', selection: 'auto' }] }, 'tools[0].type');
  refused({ tools: [{ type: 'svc_mcp' }] }, 'tools[0].server_id');
  refused({ tool_choice: { type: 'function' } }, 'tool_choice.name');
  refused({ text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema');
  const schema = { type: 'thing' };
  refused({ text: { format: { type: 'json_schema', name: 'n', schema } } }, 'text.format.schema');
  refused({ conversation: 'conv_1' }, 'conversation');
  refused({ prompt: { id: 'pmpt_1' } }, 'prompt');
});

test('a search is insisted on where a call is required and nothing else can be called', () => {
  const search = { type: 'web_search' };
  const isFree = (tools: unknown[], choice: unknown) =>
    read({ tools, tool_choice: choice }).nativeTools[0]?.isOptional;
  assert.equal(isFree([search], 'required'), false);
  assert.equal(isFree([search], 'auto'), true);
  assert.equal(isFree([search, { type: 'function', name: 'f', parameters: {} }], 'required'), true);
});

test('a result without a call is of this format alone, an id without a type names an item', () => {
  const sent = { type: 'function_call_output', name: 'alarm', output: 'it rings' };
  const { messages } = read({ input: [user, sent] });
  assert.deepEqual(messages[1]?.parts, [{ type: 'native', format: 'responses', value: sent }]);
  refused({ input: [user, { id: 'msg_1' }] }, 'input[1].id');
  refused({ input: [{ type: null, id: 'msg_1', content: 'x' }] }, 'input[0].id');
  refused({ input: [{ id: 'msg_1', role: 'nobody', content: 'x' }] }, 'input[0].role');
});
