// Barge-in while an answer is awaited: the user has spoken, and no response has begun.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsed, pcm } from '../streams.ts';
import {
  created,
  delta,
  done,
  functionCall,
  itemAdded,
  speechStarted,
  speechStopped,
  usageEvent,
} from './fixtures.ts';
import { givenUpCalls, read, readyCodec } from './session.ts';

test('a barge-in before the server responds cancels that response as soon as it begins', () => {
  const codec = readyCodec();
  read(codec, [speechStarted(), speechStopped()]);
  assert.deepEqual(codec.bargeIn(null), [], 'there is nothing to cancel yet');
  const unwanted = [created(), itemAdded('item_1'), delta('item_1', pcm(1))];
  const { events, replies } = read(codec, unwanted);
  assert.deepEqual(events, [{ type: 'unheard', durationMs: 10 }]);
  const [cancel, ...others] = parsed(replies);
  assert.deepEqual([cancel?.type, cancel?.response_id, others], ['response.cancel', 'resp_1', []]);
  assert.deepEqual(read(codec, [done('cancelled')]).events, [usageEvent]);
  const next = [speechStarted(), speechStopped(), created('resp_2'), itemAdded('item_2', 'resp_2')];
  assert.deepEqual(read(codec, next), {
    events: [
      { type: 'speech_started' },
      { type: 'speech_stopped' },
      { type: 'answer_started', itemId: 'item_2' },
    ],
    replies: [],
  });
});

test('a begin that is told twice is not the one that a barge-in waits for', () => {
  const running = readyCodec();
  read(running, [created('resp_1'), speechStarted(), speechStopped()]);
  running.bargeIn(null);
  const ended = readyCodec();
  read(ended, [created('resp_1'), ...functionCall('c1', 'clock', '{}', 'resp_1')]);
  read(ended, [done('completed', {}, 'resp_1')]);
  assert.equal(ended.toolResult('c1', 'clock', '{}').length, 2, 'asked to go on');
  ended.bargeIn(null);
  for (const codec of [running, ended]) {
    assert.deepEqual(read(codec, [created('resp_1')]), { events: [], replies: [] });
    const [cancel] = parsed(read(codec, [created('resp_2')]).replies);
    assert.deepEqual([cancel?.type, cancel?.response_id], ['response.cancel', 'resp_2']);
  }
});

test('a barge-in while the user speaks, or before more is said, gives no answer up', () => {
  for (const barged of [[speechStarted()], [speechStarted(), speechStopped()]]) {
    const codec = readyCodec();
    read(codec, barged);
    codec.bargeIn(null);
    read(codec, barged.length === 1 ? [speechStopped()] : [speechStarted(), speechStopped()]);
    const { events, replies } = read(codec, [created(), itemAdded('item_1')]);
    assert.deepEqual([events.length, replies], [1, []], `${barged.length}`);
  }
});

test('speech ends an answer that has only called a tool, so that nobody waits for its rest', () => {
  const codec = readyCodec();
  read(codec, [created(), ...functionCall('c1', 'search', '{}'), done()]);
  const { events, replies } = read(codec, [speechStarted()]);
  assert.deepEqual(events, [
    { type: 'speech_started' },
    { type: 'answer_done', outcome: 'interrupted' },
  ]);
  assert.deepEqual(givenUpCalls(replies), ['c1'], 'told, without a request');
  assert.deepEqual(codec.toolResult('c1', 'search', '{}'), [], 'once');
});

test('speech before the first item of the rest ends it as well, without an end of its own', () => {
  const codec = readyCodec();
  read(codec, [created(), ...functionCall('c1', 'clock', '{}'), done()]);
  assert.equal(codec.toolResult('c1', 'clock', '{}').length, 2, 'asked to go on');
  const { events } = read(codec, [created('resp_2'), speechStarted()]);
  assert.deepEqual(events, [{ type: 'speech_started' }]);
  assert.deepEqual(read(codec, [done('cancelled', {}, 'resp_2')]).events, [usageEvent]);
});

test('a session may call tools as often as it likes, and each call once', () => {
  const codec = readyCodec();
  for (let turn = 0; turn < 600; turn += 1) {
    const [callId, response] = [`call_${turn}`, `resp_${turn}`];
    const calls = functionCall(callId, 'clock', '{}', response);
    const { events } = read(codec, [created(response), ...calls, ...calls]);
    assert.equal(events.length, 1, callId);
    read(codec, [done('completed', {}, response)]);
    assert.equal(codec.toolResult(callId, 'clock', '{}').length, 2, 'told, and asked to go on');
  }
});
