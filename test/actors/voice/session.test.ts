// One voice session from its start to its end, with every order of what can happen to it.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsContinuation } from '../../../actors/voice/sealed.ts';
import type { LiveEvent } from '../../../media/providers/live/contract.ts';
import type { TestAccount } from '../../harness/account.ts';
import type { FakeClient } from './fakes.ts';
import { sealer, stagesOfFile, until, type VoiceStage } from './stage.ts';

const open = stagesOfFile();
let stage: VoiceStage;
let account: TestAccount;
before(async () => {
  stage = await open();
  account = await stage.account();
});

const sound = (itemId: string, ms: number): LiveEvent => ({
  type: 'audio',
  itemId,
  pcm: new Uint8Array(ms * 48),
});
const usage = (tokens: number): LiveEvent => ({
  type: 'usage',
  usage: {
    inputSpeechTokens: tokens,
    inputTextTokens: 0,
    outputSpeechTokens: tokens,
    outputTextTokens: 0,
  },
});

/** An answer that the client begins to hear. */
function speak(client: FakeClient, itemId: string, ms: number): void {
  client.call?.says({ type: 'speech_started' }, { type: 'speech_stopped' });
  client.call?.says({ type: 'answer_started', itemId }, sound(itemId, ms));
}

test('a turn: states in order, messages of at most 80 ms, settled for the sum', async () => {
  const client = await stage.live(account);
  client.forget();
  speak(client, 'a', 200);
  client.call?.says(
    { type: 'transcript', role: 'assistant', itemId: 'a', text: 'Hello', final: false },
    { type: 'transcript', role: 'assistant', itemId: 'a', text: 'Hello.', final: true },
    { type: 'audio_done', itemId: 'a' },
    usage(10),
    { type: 'answer_done', outcome: 'completed' },
  );
  await until('it is played', () => client.types().includes('listening'));
  const types = client.types().filter((type) => type !== 'sound');
  const transcripts = ['transcript', 'transcript'];
  assert.deepEqual(types, ['thinking', 'speaking', ...transcripts, 'listening']);
  const sounds = client.told.filter((event) => event.type === 'sound');
  const bytes = sounds.map((event) => Number('bytes' in event ? event.bytes : 0));
  assert.equal(
    bytes.reduce((sum, each) => sum + each, 0),
    9_600,
  );
  assert.ok(bytes.every((each) => each <= 3_840 && each % 2 === 0));
  assert.deepEqual(client.of('transcript')[1], {
    type: 'transcript',
    role: 'assistant',
    text: 'Hello.',
    final: true,
    delta: false,
  });
  client.call?.says(usage(5));
  client.send({ type: 'end' });
  const row = await stage.over(client);
  assert.deepEqual(client.ended, { code: 1000, reason: 'client_end' });
  assert.deepEqual(client.told.at(-1), {
    type: 'session.ended',
    reason: 'client_end',
    renewable: false,
    reconnect: false,
    usage: {
      input_speech_tokens: 15,
      input_text_tokens: 0,
      output_speech_tokens: 15,
      output_text_tokens: 0,
      total_input_tokens: 15,
      total_output_tokens: 15,
    },
    billing_units: {
      audio_input_million_tokens: '0.000015',
      audio_output_million_tokens: '0.000015',
    },
  });
  assert.equal(row.charge, 15 * (105 + 210));
  assert.deepEqual([row.state, row.reason, row.source], ['ended', 'client_end', 'reported']);
});

test('session.ready has every field', async () => {
  const client = await stage.live(account);
  const [ready] = client.of('session.ready');
  assert.equal(typeof ready?.continuation_token, 'string');
  assert.match(String(ready?.session_id), /^vs_[0-9a-f]{24}$/);
  assert.deepEqual(
    { ...ready, continuation_token: '', session_id: '' },
    {
      type: 'session.ready',
      protocol: 'svc.voice.v1',
      session_id: '',
      mode: 'full',
      model: 'svc-voice-1',
      voice_id: 'alto',
      continuation_token: '',
      input_audio: {
        encoding: 'pcm_s16le',
        sample_rate_hz: 16_000,
        channels: 1,
        frame_bytes: 1_024,
      },
      output_audio: { encoding: 'pcm_s16le', sample_rate_hz: 24_000, channels: 1 },
      max_duration_seconds: 100,
    },
  );
  client.leave();
  await stage.over(client);
});

