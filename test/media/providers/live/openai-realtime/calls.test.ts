// The tool calls of a session: their ids, and those that can have no result.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsed, summary } from '../streams.ts';
import { created, done, event, functionCall, usageEvent } from './fixtures.ts';
import { read, readyCodec } from './session.ts';

/** One call, as the item that has it. */
const item = (id: string, callId: string, name: string, response = 'resp_1') =>
  event('response.output_item.done', {
    response_id: response,
    item: { id, type: 'function_call', call_id: callId, name, arguments: '{}' },
  });
const typesOf = (messages: readonly string[]) => parsed(messages).map(({ type }) => type);

test('a call without an id is refused, and the others of its answer are answered', () => {
  for (const callId of ['', 'x'.repeat(1_000)]) {
    const codec = readyCodec();
    const { events } = read(codec, [
      created(),
      item('i1', callId, 'clock'),
      item('i2', callId, 'search'),
      ...functionCall('c1', 'clock', '{}'),
      done(),
    ]);
    const problem = {
      type: 'problem',
      code: 'call_refused',
      text: 'a function call without an id',
    };
    assert.deepEqual(events, [
      { type: 'tool_refused', callId: 'call_1', name: 'clock' },
      problem,
      { type: 'tool_refused', callId: 'call_2', name: 'search' },
      problem,
      { type: 'tool_call', callId: 'c1', name: 'clock', argumentsJson: '{}' },
      usageEvent,
    ]);
    assert.deepEqual(codec.toolResult(callId, 'clock', '{}'), [], 'of no call');
    assert.deepEqual(typesOf(codec.toolResult('c1', 'clock', '{}')), [
      'conversation.item.create',
      'response.create',
    ]);
  }
});

test('an answer of which no call can have a result has failed, once, and the next is heard', () => {
  const codec = readyCodec();
  const first = read(codec, [created(), item('i1', '', 'clock'), done()]);
  assert.deepEqual(first.events.at(-1), { type: 'answer_done', outcome: 'failed' });
  assert.deepEqual(first.replies, [], 'a model that is asked again would call again');
  const next = read(codec, [created('resp_2'), done('completed', {}, 'resp_2')]);
  assert.deepEqual(next.events.at(-1), { type: 'answer_done', outcome: 'completed' });
  const interrupted = read(codec, [created('resp_3'), item('i3', '', 'clock', 'resp_3')]);
  assert.equal(interrupted.events.length, 2);
  codec.bargeIn(null);
  const last = read(codec, [created('resp_4'), done('completed', {}, 'resp_4')]);
  assert.deepEqual(last.events.at(-1), { type: 'answer_done', outcome: 'completed' });
});

test('two open calls of one id are two calls, and each has its result under that id', () => {
  const codec = readyCodec();
  const { events } = read(codec, [
    created(),
    item('i1', 'c1', 'clock'),
    item('i2', 'c1', 'search'),
    item('i2', 'c1', 'search'),
    done(),
  ]);
  assert.deepEqual(
    events,
    summary([
      { type: 'tool_call', callId: 'c1', name: 'clock', argumentsJson: '{}' },
      { type: 'tool_call', callId: 'call_1', name: 'search', argumentsJson: '{}' },
      usageEvent,
    ]),
  );
  assert.deepEqual(typesOf(codec.toolResult('c1', 'clock', '{"a":1}')), [
    'conversation.item.create',
  ]);
  const [output, request] = parsed(codec.toolResult('call_1', 'search', '{"b":1}'));
  assert.deepEqual(output?.item, {
    type: 'function_call_output',
    call_id: 'c1',
    output: '{"b":1}',
  });
  assert.equal(request?.type, 'response.create');
});

test('a server that counts the calls of each response by itself has all of them answered', () => {
  const codec = readyCodec();
  for (const response of ['resp_1', 'resp_2', 'resp_3']) {
    const itemless = event('response.output_item.done', {
      response_id: response,
      item: { type: 'function_call', call_id: 'call_0', name: 'clock', arguments: '{}' },
    });
    const { events } = read(codec, [created(response), itemless, done('completed', {}, response)]);
    assert.equal(Object(events[0]).callId, 'call_0', response);
    assert.equal(codec.toolResult('call_0', 'clock', '{}').length, 2);
  }
});

test('more calls at once than any model makes are refused', () => {
  const codec = readyCodec();
  const many = Array.from({ length: 70 }, (_, index) => item(`i${index}`, `c${index}`, 'clock'));
  const { events } = read(codec, [created(), ...many]);
  const count = (type: string) => events.filter((one) => Object(one).type === type).length;
  assert.deepEqual([count('tool_call'), count('tool_refused')], [64, 6]);
});
