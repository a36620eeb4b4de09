// The codec on hand-written streams: whole, and changed in every way that must not matter.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { geminiLive } from '../../../../../media/providers/live/gemini-live/family.ts';
import {
  asText,
  type Message,
  parsed,
  pcm,
  plainSetup,
  readAll,
  summary,
  withUnknownMembers,
} from '../streams.ts';
import {
  audio,
  content,
  generationComplete,
  heard,
  interrupted,
  said,
  setupComplete,
  spoken,
  spokenEvents,
  turnComplete,
  usageEvent,
  usageOf,
} from './fixtures.ts';
import { newCodec, read, readyCodec, target } from './session.ts';

const service = (version: string, method: string) =>
  `google.ai.generativelanguage.${version}.GenerativeService.${method}`;

test('the address: the version of the base URL, the key in a header', () => {
  assert.deepEqual(geminiLive.address(target), {
    url: `wss://generativelanguage.example.com/ws/${service('v1beta', 'BidiGenerateContent')}`,
    headers: { 'x-goog-api-key': 'key-1' },
  });
  const local = { ...target, baseUrl: 'http://127.0.0.1:80/gemini/v1alpha/', apiKey: null };
  assert.deepEqual(geminiLive.address(local), {
    url: `ws://127.0.0.1:80/gemini/ws/${service('v1alpha', 'BidiGenerateContent')}`,
    headers: {},
  });
  const token = { ...target, baseUrl: 'http://127.0.0.1:80', apiKey: 'auth_tokens/1' };
  assert.deepEqual(geminiLive.address(token), {
    url: `ws://127.0.0.1:80/ws/${service('v1beta', 'BidiGenerateContentConstrained')}`,
    headers: { authorization: 'Token auth_tokens/1' },
  });
});

const context = [
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: 'Hi' },
] as const;
const turns = [
  { role: 'user', parts: [{ text: 'Hello' }] },
  { role: 'model', parts: [{ text: 'Hi' }] },
];

test('set-up: everything in one message, ready at setupComplete', () => {
  const tool = { name: 'clock', description: 'The time', parameters: { type: 'object' } };
  const codec = newCodec({ ...plainSetup, tools: [tool] });
  assert.deepEqual(parsed(codec.open()), [
    {
      setup: {
        model: 'models/gemini-live-2.5',
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'marin' } } },
        },
        realtimeInputConfig: {
          automaticActivityDetection: { disabled: false },
          activityHandling: 'START_OF_ACTIVITY_INTERRUPTS',
        },
        inputAudioTranscription: {},
        outputAudioTranscription: {},
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        tools: [
          {
            functionDeclarations: [
              { name: 'clock', description: 'The time', parametersJsonSchema: { type: 'object' } },
            ],
          },
        ],
      },
    },
  ]);
  assert.deepEqual(read(codec, [{}, audio(pcm(1))]), { events: [], replies: [] });
  assert.deepEqual(read(codec, [setupComplete]), { events: [{ type: 'ready' }], replies: [] });
});

test('history: announced and completed for newer models, open for older ones', () => {
  for (const [model, isNew] of [
    ['gemini-3.1-flash-live-preview', true],
    ['models/another', true],
    ['gemini-2.5-flash-native-audio', false],
  ] as const) {
    const codec = newCodec({ ...plainSetup, context }, model);
    const { historyConfig } = Object(parsed(codec.open())[0]?.setup);
    assert.deepEqual(
      historyConfig,
      isNew ? { initialHistoryInClientContent: true } : undefined,
      model,
    );
    const { events, replies } = read(codec, [setupComplete]);
    assert.deepEqual(events, [{ type: 'ready' }]);
    assert.deepEqual(parsed(replies), [{ clientContent: { turns, turnComplete: isNew } }]);
  }
});

test('audio is sent as base64 at 16 kHz', () => {
  const data = pcm(3).toString('base64');
  assert.deepEqual(parsed([readyCodec().audio(pcm(3))]), [
    { realtimeInput: { audio: { mimeType: 'audio/pcm;rate=16000', data } } },
  ]);
});