test('a session is held for until two minutes after its longest duration', async () => {
  const client = await stage.live(account);
  const [hold] = await stage.sql<{ left: number }[]>`
    SELECT extract(epoch FROM expires_at - now())::float8 AS left FROM holds
    WHERE owner_id = ${client.id}`;
  const seconds = hold?.left ?? 0;
  assert.ok(seconds <= 100 + 120 && seconds > 100 + 120 - 20, `${seconds} s`);
  client.leave();
  await stage.over(client);
});

test('a continuation token is good for ten minutes', async () => {
  const client = await stage.live(account);
  const token = String(client.of('session.ready')[0]?.continuation_token);
  assert.ok(token.length <= 2_048);
  const { accountId } = account;
  const isGood = (minutes: number) =>
    acceptsContinuation(
      sealer,
      token,
      { accountId, voiceId: 'alto' },
      Date.now() + minutes * 60_000,
    );
  assert.deepEqual([isGood(0), isGood(9.5), isGood(10)], [true, true, false]);
  client.leave();
  await stage.over(client);
});

test('barge-in: cleared before the upstream is told how far the user heard', async () => {
  const client = await stage.live(account);
  speak(client, 'a', 2_000);
  client.call?.says({
    type: 'transcript',
    role: 'assistant',
    itemId: 'a',
    text: 'As I said',
    final: false,
  });
  client.forget();
  client.send({ type: 'barge_in' });
  assert.deepEqual(client.types(), ['playback.clear', 'transcript', 'listening']);
  assert.deepEqual(client.of('transcript')[0]?.final, true);
  const [told = ''] = client.call?.told ?? [];
  const heardMs = Number(/^bargeIn a (\d+)$/.exec(told)?.[1]);
  assert.ok(heardMs > 0 && heardMs <= 400, `what was sent ahead at most: ${told}`);
  client.forget();
  client.call?.says(sound('a', 500));
  await sleep(100);
  assert.deepEqual(client.types(), [], 'late sound of that answer is not heard');
  speak(client, 'b', 40);
  assert.deepEqual(client.types(), ['thinking', 'speaking', 'sound']);
  client.leave();
  await stage.over(client);
});

test('what waits behind the item that plays is named: nobody has heard it', async () => {
  for (const interrupt of [
    (client: FakeClient) => client.send({ type: 'barge_in' }),
    (client: FakeClient) => client.call?.says({ type: 'interrupted', itemId: 'b' }),
  ]) {
    const client = await stage.live(account);
    speak(client, 'a', 2_000);
    client.call?.says({ type: 'answer_started', itemId: 'b' }, sound('b', 500));
    interrupt(client);
    assert.match(client.call?.told[0] ?? '', /^(bargeIn|truncate) a \d+ unsent b$/);
    speak(client, 'c', 40);
    client.send({ type: 'barge_in' });
    assert.match(client.call?.told[1] ?? '', /^bargeIn c 40$/, 'once only');
    client.leave();
    await stage.over(client);
  }
});

test('a transcript that comes after its answer is final by itself', async () => {
  const client = await stage.live(account);
  const late = (text: string) =>
    client.call?.says({
      type: 'transcript',
      role: 'user',
      itemId: 'u',
      text,
      final: false,
      isLate: true,
    });
  const finals = () =>
    client
      .of('transcript')
      .filter(({ final }) => final)
      .map(({ role, text }) => `${role} ${text}`);
  late('Hel');
  late('lo');
  await until('it is final', () => finals().length > 0);
  assert.deepEqual(finals(), ['user Hello']);
  late('again');
  client.call?.says({
    type: 'transcript',
    role: 'user',
    itemId: 'v',
    text: 'more',
    final: true,
  });
  assert.deepEqual(finals(), ['user Hello', 'user again', 'user more'], 'in order');
  client.leave();
  await stage.over(client);
});

