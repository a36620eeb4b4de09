// What OpenAI's own models refuse and clients of other formats send: it leaves in a form they take.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { responsesDialect } from '../../../../media/model/dialects/responses/dialect.ts';
import { type GenerationRequest, noSampling } from '../../../../media/model/request.ts';
import { openaiChat } from '../../../../media/providers/generation/openai-chat/family.ts';
import { openaiResponses } from '../../../../media/providers/generation/openai-responses/family.ts';
import { neutralRequest, upstreamTarget, userMessage } from '../../../harness/request.ts';

type Members = Record<string, unknown>;

const target = upstreamTarget('any');
const source = { format: 'messages', body: {}, headers: {}, rewritten: false } as const;

function sentTo(family: typeof openaiChat, request: GenerationRequest): Members {
  const { body } = family.encodeRequest(request, target, {
    outputTokensMax: 77,
    nativeSearch: false,
  });
  return JSON.parse(JSON.stringify(body));
}

test('parameters of functions are objects with properties', () => {
  const empty = { type: 'object', properties: {} };
  const given = { type: 'object', properties: { a: {} }, required: ['a'] };
  for (const [parameters, expected] of [
    [{ type: 'object' }, empty],
    [{}, empty],
    [
      { properties: null, $schema: 's' },
      { ...empty, $schema: 's' },
    ],
    [given, given],
  ] as [Members, Members][]) {
    const tools = [{ name: 'f', description: null, parameters, strict: null }];
    const request = neutralRequest({ messages: [userMessage('hi')], tools, source });
    const [chat] = sentTo(openaiChat, request).tools as [Members & { function: Members }];
    const [responses] = sentTo(openaiResponses, request).tools as [Members];
    assert.deepEqual(chat.function.parameters, expected);
    assert.deepEqual(responses.parameters, expected);
  }
});

test('who wants a JSON object and says so nowhere in the input is reminded to', () => {
  const text = { format: { type: 'json_object' } };
  const reminder = { role: 'system', content: 'Answer with one JSON object.' };
  const inputOf = (body: Members) => {
    const request = responsesDialect.readRequest({ model: 'alias', ...body }, {});
    return sentTo(openaiResponses, request).input;
  };
  const hi = { role: 'user', content: 'hi' };
  assert.deepEqual(inputOf({ text, instructions: 'In JSON.', input: 'hi' }), [reminder, hi]);
  assert.deepEqual(inputOf({ text, input: [hi] }), [reminder, hi]);
  const said = { role: 'user', content: [{ type: 'input_text', text: 'Answer in Json.' }] };
  assert.deepEqual(inputOf({ text, input: [hi, said] }), [hi, said]);
  assert.equal(inputOf({ instructions: 'In JSON.', input: 'hi' }), 'hi');
});

test('four stop sequences are told to a provider of Chat, and the rest is watched for', () => {
  const stop = ['a', 'b', 'c', 'd', 'e', 'f'];
  const request = neutralRequest({
    messages: [userMessage('hi')],
    sampling: { ...noSampling, stop },
    source,
  });
  assert.deepEqual(sentTo(openaiChat, request).stop, ['a', 'b', 'c', 'd']);
  assert.deepEqual(openaiChat.unwatched(request), ['e', 'f']);
  // A client of the same format is told by the provider how many that one takes.
  const own = { ...source, format: 'chat' as const, body: { messages: [], stop } };
  const same = { ...request, source: own };
  assert.deepEqual(sentTo(openaiChat, same).stop, stop);
  assert.deepEqual(openaiChat.unwatched(same), []);
});
