// Custom tools, their choice and their calls on the way to each family. They go one to one where
// both formats have them, else as functions of one text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatDialect } from '../../../../media/model/dialects/chat/dialect.ts';
import {
  type ChatRequestBody,
  chatRequestSchema,
} from '../../../../media/model/dialects/chat/schema.ts';
import { responsesDialect } from '../../../../media/model/dialects/responses/dialect.ts';
import type { GenerationRequest } from '../../../../media/model/request.ts';
import { requireFamily } from '../../../../media/providers/generation/families.ts';
import { validateBody } from '../../../../runtime/http/validate.ts';
import { encodeFitted, upstreamTarget } from '../../../harness/request.ts';

type Members = Record<string, unknown>;

const definition = 'start: "a"';
const beside = { syntax: 'lark', definition };
const result = 'Done.';

function fromResponses(change: Members = {}): GenerationRequest {
  const call = { call_id: 'c1', name: 'patch', input: 'a\n"b"' };
  return responsesDialect.readRequest(
    {
      model: 'alias',
      input: [
        { role: 'user', content: 'hi' },
        {
          type: 'custom_tool_call',
          id: 'ctc_1',
          ...call,
          caller: { type: 'program', caller_id: 'p' },
        },
        { type: 'custom_tool_call_output', call_id: 'c1', output: result },
      ],
      tools: [
        { type: 'custom', name: 'patch', description: 'D', format: { type: 'grammar', ...beside } },
        { type: 'function', name: 'look', parameters: { type: 'object' }, strict: false },
      ],
      tool_choice: { type: 'custom', name: 'patch' },
      ...change,
    },
    {},
  );
}

function fromChat(change: Members = {}): GenerationRequest {
  const format = { type: 'grammar', grammar: beside };
  const body = {
    model: 'alias',
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'patch', input: 'a\n"b"' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: result },
    ],
    tools: [
      { type: 'custom', custom: { name: 'patch', description: 'D', format } },
      { type: 'function', function: { name: 'look', parameters: { type: 'object' } } },
    ],
    tool_choice: { type: 'custom', custom: { name: 'patch' } },
    ...change,
  };
  const read = validateBody(chatRequestSchema, body) as ChatRequestBody;
  return chatDialect.readRequest(read, {});
}

function sent(request: GenerationRequest, family: string, baseUrl?: string): Members {
  const target = { ...upstreamTarget(family), ...(baseUrl === undefined ? {} : { baseUrl }) };
  const options = { outputTokensMax: 100, nativeSearch: false };
  return encodeFitted(requireFamily(family), request, target, options).body;
}

const vendor = 'https://api.openai.com/v1';
const rewritten = (request: GenerationRequest) => ({
  ...request,
  source: { ...request.source, rewritten: true },
});
const chatTool = {
  type: 'custom',
  custom: { name: 'patch', description: 'D', format: { type: 'grammar', grammar: beside } },
};
const responsesTool = {
  type: 'custom',
  name: 'patch',
  description: 'D',
  format: { type: 'grammar', ...beside },
};

test('Responses to the vendor of Chat: one to one', () => {
  const { tools, tool_choice: choice, messages } = sent(fromResponses(), 'openai-chat', vendor);
  assert.deepEqual((tools as unknown[])[0], chatTool);
  assert.deepEqual(choice, { type: 'custom', custom: { name: 'patch' } });
  assert.deepEqual((messages as Members[]).slice(1), [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'patch', input: 'a\n"b"' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: result },
  ]);
});

test('Chat to Responses: one to one', () => {
  const { tools, tool_choice: choice, input } = sent(fromChat(), 'openai-responses');
  assert.deepEqual((tools as unknown[])[0], responsesTool);
  assert.deepEqual(choice, { type: 'custom', name: 'patch' });
  assert.deepEqual((input as Members[]).slice(1), [
    { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'a\n"b"' },
    { type: 'custom_tool_call_output', call_id: 'c1', output: result },
  ]);
});

test('each vendor is told what a client of its format wrote, also when it is rewritten', () => {
  const chat = fromChat();
  for (const request of [chat, rewritten(chat)]) {
    const body = sent(request, 'openai-chat', vendor);
    assert.deepEqual(body.tools, chat.source.body.tools);
    assert.deepEqual(body.tool_choice, chat.source.body.tool_choice);
    const [, said] = body.messages as Members[];
    const [, own] = chat.source.body.messages as Members[];
    assert.deepEqual(said?.tool_calls, own?.tool_calls);
  }
  const responses = fromResponses();
  const ways = [responses, rewritten(responses)].map(
    (request) => sent(request, 'openai-responses').input as Members[],
  );
  assert.deepEqual(ways[1]?.slice(1), ways[0]?.slice(1));
  assert.deepEqual(ways[0]?.[1]?.caller, { type: 'program', caller_id: 'p' });
});

test('other servers of Chat are told functions, whatever the client speaks', () => {
  for (const request of [fromResponses(), fromChat()]) {
    const { tools, tool_choice: choice, messages } = sent(request, 'openai-chat');
    const [tool, look] = tools as { type: string; function: Members }[];
    assert.deepEqual([tool?.type, tool?.function.name], ['function', 'patch']);
    assert.match(JSON.stringify(tool?.function.parameters), /start: \\"a\\"/);
    assert.equal(look?.function.name, 'look');
    assert.deepEqual(choice, { type: 'function', function: { name: 'patch' } });
    const [, said, told] = messages as Members[];
    const text = JSON.stringify({ input: 'a\n"b"' });
    assert.deepEqual(said?.tool_calls, [
      { id: 'c1', type: 'function', function: { name: 'patch', arguments: text } },
    ]);
    assert.equal(told?.content, result);
  }
});

test('one that is declared to know them is told them as they are', () => {
  const target = { ...upstreamTarget('openai-chat'), quirks: { customTools: true } };
  const options = { outputTokensMax: 100, nativeSearch: false };
  const call = encodeFitted(requireFamily('openai-chat'), fromResponses(), target, options);
  assert.deepEqual((call.body.tools as unknown[])[0], chatTool);
});

test('a list of allowed tools of a Chat client names functions too', () => {
  const allowed = {
    mode: 'auto',
    tools: [{ type: 'custom', custom: { name: 'patch' } }],
  };
  const request = fromChat({ tool_choice: { type: 'allowed_tools', allowed_tools: allowed } });
  assert.deepEqual(
    request.tools.map(({ name }) => name),
    ['patch'],
  );
  assert.deepEqual(sent(request, 'openai-chat').tool_choice, {
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'patch' } }] },
  });
  assert.equal((sent(request, 'anthropic-messages').tools as unknown[]).length, 1);
});

test('Messages and Gemini are told a function of one text', () => {
  for (const request of [fromResponses(), fromChat()]) {
    const messages = sent(request, 'anthropic-messages');
    const [tool] = messages.tools as Members[];
    assert.deepEqual([tool?.name, tool?.type], ['patch', undefined]);
    assert.deepEqual(messages.tool_choice, { type: 'tool', name: 'patch' });
    const gemini = sent(request, 'gemini');
    const [{ functionDeclarations: declared }] = gemini.tools as [
      { functionDeclarations: Members[] },
    ];
    assert.deepEqual(declared[0]?.parametersJsonSchema, tool?.input_schema);
    assert.match(String(declared[0]?.description), /^D\n\n/);
  }
});

test('a custom tool without its object is refused by its place', () => {
  const bad = () => fromChat({ tools: [{ type: 'custom' }], tool_choice: 'auto' });
  assert.throws(bad, /tools\[0\]\.custom/);
});
