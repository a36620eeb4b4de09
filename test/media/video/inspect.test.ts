// Generated videos as providers deliver them, good and bad: files made by the packaged ffmpeg, read
// by the programs within their bounds.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { VideoExpectation } from '../../../media/video/contract.ts';
import { LateProgram } from '../../../media/video/ffmpeg.ts';
import { inspectVideo } from '../../../media/video/inspect.ts';
import {
  bars,
  h264,
  makeVideo,
  openVideoFolder,
  tones,
  type VideoFolder,
} from '../../harness/videos.ts';

let folder: VideoFolder;
const asked: VideoExpectation = {
  seconds: 4,
  resolution: '720p',
  ratio: '16:9',
  hasSound: true,
};
before(async () => {
  folder = await openVideoFolder();
  const made = [...bars(4), ...tones(4), ...h264, '-movflags', '+faststart'];
  await makeVideo(...made, pathOf('good.mp4'));
});
after(() => folder.remove());

function pathOf(name: string): string {
  return join(folder.path, name);
}

/** Makes a file out of the good one without encoding it again. */
async function remake(name: string, ...options: string[]): Promise<string> {
  await makeVideo('-i', pathOf('good.mp4'), '-c', 'copy', ...options, pathOf(name));
  return name;
}

function inspect(name: string, expectation: Partial<VideoExpectation> = {}, tools = folder.tools) {
  const silentPath = pathOf(`silent-${name}`);
  const input = { path: pathOf(name), silentPath, expectation: { ...asked, ...expectation } };
  return inspectVideo(input, tools);
}

async function faultOf(name: string, expectation: Partial<VideoExpectation> = {}) {
  const inspected = await inspect(name, expectation);
  return inspected.ok ? null : inspected.fault;
}

async function factsOf(name: string, expectation: Partial<VideoExpectation> = {}) {
  const inspected = await inspect(name, expectation);
  assert.ok(inspected.ok, inspected.ok ? '' : inspected.reason);
  return inspected.facts;
}

test('a good file is told with its facts, and stays where it is', async () => {
  const bytes = await readFile(pathOf('good.mp4'));
  assert.deepEqual(await inspect('good.mp4'), {
    ok: true,
    path: pathOf('good.mp4'),
    facts: {
      mime: 'video/mp4',
      durationMs: 4_000,
      width: 1_280,
      height: 720,
      hasAudio: true,
      videoCodec: 'h264',
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      isRatioOff: false,
      nearestRatio: '16:9',
    },
  });
});

test('what was asked for is what the file is measured against', async () => {
  assert.equal(await faultOf('good.mp4', { seconds: 5 }), 'wrong_length');
  assert.equal(await faultOf('good.mp4', { resolution: '1080p' }), 'wrong_size');
  assert.equal((await factsOf('good.mp4', { ratio: '1:1' })).isRatioOff, true);
  assert.equal((await factsOf('good.mp4', { ratio: null })).isRatioOff, false);
});

test('sound that was not wanted is gone, and no picture was touched', async () => {
  const inspected = await inspect('good.mp4', { hasSound: false });
  assert.ok(inspected.ok);
  assert.equal(inspected.path, pathOf('silent-good.mp4'));
  assert.equal(inspected.facts.hasAudio, false);
  const bytes = await readFile(inspected.path);
  assert.equal(inspected.facts.sha256, createHash('sha256').update(bytes).digest('hex'));
  assert.ok(bytes.indexOf('moov') < bytes.indexOf('mdat'), 'the index stands in front');
  assert.equal((await stat(inspected.path)).mode & 0o777, 0o600);
  const packets = async (path: string) => {
    const copy = ['-map', '0:v', '-c', 'copy', '-f', 'md5', pathOf('packets.md5')];
    await makeVideo('-i', path, ...copy);
    return await readFile(pathOf('packets.md5'), 'utf8');
  };
  assert.equal(await packets(inspected.path), await packets(pathOf('good.mp4')));
  const silent = await inspect('silent-good.mp4', { hasSound: false });
  assert.ok(silent.ok && silent.path === pathOf('silent-good.mp4'), 'there was none');
});

test('a file that our disk does not take is no fault of the provider', async () => {
  const silentPath = pathOf('nowhere/silent.mp4');
  const input = {
    path: pathOf('good.mp4'),
    silentPath,
    expectation: { ...asked, hasSound: false },
  };
  const inspected = await inspectVideo(input, folder.tools);
  assert.equal(inspected.ok ? null : inspected.fault, 'unwritten');
});

