// The memory of a shard for recordings: taken before anything is looked at, and given back whatever
// becomes of the request.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { compileCard } from '../../../actors/wallet/price.ts';
import { createTranscription } from '../../../routes/audio/create-transcription.ts';
import { Budget } from '../../../runtime/limiter/budget.ts';
import { wav } from '../../harness/recordings.ts';

const bytes = wav(1);
const card = compileCard({ per_audio_minute: '0.006' }, '100');

/** A shard that has room for so many bytes, half of them for one account. */
async function shard(t: TestContext, bytesMax: number) {
  const scratchFolder = await mkdtemp(join(tmpdir(), 'tollgate-memory-'));
  t.after(() => rm(scratchFolder, { recursive: true, force: true }));
  const recordings = new Budget(bytesMax);
  /** For each recording that is looked at: whether its account has room for as much again. */
  const again: boolean[] = [];
  const ask = async () => {
    const hasRoom = recordings.take('acc', bytes.length);
    if (hasRoom) recordings.give('acc', bytes.length);
    again.push(hasRoom);
    // Every one is too long.
    return { ok: true, value: { ok: true, value: { status: 'too_long' } } };
  };
  const model = { alias: 'hear', kind: 'transcription', card };
  const services = {
    audio: {
      scratchFolder,
      recordings,
      system: { node: 1 },
      tasks: () => ({ ask }),
      fundsEstimate: { expectsFunds: () => true },
    },
    catalog: { current: () => ({ models: new Map([['hear', model]]) }) },
  };
  return { recordings, again, services };
}

/** Resolves with the code of the refusal, once the exchange is over. */
async function transcribe(services: object): Promise<unknown> {
  const finished: (() => void)[] = [];
  const onFinish = (listener: () => void) => finished.push(listener);
  const exchange = { onFinish, header: () => undefined };
  const file = { bytes, filename: 'a.wav', mediaType: 'audio/wav' };
  const caller = { accountId: 'acc', walletId: 'wal', organization: null };
  const given = { body: { model: 'hear' }, files: { file }, caller, services, exchange };
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
  const { recordings, again, services } = await shard(t, 2 * bytes.length);
  for (let time = 0; time < 3; time += 1) {
    assert.equal(await transcribe(services), 'input_too_long');
  }
  assert.deepEqual(again, [false, false, false]);
  assert.equal(recordings.take('acc', bytes.length), true, 'all of it is given back');
});

test('a recording that has no room is refused before it is looked at', async (t) => {
  const { recordings, again, services } = await shard(t, 4 * bytes.length);
  recordings.take('one', 2 * bytes.length);
  recordings.take('two', 2 * bytes.length - 1);
  assert.equal(await transcribe(services), 'overloaded');
  recordings.give('two', bytes.length);
  assert.equal(await transcribe(services), 'input_too_long');
  assert.deepEqual(again, [false]);
});

test('an account has half of the room, the rest is for others', async (t) => {
  const { recordings, again, services } = await shard(t, 4 * bytes.length);
  recordings.take('acc', bytes.length + 1);
  assert.equal(await transcribe(services), 'overloaded');
  assert.equal(recordings.take('other', 2 * bytes.length), true);
  recordings.give('acc', 1);
  assert.equal(await transcribe(services), 'input_too_long');
  assert.equal(again.length, 1);
});
