// Transcription: what a recording is and how long is found by decoding it; the text is charged by
// the second, once, and silence costs nothing.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import type { TestAccount } from '../../harness/account.ts';
import { record, tone, wav, withFile } from '../../harness/recordings.ts';
import { type AudioBed, hear, microsPerSecond, openAudioBed, refusalOf, stateOf } from './bed.ts';

// slow: It runs ffmpeg for each recording, and a system's own takes 0.1 s to load its libraries.

let audio: AudioBed;
before(async () => {
  audio = await openAudioBed();
});
after(() => audio.close());

const granted = 1_000_000_000n;
const speech = { bytes: wav(2), name: 'speech.wav', type: 'audio/wav' };

async function paid(account: TestAccount): Promise<bigint> {
  return granted - (await account.quiet()).availableMicros;
}

function answer(text: string, usage?: unknown): void {
  audio.one.behaviour = { kind: 'transcript', text, usage };
  audio.two.behaviour = audio.one.behaviour;
}

test('every container and codec of the specification is taken, at its decoded length', async () => {
  const account = await audio.bed.account();
  answer(' a tone ');
  const opus = ['-c:a', 'libopus'];
  const recordings = [
    ['a.wav', 'audio/x-wav', wav(3), 3],
    ['a.mp3', 'audio/mpeg', await tone('a.mp3', 3), 3],
    ['a.ogg', 'audio/ogg; codecs=opus', await tone('a.ogg', 3, opus), 3],
    ['a.webm', 'video/webm', await tone('a.webm', 3, opus), 3],
    ['A.M4A', 'audio/mp4', await tone('a.m4a', 3), 3],
    ['a.mp4', '', await tone('a.mp4', 3), 3],
    ['a.aac', 'audio/aac', await tone('a.aac', 3), 3],
    ['8k stereo.wav', '', await tone('b.wav', 3, ['-ar', '8000', '-ac', '2']), 3],
  ] as const;
  for (const [name, type, bytes, seconds] of recordings) {
    const reply = await hear(audio, account, { bytes, name, type });
    const body = (await reply.json()) as { text: string; usage: { seconds: number } };
    assert.equal(reply.status, 200, `${name}: ${JSON.stringify(body)}`);
    assert.deepEqual(Object.keys(body), ['text', 'usage']);
    assert.equal(body.text, ' a tone ');
    assert.ok(Math.abs(body.usage.seconds - seconds) < 0.15, `${name}: ${body.usage.seconds}`);
    const asked = [audio.one, audio.two].flatMap((provider) => provider.asked).at(-1);
    assert.ok(asked?.body.includes(bytes) === true, 'the file itself is sent');
    assert.ok(!asked?.body.includes('stereo'), 'the name is nobody’s business');
  }
  assert.deepEqual(await readdir(join(audio.bed.gateway.dataDir, 'audio', 'scratch')), []);
});

test('the provider is asked with its own names, and paid by the second', async () => {
  const account = await audio.bed.account();
  answer('hallo', { type: 'duration', seconds: 2 });
  const reply = await hear(audio, account, speech, { fields: { language: 'de' } });
  assert.deepEqual(await reply.json(), { text: 'hallo', usage: { type: 'duration', seconds: 2 } });
  const asked = audio.one.asked.at(-1);
  assert.match(asked?.contentType ?? '', /^multipart\/form-data; boundary=/);
  const text = asked?.body.toString('latin1') ?? '';
  assert.match(text, /name="model"\r\n\r\nupstream-model\r\n/);
  assert.match(text, /name="language"\r\n\r\nde\r\n/);
  assert.match(text, /name="file"; filename="audio.wav"\r\ncontent-type: audio\/wav\r\n/);
  assert.equal(await paid(account), 2n * microsPerSecond);
  const state = await stateOf(audio, account, reply.headers.get('x-svc-request-id') ?? '');
  assert.equal(state.status, 'completed');
  const usage = state.svc_usage as Record<string, unknown>;
  assert.deepEqual(
    [usage.charge_microcredits, usage.source],
    [Number(2n * microsPerSecond), 'reported'],
  );
});

