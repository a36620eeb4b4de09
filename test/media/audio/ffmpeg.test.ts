// Decoding with programs that end awkwardly, as a busy machine makes them: nothing is lost, and no
// sound recording is called damaged.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { decodeAudio, probeAudio } from '../../../media/audio/ffmpeg.ts';
import { type MediaTools, prepareTools } from '../../../media/tools/tools.ts';
import { wav } from '../../harness/recordings.ts';

let folder = '';
let tools: MediaTools;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-ffmpeg-'));
  tools = await prepareTools({
    folder,
    ffmpegPath: null,
    ffprobePath: null,
    memoryBytesMax: 768 * 1_024 * 1_024,
    cpuSecondsMax: 10,
  });
  await writeFile(join(folder, 'two.wav'), wav(2));
});
after(() => rm(folder, { recursive: true, force: true }));

/** Decodes with a program that is ffmpeg but for its end: `ending` stands for the decoding. */
async function decodeWith(name: string, ending: string, timeoutMs = 60_000) {
  const ffmpegPath = join(folder, `${name}.sh`);
  const script = [
    '#!/bin/sh',
    `case " $* " in *" -i "*) ;; *) exec '${tools.ffmpegPath}' "$@" ;; esac`,
    `decode() { '${tools.ffmpegPath}' "$@"; }`,
    ending,
    '',
  ];
  await writeFile(ffmpegPath, script.join('\n'), { mode: 0o700 });
  return await decodeAudio({
    tools: { ...tools, ffmpegPath },
    path: join(folder, 'two.wav'),
    demuxer: 'wav',
    readOptions: [],
    rateHz: 16_000,
    channels: 1,
    secondsMax: 10,
    timeoutMs,
  });
}

test('a program that ends long after its output was sound', async () => {
  const decoded = await decodeWith('late', 'decode "$@"; exec >&-; sleep 0.3');
  assert.equal(decoded.isWhole, true);
  assert.equal(decoded.seconds, 2);
});

test('samples that come after the end of the program count', async () => {
  const decoded = await decodeWith('early', '(sleep 0.3; decode "$@" 2>&-) 2>&- & exit 0');
  assert.equal(decoded.isWhole, true);
  assert.equal(decoded.seconds, 2);
  assert.ok(decoded.peak > 0.1);
});

test('a program that fails at its end, or puts out too much, decoded nothing whole', async () => {
  assert.equal((await decodeWith('failing', 'decode "$@"; exit 3')).isWhole, false);
  assert.equal((await decodeWith('endless', 'exec cat /dev/zero')).isWhole, false);
});

test('a program that has no turn in its time says nothing of the file', async () => {
  const late = await decodeWith('waiting', 'exec sleep 60', 300);
  assert.deepEqual([late.isLate, late.isWhole], [true, false]);
  const failing = await decodeWith('failing-early', 'exit 3');
  assert.deepEqual([failing.isLate, failing.isWhole], [false, false]);
});

test('a program that others end, or that cannot be started, says nothing of the file', async () => {
  for (const [name, ending] of [
    ['stopped', 'kill -TERM $$'],
    ['stopped-by-hand', 'kill -INT $$'],
    ['stopped-politely', 'exit 255'],
    ['no-program', 'exec /nowhere/ffmpeg'],
  ] as const) {
    await assert.rejects(decodeWith(name, ending), /^Error: ffmpeg /, name);
  }
  const source = { path: join(folder, 'two.wav'), demuxer: 'wav', readOptions: [] };
  const probeWith = async (name: string, mode: number) => {
    const ffprobePath = join(folder, name);
    await writeFile(ffprobePath, '#!/bin/sh\nkill -TERM $$\n', { mode });
    return await probeAudio({ ...source, tools: { ...tools, ffprobePath } });
  };
  await assert.rejects(probeWith('probe.sh', 0o700), /SIGTERM/);
  // As on a disk that is mounted without the right to execute.
  await assert.rejects(probeWith('no-probe.sh', 0o600), /EACCES/);
});
