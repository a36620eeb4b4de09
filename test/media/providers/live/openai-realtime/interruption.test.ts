// Barge-in, interruption by speech, and tool calls that run meanwhile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveMessages } from '../../../../../media/providers/live/contract.ts';
import { openaiRealtime } from '../../../../../media/providers/live/openai-realtime/family.ts';
import { type Message, parsed, pcm, plainSetup, summary } from '../streams.ts';
import {
  created,
  delta,
  done,
  event,
  functionCall,
  itemAdded,
  speechStarted,
  speechStopped,
  spoken,
  usageEvent,
} from './fixtures.ts';
import { givenUpCalls, read, readyCodec, target } from './session.ts';

test('a barge-in before any audio cancels and does not truncate', () => {
  const codec = readyCodec();
  read(codec, [speechStarted(), speechStopped(), created(), itemAdded('item_1')]);
  assert.equal(codec.owesUsage, true);
  const messages = parsed(codec.bargeIn(null));
  assert.deepEqual(
    messages.map(({ type }) => type),
    ['response.cancel'],
  );
  assert.equal(messages[0]?.response_id, 'resp_1');
  assert.deepEqual(codec.bargeIn({ itemId: 'item_1', heardMs: 0 }), [], 'and once only');
});

test('a barge-in truncates at what was heard, at most at what exists', () => {
  for (const [heardMs, endMs] of [
    [7.9, 7],
    [10, 10],
    [5000, 10],
    [0.4, null],
    [-3, null],
    [Number.NaN, null],
  ] as const) {
    const codec = readyCodec();
    read(codec, [created(), itemAdded('item_1'), delta('item_1', pcm(1))]);
    const messages = parsed(codec.bargeIn({ itemId: 'item_1', heardMs }));
    const types = messages.map(({ type }) => type);
    if (endMs === null) {
      assert.deepEqual(types, ['response.cancel'], `${heardMs}`);
      continue;
    }
    assert.deepEqual(types, ['response.cancel', 'conversation.item.truncate'], `${heardMs}`);
    const { item_id, content_index, audio_end_ms } = messages[1] ?? {};
    assert.deepEqual([item_id, content_index, audio_end_ms], ['item_1', 0, endMs]);
  }
});

test('after a barge-in late audio is unheard, transcripts and the end are swallowed', () => {
  const codec = readyCodec();
  const ids = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 };
  read(codec, [created(), itemAdded('item_1'), delta('item_1', pcm(1))]);
  codec.bargeIn({ itemId: 'item_1', heardMs: 5 });
  const late = [
    delta('item_1', pcm(2)),
    event('response.output_audio_transcript.delta', { ...ids, delta: 'late' }),
    itemAdded('item_2'),
    delta('item_2', pcm(3)),
    delta('item_3', pcm(4)),
    ...functionCall('call_late', 'clock', '{}'),
    event('response.output_audio.done', ids),
    event('response.output_audio_transcript.done', { ...ids, transcript: 'late' }),
    event('conversation.item.truncated', { item_id: 'item_1', content_index: 0, audio_end_ms: 5 }),
    done('cancelled', { status_details: { type: 'cancelled', reason: 'client_cancelled' } }),
    delta('item_1', pcm(2)),
  ];
  // What comes behind the report is counted by it.
  const unheard = { type: 'unheard', durationMs: 10 };
  assert.deepEqual(read(codec, late).events, [unheard, unheard, unheard, usageEvent]);
  const next = [created('resp_2'), delta('item_9', pcm(5), 'resp_2')];
  assert.deepEqual(
    read(codec, next).events,
    summary([
      { type: 'answer_started', itemId: 'item_9' },
      { type: 'audio', itemId: 'item_9', pcm: pcm(5) },
    ]),
  );
});

test('when the whole answer came before, a barge-in truncates without a cancel, once', () => {
  const codec = readyCodec();
  read(codec, spoken);
  const messages = parsed(codec.bargeIn({ itemId: 'item_1', heardMs: 12.5 }));
  assert.deepEqual(
    messages.map(({ type }) => type),
    ['conversation.item.truncate'],
  );
  assert.equal(messages[0]?.audio_end_ms, 12);
  assert.deepEqual(codec.truncate({ itemId: 'item_1', heardMs: 12.5 }), []);
  assert.deepEqual(
    codec.truncate({ itemId: 'item_1', heardMs: 20 }),
    [],
    'longer than what is left',
  );
  assert.deepEqual(codec.truncate({ itemId: 'item_unknown', heardMs: 20 }), []);
});

