// The codec on hand-written streams: whole, and changed in every way that must not matter.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openaiRealtime } from '../../../../../media/providers/live/openai-realtime/family.ts';
import {
  asText,
  type Message,
  parsed,
  pcm,
  plainSetup,
  readAll,
  withUnknownMembers,
} from '../streams.ts';
import {
  created,
  delta,
  done,
  event,
  sessionCreated,
  sessionUpdated,
  spoken,
  spokenEvents,
  usageEvent,
  withBetaName,
} from './fixtures.ts';
import { read, readyCodec, target } from './session.ts';

test('the address has the model in its query and the key in a header', () => {
  assert.deepEqual(openaiRealtime.address(target), {
    url: 'wss://api.example.com/v1/realtime?model=gpt-realtime%202',
    headers: { authorization: 'Bearer sk-1' },
  });
  const local = { ...target, baseUrl: 'http://127.0.0.1:80/v1', apiKey: null };
  assert.deepEqual(openaiRealtime.address(local), {
    url: 'ws://127.0.0.1:80/v1/realtime?model=gpt-realtime%202',
    headers: {},
  });
});

test('set-up: session.update, then the history, and ready only with it', () => {
  const tool = { name: 'clock', description: 'The time', parameters: { type: 'object' } };
  const context = [
    { role: 'user', content: 'Hello "you"' },
    { role: 'assistant', content: 'Hi' },
  ] as const;
  const codec = openaiRealtime.createCodec({ ...plainSetup, context, tools: [tool] }, target);
  const format = { type: 'audio/pcm', rate: 24_000 };
  assert.deepEqual(parsed(codec.open()), [
    {
      type: 'session.update',
      session: {
        type: 'realtime',
        instructions: 'Be brief.',
        output_modalities: ['audio'],
        audio: {
          input: {
            format,
            transcription: { model: 'gpt-4o-mini-transcribe' },
            turn_detection: { type: 'server_vad', create_response: true, interrupt_response: true },
          },
          output: { format, voice: 'marin' },
        },
        tools: [{ type: 'function', ...tool }],
        tool_choice: 'auto',
      },
    },
  ]);
  assert.deepEqual(read(codec, [sessionCreated()]), { events: [], replies: [] });
  const { events, replies } = read(codec, [sessionUpdated(), sessionUpdated()]);
  assert.deepEqual(events, [{ type: 'ready' }]);
  assert.deepEqual(
    parsed(replies).map(({ item }) => item),
    [
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Hello "you"' }],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
    ],
  );
});

test('audio is appended as base64', () => {
  const bytes = new Uint8Array(pcm(3).buffer, 2, 100);
  assert.deepEqual(parsed([readyCodec().audio(bytes)]), [
    { type: 'input_audio_buffer.append', audio: Buffer.from(bytes).toString('base64') },
  ]);
});

const variants: Record<string, (message: Message) => (string | Uint8Array)[]> = {
  'as text': (message) => [asText(message)],
  'in binary frames': (message) => [Buffer.from(asText(message))],
  'in plain arrays': (message) => [new Uint8Array(Buffer.from(asText(message)))],
  'with blanks between': (message) => [JSON.stringify(message, null, 2)],
  'every message twice': (message) => [asText(message), asText(message)],
  'with unknown members': (message) => [asText(withUnknownMembers(message))],
  'with unknown messages between': (message) => [
    asText(event('response.new_thing.delta', { delta: 'AAAA', item_id: 'item_1' })),
    asText(message),
    asText({ type: 7 }),
    asText({}),
  ],
  'with beta names': (message) => [asText(withBetaName(message))],
};

for (const [name, change] of Object.entries(variants)) {
  test(`a spoken turn ${name}`, () => {
    const codec = readyCodec();
    assert.equal(codec.owesUsage, false);
    const { events, replies } = readAll(codec, spoken.flatMap(change));
    assert.deepEqual(events, spokenEvents);
    assert.deepEqual(replies, []);
    assert.equal(codec.owesUsage, false);
  });
}