test('a length that cannot be true is not believed; tokens say nothing of it', async () => {
  for (const usage of [
    { type: 'duration', seconds: 90 },
    { type: 'tokens', input_tokens: 20, output_tokens: 4, total_tokens: 24 },
    undefined,
  ]) {
    const account = await audio.bed.account();
    answer('x', usage);
    const reply = await hear(audio, account, speech);
    const body = (await reply.json()) as { usage: { seconds: number } };
    assert.equal(body.usage.seconds, 2);
    assert.equal(await paid(account), 2n * microsPerSecond);
  }
});

test('a provider may count a begun second as a whole one: so much is held', async () => {
  const bytes = wav(2.4);
  const recording = { bytes, name: 'a.wav' };
  answer('x', { type: 'duration', seconds: 3 });
  const poor = await audio.bed.account({ micros: 3n * microsPerSecond - 1n });
  assert.equal((await refusalOf(await hear(audio, poor, recording))).code, 'insufficient_credits');
  const account = await audio.bed.account({ micros: 3n * microsPerSecond });
  const reply = await hear(audio, account, recording);
  const body = (await reply.json()) as { usage: { seconds: number } };
  assert.equal(body.usage.seconds, 3);
  assert.equal((await account.quiet()).availableMicros, 0n);
});

test('digital silence is an empty text, without a call and without a charge', async () => {
  const account = await audio.bed.account();
  const before = audio.one.asked.length + audio.two.asked.length;
  const opus = ['-c:a', 'libopus'];
  const recordings = [
    [wav(1.5, 0), 'silence.wav', 1.5],
    [wav(0, 0), 'empty.wav', 0],
    [Buffer.alloc(0), 'nothing.webm', 0],
    // As Chromium's recorder leaves it that is stopped within its first moments.
    [stoppedWebm(), 'stopped.webm', 0],
    [await tone('s.webm', 0, opus, 0), 'head.webm', 0],
    [await tone('s.ogg', 0, opus, 0), 'head.ogg', 0],
    [await tone('s.mp3', 0, [], 0), 'head.mp3', 0],
    [await tone('s.m4a', 0, [], 0), 'head.m4a', 0],
    [await tone('s.wav', 4, ['-c:a', 'pcm_alaw'], 0), 'alaw.wav', 4],
    [await tone('s.wav', 4, ['-c:a', 'pcm_mulaw'], 0), 'mulaw.wav', 4],
    [await tone('s.mp3', 4, [], 0), 's.mp3', 4],
    [await tone('s.webm', 4, opus, 0), 's.webm', 4],
    [await tone('s.m4a', 4, [], 0), 's.m4a', 4],
  ] as const;
  for (const [bytes, name, seconds] of recordings) {
    const reply = await hear(audio, account, { bytes, name });
    const body = (await reply.json()) as { text: string; usage: { seconds: number } };
    assert.equal(reply.status, 200, `${name}: ${JSON.stringify(body)}`);
    assert.equal(body.text, '');
    assert.ok(Math.abs(body.usage.seconds - seconds) < 0.15, `${name}: ${body.usage.seconds}`);
  }
  assert.equal(audio.one.asked.length + audio.two.asked.length, before);
  assert.equal(await paid(account), 0n);
});

test('without credits nothing is decoded: only what has no bytes is known to be free', async () => {
  const account = await audio.bed.account({ micros: 0n });
  const nothing = await hear(audio, account, { bytes: Buffer.alloc(0), name: 'nothing.webm' });
  assert.equal(nothing.status, 200);
  assert.equal(((await nothing.json()) as { text: string }).text, '');
  for (const bytes of [wav(1.5, 0), Buffer.from('no recording')]) {
    const refusal = await refusalOf(await hear(audio, account, { bytes, name: 'a.wav' }));
    assert.deepEqual([refusal.status, refusal.code], [402, 'insufficient_credits']);
    assert.equal(refusal.headers.get('x-svc-required-microcredits'), `${microsPerSecond}`);
    assert.equal(refusal.headers.get('x-svc-available-microcredits'), '0');
  }
});

