// Frames of sources: each shows what is on the screen at its second. A clock whose grey grows with
// each second tells whether it does.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ExtractFramesInput } from '../../../media/video/contract.ts';
import { extractFrames } from '../../../media/video/frames.ts';
import {
  bars,
  clock,
  h264,
  makeVideo,
  openVideoFolder,
  secondsShownBy,
  sizeOfJpeg,
  type VideoFolder,
} from '../../harness/videos.ts';

let folder: VideoFolder;
before(async () => {
  folder = await openVideoFolder();
});
after(() => folder.remove());

function pathOf(name: string): string {
  return join(folder.path, name);
}

function extract(name: string, given: Partial<ExtractFramesInput> = {}, tools = folder.tools) {
  const usual = { path: pathOf(name), startSeconds: null, endSeconds: null, framesMax: 16 };
  return extractFrames({ ...usual, ...given }, tools);
}

async function framesOf(name: string, given: Partial<ExtractFramesInput> = {}) {
  const extracted = await extract(name, given);
  assert.ok(extracted.ok, extracted.ok ? '' : extracted.reason);
  return extracted.frames;
}

async function faultOf(name: string, given: Partial<ExtractFramesInput> = {}) {
  const extracted = await extract(name, given);
  return extracted.ok ? null : extracted.fault;
}

/** Each frame shows the second that it is said to be of. */
async function assertTrue(frames: readonly { seconds: number; jpeg: Uint8Array }[]) {
  const shown = await secondsShownBy(frames.map(({ jpeg }) => jpeg));
  assert.deepEqual(
    shown,
    frames.map(({ seconds }) => Math.floor(seconds + 1e-6)),
  );
}

test('frames are even over the video, and true to their seconds', async () => {
  // Frames that are reordered, with a key frame in irregular places.
  const coded = ['-c:v', 'libx264', '-bf', '3', '-g', '70', '-pix_fmt', 'yuv420p'];
  await makeVideo(...clock(20), ...coded, pathOf('clock.mp4'));
  const extracted = await extract('clock.mp4');
  assert.ok(extracted.ok);
  const bytes = await readFile(pathOf('clock.mp4'));
  assert.deepEqual(extracted.facts, {
    durationMs: 20_000,
    width: 64,
    height: 36,
    hasAudio: false,
    videoCodec: 'h264',
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  });
  const { frames } = extracted;
  const even = Array.from({ length: 16 }, (_, index) => 0.625 + index * 1.25);
  for (const [index, { seconds }] of frames.entries()) {
    assert.ok(Math.abs(seconds - (even[index] ?? 0)) <= 0.04, `${seconds}`);
  }
  assert.equal(frames.length, 16);
  await assertTrue(frames);
  // Also at the borders of seconds: 20 frames in the middle of half a second, 40 ms apart.
  const dense = await framesOf('clock.mp4', { startSeconds: 8.8, endSeconds: 9.6, framesMax: 20 });
  assert.equal(dense.length, 20);
  assert.ok(dense.every(({ seconds }) => seconds >= 8.8 && seconds < 9.6));
  await assertTrue(dense);
  const few = await framesOf('clock.mp4', { startSeconds: 3, endSeconds: 3.1, framesMax: 64 });
  assert.equal(few.length, 3, 'no more than there are places on the grid');
});

test('frames that lie far apart are decoded side by side, within the bound of memory', async () => {
  await makeVideo(...bars(32, '1280x720', 5), ...h264, '-g', '5', pathOf('far.mp4'));
  assert.equal((await framesOf('far.mp4')).length, 16);
});

test('a part outside the video is refused, one that reaches beyond it ends with it', async () => {
  assert.equal(await faultOf('clock.mp4', { startSeconds: 20, endSeconds: 30 }), 'part_outside');
  const frames = await framesOf('clock.mp4', { startSeconds: 18, endSeconds: 500, framesMax: 2 });
  assert.deepEqual(
    frames.map(({ seconds }) => seconds),
    [18.48, 19.48],
  );
  await assertTrue(frames);
});

test('frames are moved to the cuts of the film', async () => {
  const scenes = ['red', 'white', 'blue'].flatMap((colour, index) => [
    ...['-f', 'lavfi', '-i', `color=${colour}:s=64x36:r=25:d=${index === 0 ? 3.6 : 5}`],
  ]);
  // As encoders do by themselves where a scene has more in it than one colour.
  const coded = ['-c:v', 'libx264', '-force_key_frames', '3.6,8.6'];
  const joined = ['-filter_complex', '[0:v][1:v][2:v]concat=n=3', ...coded];
  await makeVideo(...scenes, ...joined, '-pix_fmt', 'yuv420p', pathOf('scenes.mp4'));
  const frames = await framesOf('scenes.mp4', { framesMax: 5 });
  const seconds = frames.map((frame) => frame.seconds);
  // Even they are at 1.36, 4.08, 6.8, 9.52 and 12.24; the cuts are at 3.6 and 8.6.
  assert.deepEqual(seconds, [1.36, 3.8, 6.8, 8.8, 12.24]);
});