test('an answer that is longer than may wait here waits at the upstream', async () => {
  const client = await stage.live(account);
  speak(client, 'a', 205_000);
  assert.deepEqual(client.call?.told, []);
  client.call?.says(sound('a', 16_000));
  assert.deepEqual(client.call?.told, ['pause']);
  client.send({ type: 'barge_in' });
  assert.deepEqual(client.call?.told.slice(0, 2), ['pause', 'resume']);
  client.leave();
  await stage.over(client);
});

test('barge-in is answered when nothing plays, and truncates nothing', async () => {
  const client = await stage.live(account);
  client.forget();
  client.send({ type: 'barge_in' });
  client.send({ type: 'barge_in' });
  assert.deepEqual(client.types(), ['playback.clear', 'playback.clear']);
  assert.deepEqual(client.call?.told, ['bargeIn null', 'bargeIn null']);
  speak(client, 'a', 40);
  client.call?.says({ type: 'audio_done', itemId: 'a' });
  client.call?.says({ type: 'answer_done', outcome: 'completed' });
  await until('it was played', () => client.types().at(-1) === 'listening');
  client.send({ type: 'barge_in' });
  assert.equal(client.call?.told.at(-1), 'bargeIn null', 'of what was heard whole, too');
  client.leave();
  await stage.over(client);
});

test('who interrupts is not idle', async () => {
  const first = await stage.live(account);
  const second = await stage.live(account);
  // As if nobody had said anything for more than a minute.
  for (const { session } of [first, second]) session.lastSoundMs -= 61_000;
  first.send({ type: 'barge_in' });
  await stage.over(second);
  const reason = second.of('session.ended')[0]?.reason;
  assert.deepEqual([reason, first.ended], ['idle_timeout', null]);
  first.leave();
  await stage.over(first);
});

test('every barge-in is answered, and only a flood of them ends the session', async () => {
  const client = await stage.live(account);
  client.forget();
  for (let count = 0; count < 1_000; count += 1) client.send({ type: 'barge_in' });
  assert.deepEqual(new Set(client.types()), new Set(['playback.clear']));
  assert.equal(client.told.length, 1_000);
  let sent = 1_000;
  // The allowance goes on growing with the clock of a slow machine.
  for (; client.of('error').length < 4 && sent < 100_000; sent += 1) {
    client.send({ type: 'barge_in' });
  }
  assert.equal(client.of('playback.clear').length, sent);
  const fourth = client.of('error').at(-1);
  assert.deepEqual([fourth?.code, fourth?.fatal], ['invalid_message', true]);
  await stage.over(client);
  assert.equal(client.ended?.code, 1011);
});

test('an interruption that the upstream heard clears and truncates what was sent', async () => {
  const client = await stage.live(account);
  speak(client, 'a', 1_000);
  client.forget();
  client.call?.says({ type: 'speech_started' }, { type: 'interrupted', itemId: 'a' });
  assert.deepEqual(client.types(), ['playback.clear', 'listening']);
  assert.match(client.call?.told[0] ?? '', /^truncate a [1-9]\d*$/);
  client.forget();
  client.call?.says({ type: 'interrupted', itemId: 'a' });
  assert.deepEqual(client.types(), [], 'of what was played there is nothing to clear');
  client.leave();
  await stage.over(client);
});

