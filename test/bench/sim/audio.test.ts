// Speech and transcription of the simulator against the vendor's own client: what the one says in
// any format the other hears, word for word.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI, { APIError, toFile } from 'openai';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { wavHeader } from '../../../bench/sim/sound/wav.ts';
import { statsOf } from './probe.ts';
import { silence, tone } from './voice-probe.ts';

const speechModel = 'sim-tts-2026';
const listener = 'sim-transcribe-2026';
const text = 'one burst for every single word, whatever it says';
/** 300 Hz plus 50 for the place and for each character, round after 20. */
const pitches = [450, 600, 550, 700, 800, 800, 1000, 750, 900];
let sim: RunningSim;
let client: OpenAI;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
  client = new OpenAI({
    apiKey: 'right',
    baseURL: `http://127.0.0.1:${sim.port}/v1`,
    maxRetries: 0,
  });
});
after(() => sim.close());

type Format = 'mp3' | 'wav' | 'pcm';

async function speech(input: string, format: Format, speed = 1): Promise<Buffer> {
  const reply = await client.audio.speech.create({
    model: speechModel,
    voice: 'alloy',
    input,
    response_format: format,
    speed,
  });
  return Buffer.from(await reply.arrayBuffer());
}

async function heard(bytes: Buffer, name: string, prompt?: string) {
  return client.audio.transcriptions.create({
    model: listener,
    file: await toFile(bytes, name),
    ...(prompt === undefined ? {} : { prompt }),
  });
}

function wavOf(pcm: Buffer, rateHz = 24_000): Buffer {
  return Buffer.concat([wavHeader(rateHz, pcm.length), pcm]);
}

const wordsOf = (hertz: readonly number[]) => hertz.map((pitch) => ` tone${pitch}`).join('');

for (const speed of [1, 0.25, 4]) {
  test(`what is said at speed ${speed} is heard in every format`, async () => {
    const seconds = (pitches.length * Math.round(20 / speed) * 24) / 1000;
    const wav = await heard(await speech(text, 'wav', speed), 'said.wav');
    assert.deepEqual(wav, { text: wordsOf(pitches), usage: { type: 'duration', seconds } });
    const pcm = await speech(text, 'pcm', speed);
    assert.equal(pcm.length, Math.round(seconds * 48_000));
    assert.equal((await heard(wavOf(pcm), 'said.wav')).text, wordsOf(pitches));
    const mp3 = await heard(await speech(text, 'mp3', speed), 'said.mp3');
    assert.equal(mp3.text, wordsOf(pitches));
    const told = mp3.usage?.type === 'duration' ? mp3.usage.seconds : 0;
    assert.ok(Math.abs(told - seconds) < 0.1, `${told} is not ${seconds}`);
  });
}

test('a tone is heard with its pitch, silence as nothing, the length exactly', async () => {
  for (const pitchHz of [100, 441, 1000, 3333]) {
    const pcm = Buffer.concat([silence(123, 16_000), tone(pitchHz, 300, 16_000)]);
    const reply = await heard(wavOf(pcm, 16_000), 'tone.wav');
    assert.equal(reply.text, ` tone${pitchHz}`);
    assert.deepEqual(reply.usage, { type: 'duration', seconds: 0.423 });
  }
  assert.equal((await heard(wavOf(silence(500, 24_000)), 'quiet.wav')).text, '');
});

test('speech is streamed word by word, and ends early without a sign when it breaks', async () => {
  const reply = await client.audio.speech.create({
    model: speechModel,
    voice: 'coral',
    input: 'one two three [[sim gap_ms=400]]',
    response_format: 'pcm',
  });
  assert.equal(reply.headers.get('content-type'), 'audio/pcm');
  const reader = reply.body?.getReader();
  assert.ok(reader !== undefined);
  const first = await reader.read();
  assert.equal(first.value?.length, 480 * 48);
  const firstMs = performance.now();
  let length = first.value?.length ?? 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
  }
  assert.equal(length, 3 * 480 * 48);
  assert.ok(performance.now() - firstMs > 100, 'the first word does not wait for the others');
  assert.equal((await speech('one two [[sim fault=error at=1]]', 'pcm')).length, 480 * 48);
  await assert.rejects(speech('one two [[sim fault=cut at=1]]', 'pcm'));
});

