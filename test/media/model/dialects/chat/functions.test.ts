// Clients from before there were tools: what they read and write, by the vendor's own helper.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { addToAnswer, emptyAnswer } from '../../../../../media/model/answer.ts';
import { chatDialect } from '../../../../../media/model/dialects/chat/dialect.ts';
import { readRequest } from '../../../../../media/model/dialects/chat/request.ts';
import {
  type ChatRequestBody,
  chatRequestSchema,
} from '../../../../../media/model/dialects/chat/schema.ts';
import type { Receipt } from '../../../../../media/model/dialects/contract.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import { zeroUsage } from '../../../../../media/model/usage.ts';
import { validateBody } from '../../../../../runtime/http/validate.ts';
import { replyOptions } from '../../../../harness/request.ts';

const identity = { requestId: 'req_0123456789abcdef01234567', model: 'm', createdAt: 1 };
const receipt = { usage: zeroUsage, svcUsage: {}, svcRouting: null } as unknown as Receipt;
const f = { name: 'f', parameters: { type: 'object' } };
const user = { role: 'user', content: 'hi' };

function read(body: Record<string, unknown>) {
  const whole = { model: 'm', messages: [user], ...body };
  return readRequest(validateBody(chatRequestSchema, whole) as ChatRequestBody, {});
}

const called: ModelEvent[] = [
  { type: 'start' },
  { type: 'tool_call', index: 0, id: 'call_a', name: 'f' },
  { type: 'tool_arguments', index: 0, text: '{"a":' },
  { type: 'tool_arguments', index: 0, text: '"ü"}' },
  { type: 'tool_call', index: 1, id: 'call_b', name: 'f' },
  { type: 'tool_arguments', index: 1, text: '{}' },
  { type: 'finish', reason: 'tool_calls' },
];

function choiceOf(completion: unknown): { message: unknown; finish_reason: unknown } {
  const [choice] = (completion as { choices: { message: unknown; finish_reason: unknown }[] })
    .choices;
  return choice ?? assert.fail('no choice');
}

async function streamed(body: Record<string, unknown>) {
  const encoder = chatDialect.encoder(identity, replyOptions({ request: read(body) }));
  const answer = emptyAnswer();
  const sse = encoder.events(called) + encoder.finish(receipt, answer);
  const lines = sse.split('\n\n').map((line) => line.slice('data: '.length));
  const chunks = lines.filter((line) => line.startsWith('{')).join('\n');
  const stream = new Blob([chunks]).stream() as ReadableStream;
  return choiceOf(await ChatCompletionStream.fromReadableStream(stream).finalChatCompletion());
}

function whole(body: Record<string, unknown>) {
  const answer = emptyAnswer();
  for (const event of called) addToAnswer(answer, event);
  const options = replyOptions({ request: read(body) });
  return choiceOf(chatDialect.whole(identity, options, answer, receipt));
}

test('who declares functions is answered with one function_call, streamed and whole', async () => {
  for (const choice of [await streamed({ functions: [f] }), whole({ functions: [f] })]) {
    const message = choice.message as Record<string, unknown>;
    assert.deepEqual(message.function_call, { name: 'f', arguments: '{"a":"ü"}' });
    assert.equal(message.content, null);
    assert.equal(message.tool_calls, undefined);
    assert.equal(choice.finish_reason, 'function_call');
  }
  const tools = [{ type: 'function', function: f }];
  for (const choice of [await streamed({ tools }), whole({ functions: [f], tools })]) {
    const message = choice.message as Record<string, unknown>;
    assert.equal((message.tool_calls as unknown[]).length, 2);
    assert.equal(message.function_call, undefined);
    assert.equal(choice.finish_reason, 'tool_calls');
  }
});

test('a function_call of old and its result are a call and its result, by their name', () => {
  const ask = (name: string) => ({
    role: 'assistant',
    content: null,
    function_call: { name, arguments: '{"a":1}' },
  });
  const told = (name: string, content: string | null) => ({ role: 'function', name, content });
  const request = read({
    functions: [f],
    messages: [
      user,
      ask('f'),
      told('f', 'one'),
      ask('g'),
      ask('f'),
      told('f', null),
      told('h', 'x'),
    ],
  });
  assert.equal(request.parallelToolCalls, false);
  assert.equal(read({ functions: [f], parallel_tool_calls: true }).parallelToolCalls, true);
  const said = request.messages.map(({ role, parts, toolCalls, toolCallId }) => [
    role,
    parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(),
    toolCalls.map((call) => `${call.id} ${call.name} ${call.arguments}`).join() || toolCallId,
  ]);
  assert.deepEqual(said, [
    ['user', 'hi', null],
    ['assistant', '', 'call_1 f {"a":1}'],
    ['tool', 'one', 'call_1'],
    ['assistant', '', 'call_3 g {"a":1}'],
    ['assistant', '', 'call_4 f {"a":1}'],
    ['tool', '', 'call_4'],
    ['tool', 'x', 'call_6'],
  ]);
});