test('frames before the upstream is ready are kept, up to two seconds', async () => {
  const client = stage.connect(account);
  client.frame();
  const before = stage.calls.length;
  client.start();
  for (let frame = 0; frame < 80; frame += 1) client.frame();
  await until('the upstream is called', () => stage.calls.length > before);
  const call = stage.calls.at(-1);
  assert.equal(call?.frames, 0, 'nothing is sent before it is ready');
  call?.says({ type: 'ready' });
  await until('they went on', () => call?.frames === 62);
  client.leave();
  await stage.over(client);
});

test('five seconds at once right behind those frames lose nothing', async () => {
  const client = stage.connect(account);
  const before = stage.calls.length;
  client.start();
  for (let frame = 0; frame < 62; frame += 1) client.frame();
  await until('the upstream is called', () => stage.calls.length > before);
  const call = stage.calls.at(-1);
  // As if two seconds had gone by.
  client.session.frames.levelMs = client.session.frames.capacityMs;
  call?.says({ type: 'ready' });
  for (let frame = 0; frame < 156; frame += 1) client.frame();
  await until('all of it went on', () => call?.frames === 62 + 156);
  assert.ok(call?.messages.every((bytes) => bytes <= 4 * 1_024));
  client.leave();
  await stage.over(client);
});

test('frames have 1,024 bytes; a shorter one is the last before the end', async () => {
  const client = await stage.live(account);
  client.forget();
  client.frame(1_024);
  client.frame(1_022);
  assert.equal(client.call?.frames, 2);
  client.send({ type: 'barge_in' });
  client.forget();
  client.frame(1_024);
  assert.deepEqual(client.types(), ['error invalid_message'], 'the short one was not the last');
  assert.equal(client.call?.frames, 3, 'and this one is right');
  client.frame(1_026);
  client.frame(1_023);
  assert.equal(client.of('error').length, 3);
  assert.ok(client.of('error').every(({ fatal }) => fatal === false));
  assert.equal(client.call?.frames, 3);
  client.send('{"type":"start"}');
  const fourth = client.of('error').at(-1);
  assert.deepEqual([fourth?.code, fourth?.fatal], ['invalid_message', true]);
  await stage.over(client);
  assert.equal(client.told.at(-1)?.type, 'session.ended');
  assert.equal(client.ended?.code, 1011);
});

test('a frame without sound is a mistake', async () => {
  const client = await stage.live(account);
  client.forget();
  client.frame(0);
  assert.deepEqual(client.types(), ['error invalid_message']);
  client.frame();
  assert.deepEqual(client.types(), ['error invalid_message'], 'it was not the last frame');
  client.leave();
  await stage.over(client);
});

test('every short frame that was not the last counts', async () => {
  const client = await stage.live(account);
  for (let frame = 0; frame < 4; frame += 1) client.frame(512);
  assert.equal(client.of('error').length, 3, 'the fourth may be the last');
  client.frame(512);
  assert.equal(client.of('error').at(-1)?.fatal, true);
  await stage.over(client);
});

test('text that is not UTF-8 is no message', async () => {
  const client = await stage.live(account);
  const broken = (text: string) => {
    const bytes = Buffer.from(text.replace('?', '\xff'), 'latin1');
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  };
  client.handlers.message(broken('?'), false);
  client.handlers.message(broken(' {"type":"end"}?'), false);
  assert.equal(client.of('error').length, 2);
  client.leave();
  const early = stage.connect(account);
  const content = '[{"role":"user","content":"?"}]';
  const start = `{"type":"start","mode":"full","voice_id":"alto","context":${content}}`;
  early.handlers.message(broken(start), false);
  assert.deepEqual(early.types(), ['error invalid_start']);
  for (const each of [client, early]) await stage.over(each);
});

test('a short frame before the end is no mistake', async () => {
  const client = await stage.live(account);
  client.frame(100);
  client.send({ type: 'end' });
  await stage.over(client);
  assert.equal(client.of('error').length, 0);
  assert.equal(client.ended?.code, 1000);
});