/** The EBML header, and room for what would have followed. */
function stoppedWebm(): Buffer<ArrayBuffer> {
  const header = '1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104428581020000';
  return Buffer.concat([Buffer.from(header, 'hex'), Buffer.alloc(72)]);
}

test('120 seconds of HE-AAC are not too long for its encoder’s delay', async () => {
  const account = await audio.bed.account();
  // Silence as fdkaac writes it: version 2 at 16 kHz, 0.128 s a frame.
  const frame = Buffer.alloc(256, 0x5a);
  frame.write('fff16c4020020001402280a33e81400000118006fdc10a', 'hex');
  frame[255] = 0x5e;
  const hearFrames = (count: number) => {
    const bytes = Buffer.concat(Array.from({ length: count }, () => frame));
    return hear(audio, account, { bytes, name: 'long.aac' });
  };
  // As many as it makes of 120 s.
  const right = await hearFrames(941);
  assert.deepEqual(await right.json(), { text: '', usage: { type: 'duration', seconds: 120 } });
  assert.equal((await refusalOf(await hearFrames(943))).code, 'input_too_long');
});

test('the names of chapters are nothing that is heard', async () => {
  const account = await audio.bed.account();
  answer('heard');
  const chapter = '[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=one\n';
  const notes = Buffer.from(`;FFMETADATA1\n${chapter}`);
  const bytes = await withFile('notes.txt', notes, (path) =>
    record('c.m4a', ['-f', 'lavfi', '-i', 'sine=d=2', '-i', path, '-map_metadata', '1']),
  );
  assert.ok(bytes.includes('text'), 'chapters have a stream of their own');
  const reply = await hear(audio, account, { bytes, name: 'c.m4a' });
  assert.equal(reply.status, 200, await reply.text());
});

test('whatever is not all zeros is heard, on any channel and at any pitch or depth', async () => {
  const account = await audio.bed.account();
  answer('heard');
  const opposite = ['-f', 'lavfi', '-i', expression('0.6*sin(3142*t)|-0.6*sin(3142*t)', 32_000)];
  const quiet = (loudness: number) => ['-f', 'lavfi', '-i', expression(`${loudness}*sin(3142*t)`)];
  const high = ['-f', 'lavfi', '-i', expression('0.6*sin(75000*t)', 48_000)];
  const recordings = [
    ['opposite.wav', await record('opposite.wav', opposite)],
    ['opposite.m4a', await record('opposite.m4a', opposite)],
    ['opposite.mp3', await record('opposite.mp3', opposite)],
    ['opposite.ogg', await record('opposite.ogg', opposite, ['-c:a', 'libopus'])],
    ['last bit.wav', await record('a.wav', quiet(1 / 32_768))],
    ['24 bits.wav', await record('a.wav', quiet(100 / 2 ** 23), ['-c:a', 'pcm_s24le'])],
    ['alaw.wav', await record('a.wav', quiet(24 / 32_768), ['-c:a', 'pcm_alaw'])],
    ['high.wav', await record('a.wav', high)],
    ['high.mp3', await record('a.mp3', high)],
  ] as const;
  for (const [name, bytes] of recordings) {
    const reply = await hear(audio, account, { bytes, name });
    assert.equal(((await reply.json()) as { text: string }).text, 'heard', name);
  }
});

test('fields that are wrong are refused', async () => {
  const account = await audio.bed.account();
  const cases: [Record<string, string>, number, string, string][] = [
    [{ language: 'deu' }, 400, 'invalid_request', 'language'],
    [{ response_format: 'verbose_json' }, 400, 'invalid_request', 'response_format'],
    [{ temperature: '0' }, 400, 'invalid_request', 'temperature'],
    [{ model: 'say' }, 404, 'model_not_found', 'model'],
    [{ model: 'nothing' }, 404, 'model_not_found', 'model'],
  ];
  for (const [fields, status, code, param] of cases) {
    const refusal = await refusalOf(await hear(audio, account, speech, { fields }));
    assert.deepEqual([refusal.status, refusal.code, refusal.param], [status, code, param]);
  }
  const other = await audio.bed.account({ scopes: ['audio:speech'] });
  assert.equal((await refusalOf(await hear(audio, other, speech))).code, 'insufficient_scope');
  const poor = await audio.bed.account({ micros: 2n * microsPerSecond - 1n });
  assert.equal((await refusalOf(await hear(audio, poor, speech))).code, 'insufficient_credits');
});

