// What a start tells its operator, of one gateway that was given everything that it speaks about.
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import ffmpegInstaller from '@ffmpeg-installer/ffmpeg';
import { wav } from '../harness/recordings.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

let folder: string;
let bed: Testbed;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-advice-'));
  await chmod(folder, 0o711);
  await writeFile(join(folder, 'ffmpeg'), newFfmpeg(), { mode: 0o755 });
  const path = `${folder}:${process.env.PATH}`;
  bed = await openTestbed({ shards: 1, env: { PATH: path, TOLLGATE_LOG_LEVEL: 'info' } });
});
after(async () => {
  await bed?.close();
  await rm(folder, { recursive: true, force: true });
});

/** An ffmpeg of the system: it says that it is new, and keeps a note of what it decodes. */
function newFfmpeg(): string {
  return [
    '#!/bin/sh',
    'if [ "$1" = -version ]; then',
    '  echo "ffmpeg version 99.1 Copyright (c) 2000-2099 the FFmpeg developers"',
    '  echo "libavcodec     99. 12.100 / 99. 12.100"',
    '  exit',
    'fi',
    `echo "$@" >> '${folder}/runs'`,
    `exec '${ffmpegInstaller.path}' "$@"`,
    '',
  ].join('\n');
}

const untilMs = 30_000;

/** The first line of a log that has this message. */
async function logged(message: string): Promise<Record<string, unknown>> {
  const deadline = performance.now() + untilMs;
  for (;;) {
    const found = bed.gateway.logs.find((line) => line.includes(`"msg":"${message}"`));
    if (found !== undefined) return JSON.parse(found);
    assert.ok(performance.now() < deadline, `never logged: ${message}`);
    await sleep(20);
  }
}

test("the log says which programs read recordings, and the system's newer one does", async () => {
  const { ffmpeg, ffprobe } = await logged('recordings are read by');
  const path = join(folder, 'ffmpeg');
  assert.deepEqual(ffmpeg, { version: '99.1', origin: 'system', path });
  assert.match((ffprobe as { version: string }).version, /^\S+$/);
  const { apiKey } = await bed.account();
  const form = new FormData();
  form.set('model', 'svc-transcribe');
  form.set('file', new File([wav(1)], 'one.wav', { type: 'audio/wav' }));
  const reply = await fetch(`${bed.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: form,
  });
  assert.equal(reply.status, 200, await reply.text());
  assert.match(await readFile(join(folder, 'runs'), 'utf8'), /-f s32le/);
});