test('audio far beyond real time is dropped, told once, and ends who goes on', async () => {
  const client = await stage.live(account);
  for (let frame = 0; frame < 156; frame += 1) client.frame();
  assert.equal(client.of('error').length, 0, 'a burst of five seconds passes');
  for (let frame = 0; frame < 100; frame += 1) client.frame();
  assert.equal(client.of('error').length, 1);
  assert.equal(client.of('error')[0]?.code, 'frame_rate_exceeded');
  // A pause of this process by the machine lets some more pass.
  assert.ok((client.call?.frames ?? 0) < 200);
  for (let frame = 0; frame < 100; frame += 1) client.frame();
  assert.equal(client.of('error').at(-1)?.fatal, true);
  await stage.over(client);
  assert.equal(client.ended?.code, 1011);
});

test('a bad start, voice or continuation ends a session before anything is held', async () => {
  const cases: [string, (client: FakeClient) => void][] = [
    ['invalid_start', (client) => client.send('{"type":"barge_in"}')],
    ['invalid_start', (client) => client.send('no json')],
    ['invalid_start', (client) => client.start({ extra: 1 })],
    ['invalid_start', (client) => client.frame(3)],
    ['unknown_voice', (client) => client.start({ voice_id: 'nobody' })],
    ['unknown_voice', (client) => client.start({ voice_id: '__proto__' })],
    ['invalid_continuation', (client) => client.start({ continuation_token: 'x'.repeat(80) })],
  ];
  for (const [code, act] of cases) {
    const client = stage.connect(account);
    act(client);
    const [error] = client.of('error');
    assert.deepEqual([error?.code, error?.fatal], [code, true]);
    assert.deepEqual(Object.keys(error ?? {}), ['type', 'code', 'message', 'retryable', 'fatal']);
    assert.deepEqual(client.ended, { code: 1008, reason: code });
    assert.deepEqual(await stage.over(client), {}, 'no row was made');
  }
});

test('a continuation of the last session is taken, with the same voice and account', async () => {
  const first = await stage.live(account);
  const token = first.of('session.ready')[0]?.continuation_token;
  first.send({ type: 'end' });
  await stage.over(first);
  const second = await stage.live(account, { continuation_token: token });
  second.send({ type: 'end' });
  await stage.over(second);
  const stranger = stage.connect(await stage.account());
  stranger.start({ continuation_token: token });
  assert.equal(stranger.of('error')[0]?.code, 'invalid_continuation');
  await stage.over(stranger);
});

test('without a start message the connection ends after five seconds', async () => {
  const client = stage.connect(account);
  const begun = performance.now();
  await until('it ends', () => client.ended !== null);
  assert.ok(performance.now() - begun > 4_900);
  assert.equal(client.of('error')[0]?.code, 'start_timeout');
  assert.equal(client.ended?.code, 1008);
  await stage.over(client);
});

test('messages of the same client keep their order through a whole conversation', async () => {
  const client = await stage.live(account);
  const allowed = new Map([
    ['connecting', ['listening']],
    ['listening', ['thinking']],
    ['thinking', ['speaking', 'listening']],
    ['speaking', ['listening', 'thinking']],
  ]);
  for (let turn = 0; turn < 20; turn += 1) {
    speak(client, `item${turn}`, 60);
    client.call?.says({ type: 'audio_done', itemId: `item${turn}` }, usage(1));
    if (turn % 3 === 0) client.send({ type: 'barge_in' });
    else if (turn % 3 === 1) client.call?.says({ type: 'interrupted', itemId: `item${turn}` });
    else client.call?.says({ type: 'answer_done', outcome: 'completed' });
    if (turn % 4 === 0) await sleep(90);
  }
  await until('it is quiet', () => client.of('status').at(-1)?.state === 'listening');
  const states = client.of('status').map(({ state }) => String(state));
  states.forEach((state, index) => {
    const next = states[index + 1];
    if (next !== undefined) assert.ok(allowed.get(state)?.includes(next), `${state} ${next}`);
  });
  client.leave();
  assert.equal((await stage.over(client)).charge, 20 * (105 + 210));
});