test('what waits behind the item that plays was never said: it is deleted', () => {
  const setUp = () => {
    const codec = readyCodec();
    read(codec, spoken);
    read(codec, [created('resp_2'), delta('item_2', pcm(2), 'resp_2')]);
    return codec;
  };
  const types = (messages: LiveMessages) => parsed(messages).map(({ type }) => type);
  const heard = { itemId: 'item_1', heardMs: 12, unsentItems: ['item_2'] };
  const byClient = setUp().bargeIn(heard);
  const edits = ['conversation.item.truncate', 'conversation.item.delete'];
  assert.deepEqual(types(byClient), ['response.cancel', ...edits]);
  assert.equal(parsed(byClient).at(-1)?.item_id, 'item_2');
  const codec = setUp();
  read(codec, [speechStarted()]);
  assert.deepEqual(types(codec.truncate(heard)), edits);
  const refusal = "Error deleting item: the item with id 'item_2' does not exist.";
  const refused = event('error', { error: { code: 'x', message: refusal, event_id: null } });
  assert.deepEqual(read(codec, [refused]).events, [], 'no news');
});

test('an answer that was heard to its end is not truncated', () => {
  const codec = readyCodec();
  read(codec, spoken);
  assert.deepEqual(codec.bargeIn({ itemId: 'item_1', heardMs: 20 }), []);
});

test('the user speaks over an answer: interrupted, then only what it costs', () => {
  const codec = readyCodec();
  read(codec, [created(), itemAdded('item_1'), delta('item_1', pcm(1))]);
  assert.deepEqual(read(codec, [speechStarted()]).events, [
    { type: 'speech_started' },
    { type: 'interrupted', itemId: 'item_1' },
  ]);
  const messages = parsed(codec.truncate({ itemId: 'item_1', heardMs: 4 }));
  assert.deepEqual(
    messages.map(({ type }) => type),
    ['conversation.item.truncate'],
  );
  const rest = [
    delta('item_1', pcm(2)),
    done('cancelled', { status_details: { type: 'cancelled', reason: 'turn_detected' } }),
    speechStopped(),
  ];
  const unheard = { type: 'unheard', durationMs: 10 };
  assert.deepEqual(read(codec, rest).events, [unheard, usageEvent, { type: 'speech_stopped' }]);
  assert.deepEqual(codec.bargeIn(null), [], 'the server cancelled it');
});

test('the user speaks while a complete answer may still be played', () => {
  const codec = readyCodec();
  read(codec, spoken);
  const { events } = read(codec, [speechStarted(), speechStarted()]);
  assert.deepEqual(events.slice(0, 2), [
    { type: 'speech_started' },
    { type: 'interrupted', itemId: 'item_1' },
  ]);
  assert.equal(events.filter((one) => Object(one).type === 'interrupted').length, 1);
});

const twoAtOnce = () => [
  created(),
  delta('item_1', pcm(1)),
  created('resp_2'),
  delta('item_2', pcm(2), 'resp_2'),
];
const cancelled = (messages: readonly string[]) =>
  parsed(messages).flatMap(({ type, response_id }) =>
    type === 'response.cancel' ? [response_id] : [],
  );
/** What comes of two responses that were given up: each has its usage, told twice. */
const ends = () => [
  delta('item_1', pcm(3)),
  delta('item_2', pcm(4), 'resp_2'),
  ...[0, 1].flatMap(() => [done('cancelled'), done('cancelled', {}, 'resp_2')]),
];

const usedByTwo = [
  { type: 'unheard', durationMs: 10 },
  { type: 'unheard', durationMs: 10 },
  usageEvent,
  usageEvent,
];

test('of two responses at once a barge-in cancels both, and each is charged once', () => {
  for (const end of ['bargeIn', 'close'] as const) {
    const codec = readyCodec();
    read(codec, twoAtOnce());
    const messages = end === 'close' ? codec.close() : codec.bargeIn(null);
    assert.deepEqual(cancelled(messages), ['resp_1', 'resp_2']);
    assert.deepEqual(codec.bargeIn(null), [], 'once');
    const [first, ...rest] = ends().reverse();
    assert.deepEqual(read(codec, rest.reverse()).events, usedByTwo);
    assert.equal(codec.owesUsage, false);
    assert.deepEqual(read(codec, first === undefined ? [] : [first]).events, []);
  }
});