test('an answer that nobody has paid for ends the session: there is no other', () => {
  const error = { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Your quota.' };
  const failed = { status_details: { type: 'failed', error } };
  const { events } = read(readyCodec(), [created(), done('failed', failed)]);
  const text = 'insufficient_quota: insufficient_quota: Your quota.';
  assert.deepEqual(events, [usageEvent, { type: 'failed', kind: 'unpaid', text }]);
  const told = read(readyCodec(), [event('error', { error })]).events;
  assert.deepEqual(told, [{ type: 'failed', kind: 'unpaid', text }]);
});

test('how an answer ends', () => {
  const failed = {
    status_details: { type: 'failed', error: { type: 'server_error', code: 'oops' } },
  };
  const problem = { type: 'problem', code: 'oops', text: 'server_error: oops' };
  for (const [status, members, expected] of [
    ['incomplete', {}, [{ type: 'answer_done', outcome: 'incomplete' }]],
    ['cancelled', {}, [{ type: 'answer_done', outcome: 'interrupted' }]],
    ['failed', failed, [problem, { type: 'answer_done', outcome: 'failed' }]],
    ['something_new', {}, [{ type: 'answer_done', outcome: 'completed' }]],
  ] as const) {
    const codec = readyCodec();
    const { events } = read(codec, [created(), done(status, members)]);
    assert.deepEqual(events, [usageEvent, ...expected]);
  }
});

test('usage: missing, zero, without details, told twice', () => {
  const zero = {
    inputSpeechTokens: 0,
    inputTextTokens: 0,
    outputSpeechTokens: 0,
    outputTextTokens: 0,
  };
  for (const [usage, expected] of [
    [undefined, null],
    [null, null],
    [{}, null],
    [{ input_tokens: 0, output_tokens: 0 }, zero],
    [
      { input_tokens: 5, output_tokens: 7 },
      { ...zero, inputSpeechTokens: 5, outputSpeechTokens: 7 },
    ],
    [
      {
        input_tokens: 9,
        input_token_details: { audio_tokens: 4, image_tokens: 2, text_tokens: 3 },
      },
      { ...zero, inputSpeechTokens: 4, inputTextTokens: 5 },
    ],
    [
      { output_tokens: 9, output_token_details: { text_tokens: 4 } },
      { ...zero, outputSpeechTokens: 5, outputTextTokens: 4 },
    ],
    [{ input_tokens: -1, output_tokens: '7' }, null],
    // One that is impossible: the other would bill a part.
    [{ input_tokens: -1, output_tokens: 7 }, null],
    [{ input_tokens: 5, output_tokens: 1.5 }, null],
    [{ input_tokens: 5, output_tokens: '7' }, null],
    [{ input_tokens: 5, output_tokens: 7, total_tokens: 2 ** 60 }, null],
    [
      { input_tokens: 5, output_tokens: null },
      { ...zero, inputSpeechTokens: 5 },
    ],
    [{ input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 1e12 }, null],
  ] as const) {
    const codec = readyCodec();
    const again = [done('completed', { usage }), done('completed', { usage })];
    const { events } = read(codec, [created(), ...again]);
    const told = events.filter((one) => /^(usage|unreported)$/.test(Object(one).type));
    const report = expected === null ? { type: 'unreported' } : { type: 'usage', usage: expected };
    assert.deepEqual(told, [report], JSON.stringify(usage));
    assert.equal(codec.owesUsage, false);
  }
});

test('responses that end without an id are no repeats of each other: each is charged', () => {
  const unnamed = () => done('completed', { id: undefined });
  const usages = (messages: readonly Message[]) => {
    const { events } = read(readyCodec(), messages);
    return events.filter((one) => Object(one).type === 'usage');
  };
  assert.deepEqual(usages([unnamed(), unnamed()]), [usageEvent, usageEvent]);
  const named = [created(), unnamed(), created('resp_2'), unnamed()];
  assert.deepEqual(usages(named), [usageEvent, usageEvent]);
  const again = unnamed();
  assert.deepEqual(usages([again, again, unnamed()]), [usageEvent, usageEvent], 'one event twice');
});

test('audio behind its own response.done is told as counted, but not where nothing was', () => {
  const codec = readyCodec();
  const late = (members: Message, id: string) =>
    read(codec, [
      created(id),
      delta(`item_${id}`, pcm(1), id),
      done('completed', members, id),
      delta(`item_${id}`, pcm(2), id),
    ]).events.flatMap((one) => {
      const { type, isReported } = Object(one);
      return type === 'audio' ? [isReported] : [];
    });
  assert.deepEqual(late({}, 'resp_1'), [undefined, true]);
  assert.deepEqual(late({ usage: null }, 'resp_2'), [undefined, undefined]);
});

test('close cancels what runs, so that its usage comes at once', () => {
  const codec = readyCodec();
  assert.deepEqual(codec.close(), []);
  read(codec, [created(), delta('item_1', pcm(1))]);
  assert.deepEqual(
    parsed(codec.close()).map(({ type }) => type),
    ['response.cancel'],
  );
  assert.equal(codec.owesUsage, true);
  assert.deepEqual(read(codec, [done('cancelled')]).events, [usageEvent]);
  assert.equal(codec.owesUsage, false);
});

test('samples that are cut in two are put together', () => {
  const codec = readyCodec();
  const bytes = pcm(1);
  const cuts = [0, 1, 2, 5, 5, 8, 101, 480];
  const pieces = cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
  const { events } = read(codec, [created(), ...pieces.map((piece) => delta('item_1', piece))]);
  const heard = events.flatMap((one) => (Object(one).type === 'audio' ? [Object(one).pcm] : []));
  assert.equal(heard.join(''), bytes.toString('hex'));
  assert.ok(heard.every((hex: string) => hex.length % 4 === 0 && hex.length > 0));
});

test('nonsense fails the session and never throws', () => {
  for (const message of ['', '{', 'null', '[]', '7', '"text"', '{"type":', '\u0000']) {
    const [failure] = readyCodec().read(message).events;
    assert.ok(failure?.type === 'failed' && failure.kind === 'garbage', message);
  }
  const invalid = Buffer.concat([Buffer.from('{"type":"'), Buffer.of(0xff), Buffer.from('"}')]);
  assert.equal(readyCodec().read(invalid).events[0]?.type, 'failed');
  const noBase64 = { ...delta('item_1', pcm(1)), delta: '!!!' };
  assert.equal(readyCodec().read(asText(noBase64)).events[0]?.type, 'failed');
});

test('members of the wrong kind are ignored', () => {
  const types = [...new Set(spoken.map(({ type }) => String(type))), 'response.output_text.delta'];
  for (const value of [null, 7, 'text', [], {}, [null], { id: 7 }]) {
    for (const type of types) {
      const members = { item: value, item_id: value, response: value, delta: value, error: value };
      const { events } = readyCodec().read(asText({ type, ...members }));
      const isHarmless = events.every((one) => one.type !== 'failed' && one.type !== 'audio');
      assert.ok(isHarmless || type.endsWith('audio.delta'), `${type} ${JSON.stringify(value)}`);
    }
  }
});
