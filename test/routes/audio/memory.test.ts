// The memory of a shard for recordings: taken before anything is looked at, and given back whatever
// becomes of the request.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createTranscription } from '../../../routes/audio/create-transcription.ts';
import { wav } from '../../harness/recordings.ts';

const bytes = wav(1);

/** A shard that has room for so many bytes, and finds every recording too long. */
async function shard(t: TestContext, bytesLeft: number) {
  const scratchFolder = await mkdtemp(join(tmpdir(), 'tollgate-memory-'));
  t.after(() => rm(scratchFolder, { recursive: true, force: true }));
  const recordings = { bytesLeft };
  const left: number[] = [];
  const ask = async () => {
    left.push(recordings.bytesLeft);
    return { ok: true, value: { ok: true, value: { status: 'too_long' } } };
  };
  const model = { alias: 'hear', kind: 'transcription' };
  const services = {
    audio: { scratchFolder, recordings, system: { node: 1 }, tasks: () => ({ ask }) },
    catalog: { current: () => ({ models: new Map([['hear', model]]) }) },
  };
  return { recordings, left, services };
}

/** Resolves with the code of the refusal, once the exchange is over. */
async function transcribe(services: object): Promise<unknown> {
  const finished: (() => void)[] = [];
  const exchange = { onFinish: (listener: () => void) => finished.push(listener) };
  const file = { bytes, filename: 'a.wav', mediaType: 'audio/wav' };
  const given = { body: { model: 'hear' }, files: { file }, caller: {}, services, exchange };
  try {
    await createTranscription.handle(given as never);
  } catch (error) {
    return Object(error).code;
  } finally {
    for (const listener of finished) listener();
  }
  return null;
}

test('a recording has its bytes for as long as its request, however that ends', async (t) => {
  const { recordings, left, services } = await shard(t, bytes.length + 10);
  for (let time = 0; time < 3; time += 1) {
    assert.equal(await transcribe(services), 'input_too_long');
  }
  assert.deepEqual(left, [10, 10, 10]);
  assert.equal(recordings.bytesLeft, bytes.length + 10);
});

test('a recording that has no room is refused before it is looked at', async (t) => {
  const { recordings, left, services } = await shard(t, bytes.length - 1);
  assert.equal(await transcribe(services), 'overloaded');
  assert.deepEqual([left, recordings.bytesLeft], [[], bytes.length - 1]);
  recordings.bytesLeft += 1;
  assert.equal(await transcribe(services), 'input_too_long');
  assert.deepEqual([left, recordings.bytesLeft], [[0], bytes.length]);
});