test('the index may stand anywhere, and films may be in fragments or QuickTime', async () => {
  assert.equal(await faultOf(await remake('moov-last.mp4')), null);
  const fragments = ['-movflags', '+frag_keyframe+empty_moov'];
  const { durationMs } = await factsOf(await remake('fragments.mp4', ...fragments));
  assert.ok(durationMs >= 4_000 && durationMs < 4_100);
  assert.equal((await factsOf(await remake('q.mov'))).mime, 'video/quicktime');
  const silenced = await inspect('q.mov', { hasSound: false });
  assert.ok(silenced.ok && silenced.facts.mime === 'video/quicktime');
});

test('HEVC and VP9 are taken, MPEG-4 of the nineties is not', async () => {
  const still = ['-f', 'lavfi', '-i', 'color=blue:s=1280x720:r=2:d=4'];
  const hevc = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'];
  await makeVideo(...still, ...hevc, pathOf('hevc.mp4'));
  assert.equal((await factsOf('hevc.mp4')).videoCodec, 'hevc');
  await makeVideo(...still, '-c:v', 'libvpx-vp9', '-deadline', 'realtime', pathOf('vp9.mp4'));
  assert.equal((await factsOf('vp9.mp4')).videoCodec, 'vp9');
  await makeVideo(...still, '-c:v', 'mpeg4', pathOf('mpeg4.mp4'));
  assert.equal(await faultOf('mpeg4.mp4'), 'codec');
});

test('streams are one of pictures and at most one of sound', async () => {
  const twice = (kind: string) => remake(`two-${kind}.mp4`, '-map', `0:${kind}`, '-map', '0');
  assert.equal(await faultOf(await twice('v')), 'several_video_streams');
  assert.equal(await faultOf(await twice('a')), 'several_audio_streams');
  assert.equal(await faultOf(await remake('sound.mp4', '-vn')), 'no_video_stream');
});

test('a cover in the tags is no second video', async () => {
  const image = ['-f', 'lavfi', '-i', 'color=red:s=64x64:d=0.04:r=25'];
  const maps = ['-map', '0', '-map', '1', '-c', 'copy', '-c:v:1', 'png', '-frames:v:1', '1'];
  const cover = [...maps, '-disposition:v:1', 'attached_pic'];
  await makeVideo('-i', pathOf('good.mp4'), ...image, ...cover, pathOf('cover.mp4'));
  assert.ok((await readFile(pathOf('cover.mp4'))).includes('covr'));
  assert.equal(await faultOf('cover.mp4'), null);
  assert.equal((await factsOf('cover.mp4', { hasSound: false })).hasAudio, false);
});

test('a video that was recorded upright is measured as it is shown', async () => {
  const upright = await remake('upright.mp4', '-metadata:s:v', 'rotate=90');
  const { width, height, isRatioOff } = await factsOf(upright, { ratio: '9:16' });
  assert.deepEqual([width, height, isRatioOff], [720, 1_280, false]);
});

test('one frame a second is enough to be looked at near the end', async () => {
  await makeVideo(...bars(4, '1280x720', 1), ...h264, pathOf('slow.mp4'));
  assert.equal(await faultOf('slow.mp4'), null);
});

test('a file that ends too early is cut, whatever it says', async () => {
  const bytes = await readFile(pathOf('good.mp4'));
  await writeFile(pathOf('cut.mp4'), bytes);
  await truncate(pathOf('cut.mp4'), Math.floor(bytes.length * 0.7));
  assert.equal(await faultOf('cut.mp4'), 'cut');
  // Now the box of the media says that all of it is there.
  const media = bytes.indexOf('mdat') - 4;
  const kept = Buffer.from(bytes.subarray(0, Math.floor(media + (bytes.length - media) * 0.6)));
  kept.writeUInt32BE(kept.length - media, media);
  await writeFile(pathOf('lying.mp4'), kept);
  assert.equal(await faultOf('lying.mp4'), 'undecodable');
});

test('a program that has too few turns, or that others end, says nothing of the file', async () => {
  const program = async (name: string, script: string) => {
    await writeFile(pathOf(name), `#!/bin/sh\n${script}\n`);
    await chmod(pathOf(name), 0o700);
    return { ffmpegPath: folder.tools.quick.ffmpegPath, ffprobePath: pathOf(name) };
  };
  const inspectWith = async (quick: typeof folder.tools.quick, timeoutMs: number) =>
    await inspect('good.mp4', {}, { ...folder.tools, quick, timeoutMs });
  const waiting = await program('waiting', 'exec sleep 1');
  await assert.rejects(inspectWith(waiting, 100), LateProgram);
  await assert.rejects(inspectWith(await program('stopped', 'kill -TERM $$'), 60_000), /SIGTERM/);
  const patient = { ...folder.tools.patient, ffmpegPath: waiting.ffprobePath };
  const slow = { ...folder.tools, patient, timeoutMs: 500 };
  await assert.rejects(inspect('good.mp4', {}, slow));
});
