// Calls of functions in the Gemini Live format: their ids, their results, and who gives them up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Message, parsed, pcm } from '../streams.ts';
import { audio, content, heard, interrupted, turnComplete } from './fixtures.ts';
import { read, readyCodec } from './session.ts';

const call = (name: string, id?: string): Message =>
  id === undefined ? { name, args: { a: 1 } } : { id, name, args: { a: 1 } };

test('tool calls and their results, with and without ids', () => {
  const codec = readyCodec();
  const functionCalls = [call('clock', 'f1'), call('search')];
  const { events } = read(codec, [{ toolCall: { functionCalls } }, { toolCall: {} }]);
  assert.deepEqual(events, [
    { type: 'tool_call', callId: 'f1', name: 'clock', argumentsJson: '{"a":1}' },
    { type: 'tool_call', callId: 'call_2', name: 'search', argumentsJson: '{"a":1}' },
  ]);
  assert.deepEqual(parsed(codec.toolResult('f1', 'clock', '{"time":"12:00"}')), [
    {
      toolResponse: {
        functionResponses: [{ id: 'f1', name: 'clock', response: { time: '12:00' } }],
      },
    },
  ]);
  assert.deepEqual(parsed(codec.toolResult('call_2', 'search', '[1]')), [
    { toolResponse: { functionResponses: [{ name: 'search', response: { output: [1] } }] } },
  ]);
  assert.deepEqual(codec.toolResult('f1', 'clock', '{}'), [], 'a second result');
  assert.deepEqual(codec.toolResult('f9', 'clock', '{}'), [], 'of no call');
});

test('an empty id is none: no call hides another one, and none is answered by it', () => {
  const codec = readyCodec();
  const functionCalls = [call('clock', ''), call('search', ''), call('clock')];
  const { events } = read(codec, [{ toolCall: { functionCalls } }]);
  const callIds = events.map((event) => Object(event).callId);
  assert.deepEqual(callIds, ['call_1', 'call_2', 'call_3']);
  assert.deepEqual(parsed(codec.toolResult('call_1', 'clock', '{"time":"12:00"}')), [
    { toolResponse: { functionResponses: [{ name: 'clock', response: { time: '12:00' } }] } },
  ]);
  assert.deepEqual(parsed(codec.toolResult('call_2', 'search', '[1]')), [
    { toolResponse: { functionResponses: [{ name: 'search', response: { output: [1] } }] } },
  ]);
  assert.deepEqual(codec.toolResult('', 'clock', '{}'), [], 'of no call');
});

test('a call without an id gets one that no call of the model has', () => {
  const codec = readyCodec();
  const functionCalls = [call('clock', 'call_2'), call('search')];
  const { events } = read(codec, [{ toolCall: { functionCalls } }]);
  const callIds = events.map((event) => String(Object(event).callId));
  assert.equal(new Set(callIds).size, 2, String(callIds));
  for (const callId of callIds) assert.equal(codec.toolResult(callId, 'x', '{}').length, 1);
});

test('two open calls of one id are two calls, and a call that is told twice is one', () => {
  const codec = readyCodec();
  const search = { id: 'f1', name: 'search', args: { query: 'x' } };
  const long = { id: 'f1', name: 'search', args: { query: 'x'.repeat(10_000) } };
  const functionCalls = [call('clock', 'f1'), search, search, call('clock', 'f1'), long];
  const { events } = read(codec, [{ toolCall: { functionCalls } }]);
  const callIds = events.map((event) => String(Object(event).callId));
  assert.deepEqual(callIds, ['f1', 'call_2', 'call_3']);
  const answered = callIds.flatMap((callId) => parsed(codec.toolResult(callId, 'x', '{"a":1}')));
  const response = { id: 'f1', name: 'x', response: { a: 1 } };
  const told = { toolResponse: { functionResponses: [response] } };
  assert.deepEqual(answered, [told, told, told]);
});

test('a cancellation ends all calls that the model calls so, and none that we do', () => {
  const codec = readyCodec();
  const functionCalls = [call('clock', 'f1'), call('search', 'f1'), call('other')];
  const { events } = read(codec, [
    { toolCall: { functionCalls } },
    { toolCallCancellation: { ids: ['f1', 'call_3'] } },
  ]);
  assert.deepEqual(events.slice(3), [{ type: 'tool_cancelled', callIds: ['f1', 'call_2'] }]);
  assert.equal(codec.toolResult('call_3', 'other', '{}').length, 1);
});