const variants: Record<string, (message: Message) => (string | Uint8Array)[]> = {
  'as text': (message) => [asText(message)],
  'in binary frames': (message) => [Buffer.from(asText(message))],
  'in plain arrays': (message) => [new Uint8Array(Buffer.from(asText(message)))],
  'printed in lines': (message) => [Buffer.from(`${JSON.stringify(message, null, 2)}\n`)],
  'with unknown members': (message) => [asText(withUnknownMembers(message))],
  'with unknown messages between': (message) => [
    asText({ newThing: { data: 'AAAA' } }),
    asText(message),
    asText({}),
    asText({ serverContent: { waitingForInput: false, groundingMetadata: {} } }),
  ],
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

test('several members in one message come in the order in which they make sense', () => {
  const codec = readyCodec();
  const data = pcm(1).toString('base64');
  const inlineData = { mimeType: 'audio/pcm;rate=24000', data };
  const message = {
    goAway: { timeLeft: '9.5s' },
    usageMetadata: usageOf(30, 50),
    serverContent: {
      turnComplete: true,
      generationComplete: true,
      outputTranscription: { text: 'Hi', finished: true },
      modelTurn: { parts: [{ text: 'a thought', thought: true }, { inlineData }] },
      inputTranscription: { text: 'Hello', finished: true },
    },
  };
  assert.deepEqual(
    read(codec, [message]).events,
    summary([
      { type: 'speech_started' },
      { type: 'transcript', role: 'user', itemId: 'user_0', text: 'Hello', final: false },
      { type: 'transcript', role: 'user', itemId: 'user_0', text: 'Hello', final: true },
      { type: 'speech_stopped' },
      { type: 'answer_started', itemId: 'answer_1' },
      { type: 'audio', itemId: 'answer_1', pcm: pcm(1) },
      { type: 'transcript', role: 'assistant', itemId: 'answer_1', text: 'Hi', final: false },
      { type: 'transcript', role: 'assistant', itemId: 'answer_1', text: 'Hi', final: true },
      { type: 'audio_done', itemId: 'answer_1' },
      usageEvent(30, 50),
      { type: 'answer_done', outcome: 'completed' },
      { type: 'going_away', leftMs: 9500 },
    ]),
  );
});

test('setupComplete beside other members', () => {
  const { events } = read(newCodec(), [{ ...setupComplete, goAway: { timeLeft: '50s' } }]);
  assert.deepEqual(events, [{ type: 'ready' }, { type: 'going_away', leftMs: 50_000 }]);
});

test('the user speaks over an answer: interrupted, then unheard until the turn ends', () => {
  const codec = readyCodec();
  const { events } = read(codec, [audio(pcm(1)), interrupted, audio(pcm(2)), said('late')]);
  assert.deepEqual(
    events,
    summary([
      { type: 'answer_started', itemId: 'answer_1' },
      { type: 'audio', itemId: 'answer_1', pcm: pcm(1) },
      { type: 'speech_started' },
      { type: 'interrupted', itemId: 'answer_1' },
      { type: 'unheard', durationMs: 10 },
    ]),
  );
  assert.deepEqual(codec.truncate({ itemId: 'answer_1', heardMs: 5 }), []);
  const rest = read(codec, [generationComplete, interrupted, turnComplete(30, 20), audio(pcm(3))]);
  assert.deepEqual(
    rest.events,
    summary([
      usageEvent(30, 20),
      { type: 'speech_stopped' },
      { type: 'answer_started', itemId: 'answer_2' },
      { type: 'audio', itemId: 'answer_2', pcm: pcm(3) },
    ]),
  );
});

test('interrupted and more audio in one message: the audio is void', () => {
  const codec = readyCodec();
  read(codec, [audio(pcm(1))]);
  const message = audio(pcm(2));
  const { events } = read(codec, [
    content({ ...Object(message.serverContent), interrupted: true, turnComplete: true }),
    audio(pcm(3)),
  ]);
  assert.deepEqual(
    events.map((event) => Object(event).type),
    [
      ...['speech_started', 'interrupted', 'unheard', 'unreported'],
      ...['speech_stopped', 'answer_started', 'audio'],
    ],
  );
});

test('interrupted while nothing was said yet: the end of that turn is no end of an answer', () => {
  const codec = readyCodec();
  const { events } = read(codec, [heard('a'), interrupted, turnComplete(20, 10), audio(pcm(1))]);
  assert.deepEqual(
    events.map((event) => Object(event).type),
    ['speech_started', 'transcript', 'usage', 'speech_stopped', 'answer_started', 'audio'],
  );
});

test('interrupted after the turn ended, while it may be played, does not mute the next', () => {
  const codec = readyCodec();
  read(codec, spoken);
  const { events } = read(codec, [interrupted, audio(pcm(1)), turnComplete(90, 20)]);
  assert.deepEqual(
    events.map((event) => Object(event).type),
    [
      ...['speech_started', 'interrupted', 'speech_stopped', 'answer_started', 'audio'],
      ...['usage', 'audio_done', 'answer_done'],
    ],
  );
});

test('a barge-in is local: what comes is unheard to the end of the turn, not its usage', () => {
  const codec = readyCodec();
  read(codec, [audio(pcm(1)), said('Hi')]);
  assert.deepEqual(codec.bargeIn({ itemId: 'answer_1', heardMs: 5 }), []);
  assert.equal(codec.owesUsage, true);
  const late = [audio(pcm(2)), said('late'), generationComplete, turnComplete(30, 50)];
  const unheard = { type: 'unheard', durationMs: 10 };
  assert.deepEqual(read(codec, late).events, [unheard, usageEvent(30, 50)]);
  assert.equal(codec.owesUsage, false);
  assert.deepEqual(codec.bargeIn(null), []);
  const { events } = read(codec, [audio(pcm(3))]);
  assert.deepEqual(
    events.map((event) => Object(event).type),
    ['answer_started', 'audio'],
    'a barge-in between two turns discards nothing',
  );
});

test('a barge-in gives up an answer that has not begun, unless the user goes on speaking', () => {
  const answer = [audio(pcm(1)), said('Hi'), generationComplete, turnComplete(30, 50)];
  const types = (...rest: Message[]) => {
    const codec = readyCodec();
    read(codec, [heard('a')]);
    codec.bargeIn(null);
    return read(codec, rest).events.map((event) => Object(event).type);
  };
  assert.deepEqual(types(...answer), ['transcript', 'usage'], 'nothing that would be awaited');
  const next = types(...answer, heard('b'), ...answer);
  assert.deepEqual(next.slice(2, 5), ['speech_started', 'transcript', 'speech_stopped']);
  assert.ok(types(heard('b'), ...answer).includes('audio'), 'what was given up is another answer');
  assert.ok(types(interrupted, turnComplete(9, 0), ...answer).includes('audio'));
  assert.ok(types(...answer, ...answer).includes('audio'), 'one answer, not those after it');
  const idle = readyCodec();
  idle.bargeIn(null);
  assert.ok(
    read(idle, answer).events.some((event) => Object(event).type === 'audio'),
    'none',
  );
});

test('how a turn ends', () => {
  for (const [turnCompleteReason, outcome] of [
    ['TURN_COMPLETE_REASON_UNSPECIFIED', 'completed'],
    ['NEED_MORE_INPUT', 'completed'],
    ['MALFORMED_FUNCTION_CALL', 'failed'],
    ['PROHIBITED_INPUT_CONTENT', 'incomplete'],
    ['SOMETHING_NEW', 'incomplete'],
  ] as const) {
    const { events } = read(readyCodec(), [
      audio(pcm(1)),
      turnComplete(20, 10, { turnCompleteReason }),
    ]);
    assert.deepEqual(events.at(-1), { type: 'answer_done', outcome });
    const hasProblem = events.some((event) => Object(event).type === 'problem');
    assert.equal(hasProblem, outcome !== 'completed');
  }
});

test('a reason that is no word is cut before it is logged', () => {
  const turnCompleteReason = 'X'.repeat(1_000_000);
  const { events } = read(readyCodec(), [
    audio(pcm(1)),
    content({ turnComplete: true, turnCompleteReason }),
  ]);
  const problem = events.find((event) => Object(event).type === 'problem');
  assert.ok(JSON.stringify(problem).length < 1_100);
});

test('goAway says how long is left; none when it does not say', () => {
  for (const [goAway, leftMs] of [
    [{ timeLeft: '50s' }, 50_000],
    [{ timeLeft: '0.250s' }, 250],
    [{}, 0],
    [{ timeLeft: 'soon' }, 0],
  ] as const) {
    assert.deepEqual(read(readyCodec(), [{ goAway }]).events, [{ type: 'going_away', leftMs }]);
  }
});

test('told voice activity is believed once', () => {
  const codec = readyCodec();
  const { events } = read(codec, [
    { voiceActivity: { voiceActivityType: 'ACTIVITY_START' } },
    { voiceActivityDetectionSignal: { vadSignalType: 'VAD_SIGNAL_TYPE_SOS' } },
    heard('a'),
    { voiceActivity: { voiceActivityType: 'ACTIVITY_END' } },
    audio(pcm(1)),
  ]);
  assert.deepEqual(
    events.map((event) => Object(event).type),
    ['speech_started', 'transcript', 'speech_stopped', 'answer_started', 'audio'],
  );
});

test('a late part of the transcript belongs to the same utterance, for a second of audio', () => {
  const codec = readyCodec();
  const { events } = read(codec, [
    heard('Hel'),
    audio(pcm(1)),
    heard('lo'),
    audio(pcm(2, 24_000)),
    heard('again'),
  ]);
  const texts = events.flatMap((event) => {
    const { type, text, final, itemId } = Object(event);
    return type === 'transcript' ? [[itemId, text, final]] : [];
  });
  assert.deepEqual(texts, [
    ['user_0', 'Hel', false],
    ['user_0', 'lo', false],
    ['user_0', 'Hello', true],
    ['user_1', 'again', false],
  ]);
  const started = events.filter((event) => Object(event).type === 'speech_started');
  assert.equal(started.length, 1, 'it does not mean that the user speaks again');
});

const finals = (messages: readonly Message[], codec = readyCodec()) =>
  read(codec, messages).events.flatMap((event) => {
    const { type, role, text, final } = Object(event);
    return type === 'transcript' && role === 'user' && final === true ? [text] : [];
  });

test('what the user said is final at the end of its turn, however that ends', () => {
  const codec = readyCodec();
  assert.deepEqual(finals([heard('a'), audio(pcm(1))], codec), []);
  codec.bargeIn(null);
  const rest = [audio(pcm(2)), turnComplete(), heard('b'), audio(pcm(3)), turnComplete()];
  assert.deepEqual(finals(rest, codec), ['a', 'b'], 'the button');
  const voice = [heard('a'), audio(pcm(1)), interrupted, heard('b'), turnComplete(), heard('c')];
  assert.deepEqual(finals([...voice, audio(pcm(2)), turnComplete()]), ['a', 'bc'], 'the voice');
});

test('a transcript after the end of its turn is told as late, and not with the next', () => {
  const codec = readyCodec();
  const { events } = read(codec, [audio(pcm(1)), turnComplete(), heard('a'), heard('b')]);
  const told = { type: 'transcript', role: 'user', itemId: 'user_0', final: false, isLate: true };
  assert.deepEqual(events.slice(-2), [
    { ...told, text: 'a' },
    { ...told, text: 'b' },
  ]);
  const second = read(codec, [audio(pcm(2)), turnComplete(60, 50), heard('c')]);
  assert.deepEqual(second.events.at(-1), { ...told, itemId: 'user_1', text: 'c' });
});

test('nonsense fails the session and never throws', () => {
  for (const message of ['', '{', 'null', '[]', '7', '"text"', '{"a":', '\u0000']) {
    const [failure] = readyCodec().read(message).events;
    assert.ok(failure?.type === 'failed' && failure.kind === 'garbage', message);
  }
  for (const message of [
    audio(pcm(1), 'audio/pcm;rate=16000'),
    audio(pcm(1), 'audio/opus'),
    content({ modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm', data: '!' } }] } }),
  ]) {
    assert.equal(readyCodec().read(asText(message)).events[0]?.type, 'failed');
  }
});

test('members of the wrong kind are ignored', () => {
  for (const value of [null, 7, 'text', [], {}, [null], { parts: [null, { inlineData: 7 }] }]) {
    const members = Object.fromEntries(
      ['inputTranscription', 'outputTranscription', 'modelTurn', 'interrupted', 'turnComplete'].map(
        (name) => [name, value],
      ),
    );
    const others = { toolCall: value, toolCallCancellation: value, usageMetadata: value };
    const messages = [content(members, others), { serverContent: value }, { voiceActivity: value }];
    assert.deepEqual(read(readyCodec(), messages).events, [], JSON.stringify(value));
  }
});