test('pictures have 768 pixels on the longer side at most, and stand upright', async () => {
  await makeVideo(...bars(1), ...h264, pathOf('wide.mp4'));
  const sizes = async (name: string) =>
    (await framesOf(name, { framesMax: 2 })).map(({ jpeg }) => sizeOfJpeg(jpeg));
  assert.deepEqual(await sizes('wide.mp4'), [
    [768, 432],
    [768, 432],
  ]);
  const turned = ['-c', 'copy', '-metadata:s:v', 'rotate=90', pathOf('turned.mp4')];
  await makeVideo('-i', pathOf('wide.mp4'), ...turned);
  assert.deepEqual((await sizes('turned.mp4'))[0], [432, 768]);
  const anamorphic = ['-vf', 'scale=640:720,setsar=2', ...h264, pathOf('wide-pixels.mp4')];
  await makeVideo(...bars(1), ...anamorphic);
  assert.deepEqual((await sizes('wide-pixels.mp4'))[0], [768, 432]);
  assert.deepEqual(sizeOfJpeg((await framesOf('clock.mp4'))[0]?.jpeg ?? Buffer.alloc(0)), [64, 36]);
});

test('WebM is looked at, too', async () => {
  const vp8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-g', '30'];
  await makeVideo(...clock(6, 10), ...vp8, pathOf('clock.webm'));
  const extracted = await extract('clock.webm', { framesMax: 6 });
  assert.ok(extracted.ok && extracted.facts.videoCodec === 'vp8');
  assert.equal(extracted.frames.length, 6);
  await assertTrue(extracted.frames);
});

test('a slide that stays for seconds is seen at each of them', async () => {
  // One frame each five seconds.
  const slides = ['-vf', 'select=not(mod(n\\,5))', '-vsync', 'vfr', ...h264];
  await makeVideo(...clock(20, 1), ...slides, pathOf('slides.mp4'));
  const frames = await framesOf('slides.mp4', { startSeconds: 1, endSeconds: 15, framesMax: 7 });
  const shown = await secondsShownBy(frames.map(({ jpeg }) => jpeg));
  assert.deepEqual(
    frames.map(({ seconds }) => seconds),
    [2, 4, 6, 8, 10, 12, 14],
  );
  assert.deepEqual(shown, [0, 0, 5, 5, 10, 10, 10]);
});

test('what cannot be looked at has a name', async () => {
  const still = ['-f', 'lavfi', '-i', 'color=gray:s=16x16:r=1:d=602', ...h264];
  await makeVideo(...still, pathOf('long.mp4'));
  assert.equal(await faultOf('long.mp4'), 'too_long');
  const endless = ['-f', 'lavfi', '-i', 'color=gray:s=16x16:r=5:d=1', '-c:v', 'libvpx'];
  await makeVideo(...endless, '-f', 'webm', '-live', '1', pathOf('endless.webm'));
  assert.equal(await faultOf('endless.webm'), 'no_length');
  const others = ['-f', 'lavfi', '-i', 'color=gray:s=16x16:r=5:d=1', '-c:v', 'mpeg2video'];
  await makeVideo(...others, pathOf('old.mkv'));
  assert.equal(await faultOf('old.mkv'), 'codec');
});

test('frames that came before a program met its bounds are kept', async () => {
  const ffmpegPath = pathOf('ended.sh');
  const ended = `'${folder.tools.patient.ffmpegPath}' "$@"; kill -XCPU $$`;
  await writeFile(ffmpegPath, `#!/bin/sh\n${ended}\n`, { mode: 0o700 });
  const patient = { ...folder.tools.patient, ffmpegPath };
  const extracted = await extract('clock.mp4', { framesMax: 4 }, { ...folder.tools, patient });
  assert.ok(extracted.ok);
  await assertTrue(extracted.frames);
  // Without the key frames it goes on as well.
  const quick = { ...folder.tools.quick, ffmpegPath };
  const blind = await extract('clock.mp4', { framesMax: 4 }, { ...folder.tools, quick });
  assert.ok(blind.ok && blind.frames.length === 4);
  await assertTrue(blind.frames);
});
