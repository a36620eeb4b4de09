// The programs that read recordings: found and made executable wherever their package left them,
// and bounded, whatever they are asked to do.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { decodeAudio, probeAudio } from '../../../media/audio/ffmpeg.ts';
import { type MediaTools, prepareTools } from '../../../media/tools/tools.ts';
import { record, tone, wav, withFile } from '../../harness/recordings.ts';

const run = promisify(execFile);
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-tools-it's "));
});
after(() => rm(folder, { recursive: true, force: true }));

function prepare(name: string, program: string | null): Promise<MediaTools> {
  return prepareTools({
    folder: join(folder, name),
    ffmpegPath: program,
    ffprobePath: program,
    memoryBytesMax: 768 * 2 ** 20,
    cpuSecondsMax: 2,
  });
}

test('a program of the system gets little time and memory', async () => {
  const program = join(folder, 'program');
  await writeFile(program, '#!/bin/sh\necho "$(ulimit -t) $(ulimit -v) $(ulimit -c) $1"\n');
  await chmod(program, 0o755);
  const tools = await prepare('system', program);
  const { stdout } = await run(tools.ffmpegPath, ['an argument']);
  assert.equal(stdout, `2 ${768 * 1_024} 0 an argument\n`);
});

test('a program that spins is ended by the system', async () => {
  const program = join(folder, 'spins');
  const script = '#!/bin/sh\ntest "$1" = -version && exit\nwhile :; do :; done\n';
  await writeFile(program, script, { mode: 0o755 });
  const tools = await prepareTools({
    folder: join(folder, 'spinning'),
    ffmpegPath: program,
    ffprobePath: program,
    memoryBytesMax: 768 * 2 ** 20,
    cpuSecondsMax: 1,
  });
  await assert.rejects(
    run(tools.ffprobePath, [], { timeout: 60_000 }),
    (error: { signal?: string }) => {
      // Not the SIGTERM of the time above.
      return error.signal === 'SIGXCPU' || error.signal === 'SIGKILL';
    },
  );
});

test('a program without the executable bit gets it', async () => {
  const program = join(folder, 'plain');
  await writeFile(program, '#!/bin/sh\necho here\n', { mode: 0o644 });
  const tools = await prepare('plain-tools', program);
  assert.equal((await run(tools.ffprobePath, [])).stdout, 'here\n');
  assert.equal((await stat(tools.ffprobePath)).mode & 0o777, 0o700);
});

test('a program that is not there is an error, not a surprise later', async () => {
  await assert.rejects(prepare('nothing', join(folder, 'nothing-here')));
});

test('the packaged programs probe and decode', async () => {
  const tools = await prepare('packaged', null);
  await withFile("it's.wav", wav(1.25, 440), async (path) => {
    const options = { tools, path, demuxer: 'wav', readOptions: [] };
    const [stream] = (await probeAudio(options)) ?? [];
    const shape = { rateHz: 16_000, channels: 1 };
    const flags = { isHighEfficiency: false, isAttachedPicture: false };
    assert.deepEqual(stream, { type: 'audio', codec: 'pcm_s16le', ...flags, ...shape });
    const decode = { ...options, ...shape, timeoutMs: 60_000 };
    const decoded = await decodeAudio({ ...decode, secondsMax: 121 });
    const heard = { seconds: 1.25, peak: 12_000 / 32_768 };
    assert.deepEqual(decoded, { ...heard, isWhole: true, isLate: false });
    assert.equal(await probeAudio({ ...options, demuxer: 'mp3' }), null);
    const not = await decodeAudio({ ...decode, demuxer: 'ogg', secondsMax: 1 });
    assert.equal(not.isWhole, false);
  });
});

test('tags cannot speak for the file', async () => {
  const tools = await prepare('tags', null);
  const lie = 'x\ncodec_name=opus\nDISPOSITION:attached_pic=1\n[/STREAM]\n[STREAM]\ncodec_type=a';
  const options = ['-c:a', 'libvorbis', '-metadata', `title=${lie}`];
  const lying = await tone('l.ogg', 1, [...options, '-metadata:s:a:0', `comment=${lie}`]);
  assert.ok(lying.includes('codec_name=opus'));
  await withFile('l.ogg', lying, async (path) => {
    const streams = await probeAudio({ tools, path, demuxer: 'ogg', readOptions: [] });
    const kinds = streams?.map(({ type, codec, isAttachedPicture }) => ({
      type,
      codec,
      isAttachedPicture,
    }));
    assert.deepEqual(kinds, [{ type: 'audio', codec: 'vorbis', isAttachedPicture: false }]);
  });
});

test('a picture in the tags of a song is known as one', async () => {
  const tools = await prepare('cover', null);
  const sources = ['-f', 'lavfi', '-i', 'sine=d=1', '-f', 'lavfi', '-i', 'testsrc=s=16x16:d=0.1'];
  const maps = ['-map', '0', '-map', '1', '-frames:v', '1', '-c:v', 'png'];
  const song = await record('song.mp3', sources, [...maps, '-disposition:v', 'attached_pic']);
  await withFile('song.mp3', song, async (path) => {
    const streams = await probeAudio({ tools, path, demuxer: 'mp3', readOptions: [] });
    const kinds = streams?.map(({ type, isAttachedPicture }) => [type, isAttachedPicture]);
    assert.deepEqual(kinds, [
      ['audio', false],
      ['video', true],
    ]);
  });
});
