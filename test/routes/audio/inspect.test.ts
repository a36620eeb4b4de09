// What a client is told when its recording could not be looked at: the machine is to blame, unless
// the programs said something of the file.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspectRecording } from '../../../routes/audio/inspect.ts';
import type { Services } from '../../../routes/services.ts';
import { Problem } from '../../../runtime/problem.ts';
import { wav } from '../../harness/recordings.ts';

test('a recording that waited too long for its turn is no bad recording', async (t) => {
  const scratchFolder = await mkdtemp(join(tmpdir(), 'tollgate-inspect-'));
  t.after(() => rm(scratchFolder, { recursive: true, force: true }));
  const file = { bytes: wav(1), filename: 'a.wav', mediaType: 'audio/wav' };
  for (const [value, code] of [
    [{ ok: false, refused: 'timeout' }, 'overloaded'],
    [{ ok: false, refused: 'overloaded' }, 'overloaded'],
    [{ ok: false, refused: 'aborted' }, 'overloaded'],
    [{ ok: false, refused: 'failed' }, 'dependency_unavailable'],
    [{ ok: true, value: { status: 'late' } }, 'overloaded'],
  ] as const) {
    const ask = async () => ({ ok: true, value });
    const audio = { scratchFolder, system: { node: 1 }, tasks: () => ({ ask }) };
    const services = { audio } as unknown as Services;
    await assert.rejects(inspectRecording(services, 'acc', file), (error: unknown) => {
      assert.ok(error instanceof Problem);
      assert.equal(error.code, code, JSON.stringify(value));
      return true;
    });
  }
});

test('a disk that takes no recording is an outage, no bug', async () => {
  const faults: unknown[] = [];
  const log = { error: (fault: { err: { code: string } }) => faults.push(fault.err.code) };
  const audio = { scratchFolder: '/nowhere', system: { node: 1 }, tasks: () => null };
  const services = { audio, log };
  const file = { bytes: wav(1), filename: 'a.wav', mediaType: 'audio/wav' };
  await assert.rejects(inspectRecording(services as unknown as Services, 'acc', file), {
    code: 'dependency_unavailable',
  });
  assert.deepEqual(faults, ['ENOENT']);
});