test('failures cost nothing, and the next route is asked', async () => {
  for (const failure of [
    { kind: 'status', status: 503 } as const,
    { kind: 'nonsense' } as const,
    { kind: 'hangUp' } as const,
  ]) {
    const account = await audio.bed.account();
    audio.one.behaviour = failure;
    audio.two.behaviour = { kind: 'transcript', text: 'second' };
    const reply = await hear(audio, account, speech);
    assert.equal(reply.status, 200);
    assert.equal(await paid(account), 2n * microsPerSecond);
    const refused = await hear(audio, account, speech, { fields: { model: 'hear-one' } });
    assert.equal((await refusalOf(refused)).status, 502);
    assert.equal(await paid(account), 2n * microsPerSecond);
  }
  const account = await audio.bed.account();
  for (const status of [400, 413, 422]) {
    audio.one.behaviour = { kind: 'status', status };
    const refused = await hear(audio, account, speech, { fields: { model: 'hear-one' } });
    const { status: told, code } = await refusalOf(refused);
    assert.deepEqual([told, code], [400, 'invalid_request'], `the provider said ${status}`);
  }
  audio.one.behaviour = { kind: 'status', status: 429 };
  const busy = await hear(audio, account, speech, { fields: { model: 'hear-one' } });
  const { code, headers } = await refusalOf(busy);
  assert.deepEqual([code, headers.has('retry-after')], ['upstream_busy', true]);
  assert.equal(await paid(account), 0n);
});

test('a retry with the key gets the same text; another file is another request', async () => {
  const account = await audio.bed.account();
  answer('once');
  const headers = { 'idempotency-key': 'hear-1' };
  const first = await hear(audio, account, speech, { headers });
  const before = audio.one.asked.length + audio.two.asked.length;
  answer('twice');
  const again = await hear(audio, account, speech, { headers });
  assert.deepEqual(await again.json(), await first.json());
  assert.equal(audio.one.asked.length + audio.two.asked.length, before);
  assert.equal(again.headers.get('x-svc-request-id'), first.headers.get('x-svc-request-id'));
  const other = { ...speech, bytes: wav(2, 660) };
  const refusal = await refusalOf(await hear(audio, account, other, { headers }));
  assert.equal(refusal.code, 'idempotency_key_reused');
  const inGerman = { headers, fields: { language: 'de' } };
  const another = await refusalOf(await hear(audio, account, speech, inGerman));
  assert.equal(another.code, 'idempotency_key_reused', 'and so is another language');
  assert.equal(await paid(account), 2n * microsPerSecond);
});

test('the official client transcribes unpatched', async () => {
  const account = await audio.bed.account();
  answer('hello there', { type: 'duration', seconds: 2 });
  const client = new OpenAI({ apiKey: account.apiKey, baseURL: `${audio.bed.url}/v1` });
  const file = await toFile(speech.bytes, 'speech.wav');
  const reply = await client.audio.transcriptions.create({ model: 'hear', file, language: 'en' });
  assert.equal(reply.text, 'hello there');
  const large = await toFile(Buffer.alloc(3_200_000), 'large.wav');
  await assert.rejects(client.audio.transcriptions.create({ model: 'hear', file: large }), {
    status: 413,
    code: 'request_too_large',
  });
});

/** A second of sound by ffmpeg's formula, its channels apart by bars. */
function expression(formula: string, rateHz = 16_000): string {
  return `aevalsrc=${formula}:s=${rateHz}:d=1`;
}