test('a call that cannot be kept is refused to the model and to the client', () => {
  const codec = readyCodec();
  const id = 'x'.repeat(1_000);
  const many = Array.from({ length: 64 }, (_, index) => call('clock', `f${index}`));
  const { events, replies } = read(codec, [
    { toolCall: { functionCalls: [call('clock', id), ...many, call('search', 'f64')] } },
  ]);
  const refused = events.filter((one) => Object(one).type === 'tool_refused');
  assert.deepEqual(
    refused.map((one) => Object(one).name),
    ['clock', 'search'],
  );
  const response = { error: 'the call is refused' };
  assert.deepEqual(parsed(replies), [
    { toolResponse: { functionResponses: [{ id, name: 'clock', response }] } },
    { toolResponse: { functionResponses: [{ id: 'f64', name: 'search', response }] } },
  ]);
});

test('more calls in one message than any model makes are nonsense', () => {
  const functionCalls = Array.from({ length: 1_000 }, (_, index) => call('clock', `f${index}`));
  const { events, replies } = read(readyCodec(), [{ toolCall: { functionCalls } }]);
  assert.deepEqual(replies, []);
  assert.deepEqual(
    events.map((one) => Object(one).type),
    ['failed'],
  );
});

test('a call of the model is none that we have named, though it is called the same', () => {
  const codec = readyCodec();
  const functionCalls = [call('search'), call('clock', 'call_1')];
  const { events } = read(codec, [{ toolCall: { functionCalls } }]);
  const callIds = events.map((event) => String(Object(event).callId));
  assert.equal(new Set(callIds).size, 2, String(callIds));
  const results = callIds.flatMap((callId) => parsed(codec.toolResult(callId, 'x', '{}')));
  assert.deepEqual(
    results.map((one) => Object(one).toolResponse.functionResponses[0].id),
    [undefined, 'call_1'],
  );
});

test('cancelled calls want no result', () => {
  const codec = readyCodec();
  const { events } = read(codec, [
    { toolCall: { functionCalls: [call('clock', 'f1')] } },
    { toolCallCancellation: { ids: ['f1', 'f2', 7] } },
    { toolCallCancellation: { ids: ['f1'] } },
  ]);
  assert.deepEqual(events.slice(1), [
    { type: 'tool_cancelled', callIds: ['f1'] },
    { type: 'answer_done', outcome: 'interrupted' },
  ]);
  assert.deepEqual(codec.toolResult('f1', 'clock', '{}'), []);
});

const toolCallOf = (id: string): Message => ({ toolCall: { functionCalls: [call('clock', id)] } });
const refusalOf = (id: string) => ({
  toolResponse: {
    functionResponses: [{ id, name: 'clock', response: { error: 'the user interrupted' } }],
  },
});
const typesOf = (events: readonly unknown[]) => events.map((one) => String(Object(one).type));

test('a barge-in refuses the calls that wait, and the turn after that is heard', () => {
  for (const end of [turnComplete(60, 9), { toolCallCancellation: { ids: ['f1'] } }]) {
    const codec = readyCodec();
    read(codec, [heard('a'), toolCallOf('f1')]);
    assert.deepEqual(parsed([...codec.bargeIn(null)]), [refusalOf('f1')]);
    assert.deepEqual(codec.toolResult('f1', 'clock', '{}'), [], 'it has its answer');
    const types = typesOf(read(codec, [end, heard('b'), audio(pcm(1))]).events);
    assert.ok(types.includes('audio'), JSON.stringify(end));
    assert.ok(!types.includes('answer_done'), 'the end of the answer that was given up is ours');
  }
});

test('speech over a call: however it is told, the answer is over and the next is heard', () => {
  const cancelled: Message = { toolCallCancellation: { ids: ['f1'] } };
  const end = content({ turnComplete: true });
  for (const rest of [
    [cancelled],
    [cancelled, interrupted, end],
    [interrupted, end],
    [interrupted, cancelled, end],
  ]) {
    const codec = readyCodec();
    const said = read(codec, [heard('a'), toolCallOf('f1'), ...rest, heard('b'), audio(pcm(1))]);
    const ends = said.events.filter((one) => Object(one).type === 'answer_done');
    assert.deepEqual(ends, [{ type: 'answer_done', outcome: 'interrupted' }]);
    assert.equal(typesOf(said.events).at(-1), 'audio');
    const final = said.events.find((one) => Object(one).final === true);
    assert.equal(Object(final).text, 'a', 'not together with what was said next');
  }
});

test('a call of a discarded turn is answered, or the turn would never end', () => {
  const codec = readyCodec();
  read(codec, [audio(pcm(1))]);
  codec.bargeIn(null);
  const { events, replies } = read(codec, [{ toolCall: { functionCalls: [call('clock', 'f1')] } }]);
  assert.deepEqual(events, []);
  const response = { error: 'the user interrupted' };
  assert.deepEqual(parsed(replies), [
    { toolResponse: { functionResponses: [{ id: 'f1', name: 'clock', response }] } },
  ]);
});