test('a WAV of unknown length says so, and is still heard', async () => {
  const bytes = await speech('one two [[sim unknown=1]]', 'wav');
  assert.equal(bytes.readUInt32LE(40), 0xffff_ffff);
  assert.equal((await heard(bytes, 'said.wav')).text, ' tone450 tone500');
  bytes.writeUInt32LE(0, 40);
  assert.equal((await heard(bytes, 'said.wav')).text, ' tone450 tone500');
});

test('speech as events carries the same audio and usage', async () => {
  const reply = await client.audio.speech.create({
    model: speechModel,
    voice: 'alloy',
    input: 'one two',
    response_format: 'pcm',
    stream_format: 'sse',
  });
  const lines = (await reply.text()).split('\n').filter((line) => line.startsWith('data: '));
  const events = lines.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
  const audio = events.flatMap(({ audio: part }) => (typeof part === 'string' ? [part] : []));
  const bytes = Buffer.concat(audio.map((part) => Buffer.from(part, 'base64')));
  assert.deepEqual(bytes, await speech('one two', 'pcm'));
  const usage = { input_tokens: 2, output_tokens: 10, total_tokens: 12 };
  assert.deepEqual(events.at(-1), { type: 'speech.audio.done', usage });
});

test('a transcript comes verbose or streamed as well', async () => {
  const bytes = await speech('one two', 'wav');
  const file = await toFile(bytes, 'said.wav');
  const verbose = await client.audio.transcriptions.create({
    model: listener,
    file,
    response_format: 'verbose_json',
    timestamp_granularities: ['word'],
  });
  assert.equal(verbose.duration, 0.96);
  assert.deepEqual(
    verbose.words?.map(({ word }) => word),
    ['tone450', 'tone500'],
  );
  assert.ok(Math.abs((verbose.words?.[1]?.start ?? 0) - 0.56) < 0.01);
  const stream = await client.audio.transcriptions.create({ model: listener, file, stream: true });
  const events = [];
  for await (const event of stream) events.push(event);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['transcript.text.delta', 'transcript.text.delta', 'transcript.text.done'],
  );
});

test('both fail as they are told to, and refuse what the provider refuses', async () => {
  const bytes = await speech('one', 'wav');
  const statusOf = (status: number) => (error: unknown) =>
    error instanceof APIError && error.status === status;
  await assert.rejects(speech('one [[sim status=429 retry_after=3]]', 'mp3'), statusOf(429));
  await assert.rejects(heard(bytes, 'one.wav', '[[sim status=503]]'), statusOf(503));
  await assert.rejects(heard(bytes, '[[sim status=401]].wav'), statusOf(401));
  assert.equal((await heard(bytes, 'one.wav', '[[sim fault=no_usage]]')).usage, undefined);
  await assert.rejects(speech('', 'mp3'), statusOf(400));
  await assert.rejects(speech('x'.repeat(4097), 'mp3'), statusOf(400));
  await assert.rejects(speech('one', 'flac' as Format), statusOf(400));
  await assert.rejects(heard(Buffer.from('no audio at all'), 'one.mp3'), statusOf(400));
  const wrong = new OpenAI({ apiKey: 'wrong', baseURL: client.baseURL, maxRetries: 0 });
  await assert.rejects(
    wrong.audio.speech.create({ model: speechModel, voice: 'alloy', input: 'one' }),
    statusOf(401),
  );
  const stats = await statsOf(sim);
  assert.equal(stats.open, 0);
});