test('the usage of each of two responses is owed until it came', () => {
  const codec = readyCodec();
  read(codec, [...twoAtOnce(), done('completed', {}, 'resp_2')]);
  assert.equal(codec.owesUsage, true);
  assert.deepEqual(cancelled(codec.bargeIn(null)), ['resp_1']);
  assert.deepEqual(read(codec, [done('cancelled')]).events, [usageEvent]);
  assert.equal(codec.owesUsage, false);
});

test('the user speaks over two responses: the server gives up one, we the other', () => {
  const codec = readyCodec();
  read(codec, twoAtOnce());
  const { events, replies } = read(codec, [speechStarted()]);
  assert.deepEqual(events.at(-1), { type: 'interrupted', itemId: 'item_2' });
  assert.deepEqual(cancelled(replies), ['resp_1']);
  assert.deepEqual(read(codec, ends()).events, usedByTwo);
});

test('the model is asked to go on when no response runs any more that is to be heard', () => {
  const codec = readyCodec();
  read(codec, [...twoAtOnce(), ...functionCall('c1', 'clock', '{}', 'resp_2')]);
  assert.equal(codec.toolResult('c1', 'clock', '{}').length, 1);
  assert.deepEqual(read(codec, [done('completed', {}, 'resp_2')]).replies, []);
  const { replies } = read(codec, [done()]);
  assert.deepEqual(
    parsed(replies).map(({ type }) => type),
    ['response.create'],
  );
});

test('refusals that a barge-in may cause are swallowed, other errors are problems', () => {
  const codec = readyCodec();
  read(codec, [created(), delta('item_1', pcm(1))]);
  const sent = parsed(codec.bargeIn({ itemId: 'item_1', heardMs: 5 }));
  const error = (members: Message) =>
    event('error', { error: { type: 'invalid_request_error', ...members } });
  const harmless = [
    ...sent.map(({ event_id }) => error({ code: 'unsupported_content_type', event_id })),
    error({ code: 'response_cancel_not_active', message: 'Cancellation failed' }),
    error({ message: 'Audio content of 10ms is already shorter than 20ms' }),
    error({ code: 'conversation_already_has_active_response' }),
  ];
  assert.equal(harmless.length, 5);
  assert.deepEqual(read(codec, harmless).events, []);
  assert.deepEqual(
    read(codec, [error({ code: 'invalid_value', message: 'no', event_id: 'x' })]).events,
    [{ type: 'problem', code: 'invalid_value', text: 'invalid_request_error: invalid_value: no' }],
  );
  assert.deepEqual(read(codec, [error({ code: 'session_expired', message: '60 min' })]).events, [
    {
      type: 'failed',
      kind: 'closed',
      text: 'invalid_request_error: session_expired: 60 min',
    },
  ]);
});

test('an error before ready fails the session by its kind', () => {
  for (const [code, kind] of [
    ['invalid_value', 'refused'],
    ['model_not_found', 'refused'],
    ['insufficient_quota', 'unpaid'],
    ['quota_exceeded', 'busy'],
    ['rate_limit_exceeded', 'busy'],
    ['server_error', 'closed'],
  ]) {
    const codec = openaiRealtime.createCodec(plainSetup, target);
    const { events } = read(codec, [event('error', { error: { code, message: 'm' } })]);
    assert.deepEqual(events, [{ type: 'failed', kind, text: `${code}: m` }]);
  }
});

