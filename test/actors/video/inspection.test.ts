// The pools of video files with real threads and programs. What comes back crossed a thread, one
// account leaves room for others, and generated videos do not wait for sources.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pino from 'pino';
import { createVideoInspection, readsVideo } from '../../../actors/video/inspection.ts';
import { createVideoInspectionLimits } from '../../../actors/video/inspection-limits.ts';
import type { ExtractedFrames, InspectedVideo } from '../../../media/video/contract.ts';
import {
  bars,
  h264,
  makeVideo,
  openVideoFolder,
  sizeOfJpeg,
  type VideoFolder,
} from '../../harness/videos.ts';

let folder: VideoFolder;
const limits = { ...createVideoInspectionLimits(), queueLengthMax: 3 };
const log = pino({ level: 'silent' });
const account = 'acc_1';
before(async () => {
  folder = await openVideoFolder();
  await makeVideo(...bars(4), ...h264, join(folder.path, 'film.mp4'));
});
after(() => folder.remove());

function open(given: { ffprobePath?: string; limits?: Partial<typeof limits> } = {}) {
  const dataDir = join(folder.path, 'data');
  const config = { dataDir, ffmpegPath: null, ffprobePath: given.ffprobePath ?? null };
  return createVideoInspection(config, { ...limits, ...given.limits }, log);
}

function film() {
  const path = join(folder.path, 'film.mp4');
  const expectation = { seconds: 4, resolution: '720p', ratio: '16:9', hasSound: true };
  return { path, silentPath: `${path}.silent`, expectation };
}

function source(framesMax: number) {
  return { path: join(folder.path, 'film.mp4'), startSeconds: null, endSeconds: null, framesMax };
}

async function program(name: string, script: string): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return path;
}

test('a generated video and the frames of a source come back from their threads', async () => {
  assert.ok(readsVideo('inspect-video') && readsVideo('extract-frames'));
  assert.equal(readsVideo('inspect-audio'), false);
  const videos = open();
  const [inspected, extracted] = await Promise.all([
    videos.run('inspect-video', film(), account),
    videos.run('extract-frames', source(3), account),
  ]);
  assert.ok(inspected.ok && extracted.ok);
  const video = inspected.value as InspectedVideo;
  assert.ok(video.ok && video.facts.width === 1_280 && video.facts.sha256.length === 64);
  const frames = extracted.value as ExtractedFrames;
  assert.ok(frames.ok && frames.facts.sha256 === video.facts.sha256);
  assert.deepEqual(
    frames.frames.map(({ jpeg }) => sizeOfJpeg(jpeg)),
    [0, 1, 2].map(() => [768, 432]),
  );
  await videos.stop();
  const late = await videos.run('inspect-video', film(), account);
  assert.deepEqual(late, { ok: false, refused: 'overloaded' });
});

test('one account has half of the room, and videos do not wait for sources', async () => {
  const script = 'case "$*" in *version*) echo ok;; *) sleep 0.5; exit 1;; esac';
  const videos = open({ ffprobePath: await program('slow-probe', script) });
  const sources = Array.from({ length: 3 }, () => videos.run('extract-frames', source(1), account));
  const besides = videos.run('extract-frames', source(1), 'acc_2');
  const generated = await videos.run('inspect-video', film(), account);
  assert.ok(generated.ok && (generated.value as InspectedVideo).ok === false);
  const answers = await Promise.all(sources);
  assert.deepEqual(
    answers.map((answer) => (answer.ok ? 'judged' : answer.refused)),
    ['judged', 'judged', 'overloaded'],
  );
  assert.ok((await besides).ok);
  await videos.stop();
});

test('what could not be judged is no verdict', async () => {
  const script = 'case "$*" in *version*) echo ok;; *) kill -TERM $$;; esac';
  const stopped = open({ ffprobePath: await program('stopped-probe', script) });
  const failed = { ok: false, refused: 'failed' };
  assert.deepEqual(await stopped.run('inspect-video', film(), account), failed);
  await stopped.stop();
  const nothing = open({ ffprobePath: join(folder.path, 'nothing-here') });
  assert.deepEqual(await nothing.run('extract-frames', source(1), account), failed);
  await nothing.stop();
  const hasty = open({ limits: { videoMs: 1 } });
  const late = await hasty.run('inspect-video', film(), account);
  assert.deepEqual(late, { ok: false, refused: 'timeout' });
  await hasty.stop();
});