test('tool calls: one request to go on, after the last result and the end of the response', () => {
  const codec = readyCodec();
  const calls = [...functionCall('c1', 'clock', '{"a":1}'), ...functionCall('c2', 'search', '{}')];
  const first = read(codec, [created(), ...calls]);
  assert.deepEqual(first.events, [
    { type: 'tool_call', callId: 'c1', name: 'clock', argumentsJson: '{"a":1}' },
    { type: 'tool_call', callId: 'c2', name: 'search', argumentsJson: '{}' },
  ]);
  const early = parsed(codec.toolResult('c1', 'clock', '{"time":"12:00"}'));
  assert.deepEqual(early, [
    {
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'c1', output: '{"time":"12:00"}' },
    },
  ]);
  assert.deepEqual(codec.toolResult('c1', 'clock', '{}'), [], 'a second result');
  assert.deepEqual(codec.toolResult('c9', 'clock', '{}'), [], 'of no call');
  assert.deepEqual(read(codec, [done()]), { events: [usageEvent], replies: [] });
  const last = parsed(codec.toolResult('c2', 'search', '{}'));
  assert.deepEqual(
    last.map(({ type }) => type),
    ['conversation.item.create', 'response.create'],
  );
  const rest = read(codec, [
    created('resp_2'),
    delta('item_2', pcm(1), 'resp_2'),
    done('completed', {}, 'resp_2'),
  ]);
  assert.deepEqual(rest.events.at(-1), { type: 'answer_done', outcome: 'completed' });
});

test('a result that is there before the response ends goes on right after it', () => {
  const codec = readyCodec();
  read(codec, [created(), ...functionCall('c1', 'clock', '{}')]);
  assert.equal(codec.toolResult('c1', 'clock', '{}').length, 1);
  assert.deepEqual(
    parsed(read(codec, [done()]).replies).map(({ type }) => type),
    ['response.create'],
  );
});

test('a call that was given up is told to have no result, and holds back no later answer', () => {
  for (const interrupt of ['barge-in', 'speech', 'failure', 'speech at its end'] as const) {
    const codec = readyCodec();
    const calling = [created(), ...functionCall('c1', 'search', '{}')];
    read(codec, interrupt === 'speech at its end' ? [...calling, done()] : calling);
    const told = interrupt === 'barge-in' ? [...codec.bargeIn(null)] : [];
    if (interrupt.startsWith('speech')) told.push(...read(codec, [speechStarted()]).replies);
    const end = done(interrupt === 'failure' ? 'failed' : 'cancelled');
    told.push(...read(codec, [end]).replies);
    if (interrupt === 'barge-in') assert.match(told.shift() ?? '', /response\.cancel/);
    assert.deepEqual(givenUpCalls(told), ['c1'], `${interrupt}: without a request`);
    assert.deepEqual(codec.toolResult('c1', 'search', '{}'), [], 'once');
    read(codec, [created('resp_2'), ...functionCall('c2', 'search', '{}', 'resp_2')]);
    read(codec, [done('completed', {}, 'resp_2')]);
    assert.deepEqual(
      parsed(codec.toolResult('c2', 'search', '{}')).map(({ type }) => type),
      ['conversation.item.create', 'response.create'],
      interrupt,
    );
  }
});

test('an answer that the server refuses to go on with is over, and nobody waits for it', () => {
  const codec = readyCodec();
  read(codec, [created(), ...functionCall('c1', 'clock', '{}'), done()]);
  const [, request] = parsed(codec.toolResult('c1', 'clock', '{}'));
  const error = { type: 'server_error', message: 'm', event_id: request?.event_id };
  const { events } = read(codec, [event('error', { error })]);
  assert.deepEqual(events, [
    { type: 'problem', code: 'server_error', text: 'server_error: m' },
    { type: 'answer_done', outcome: 'failed' },
  ]);
  // The next answer is not taken for the one that was asked for.
  assert.deepEqual(codec.bargeIn(null), []);
  const next = read(codec, [created('resp_2'), delta('item_2', pcm(1), 'resp_2')]);
  assert.deepEqual([next.events.length > 0, next.replies], [true, []]);
});

test('a barge-in after we asked for a response cancels that one as soon as it begins', () => {
  const codec = readyCodec();
  read(codec, [created(), ...functionCall('c1', 'clock', '{}'), done()]);
  assert.equal(codec.toolResult('c1', 'clock', '{}').length, 2);
  assert.deepEqual(codec.bargeIn(null), []);
  const { events, replies } = read(codec, [created('resp_2'), delta('item_2', pcm(1), 'resp_2')]);
  assert.deepEqual(events, [{ type: 'unheard', durationMs: 10 }]);
  const [cancel] = parsed(replies);
  assert.deepEqual([cancel?.type, cancel?.response_id], ['response.cancel', 'resp_2']);
});
