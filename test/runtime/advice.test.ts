// What a start tells its operator, of one gateway that was given everything that it speaks about.
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import ffmpegInstaller from '@ffmpeg-installer/ffmpeg';
import { freePort } from '../harness/port.ts';
import { wav } from '../harness/recordings.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

let folder: string;
let bed: Testbed;
let runner: Awaited<ReturnType<typeof startRunner>>;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-advice-'));
  await chmod(folder, 0o711);
  await writeFile(join(folder, 'ffmpeg'), newFfmpeg(), { mode: 0o755 });
  runner = await startRunner();
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    TOLLGATE_LOG_LEVEL: 'info',
    TOLLGATE_TRUSTED_PROXIES: '127.0.0.1',
    TOLLGATE_UPSTREAM_HERE_URL: runner.url,
    TOLLGATE_UPSTREAM_AWAY_URL: `http://me:hunter2@127.0.0.1:${await freePort()}/v1`,
  };
  bed = await openTestbed({ shards: 1, env });
});
after(async () => {
  await bed?.close();
  runner?.close();
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

/** A local runner of 20 models, which says `here` to whatever it is asked. */
async function startRunner(): Promise<{ url: string; close(): void }> {
  const data = [...'abcdefghijklmnopqrst'].map((letter) => ({ id: `writer-${letter}` }));
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const choices = (delta: object, finish_reason: string | null) => [
    { index: 0, delta, finish_reason },
  ];
  const chunks = [
    { id: 'c', object: 'chat.completion.chunk', choices: choices({ content: 'here' }, null) },
    { id: 'c', object: 'chat.completion.chunk', choices: choices({}, 'stop'), usage },
  ];
  const server = createServer((request, response) => {
    if (request.method === 'GET') return response.end(JSON.stringify({ data }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    return response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/v1`, close };
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

test('what can be called stands behind the ready line, a long list with a count', async () => {
  const { logs } = bed.gateway;
  const ready = logs.findIndex((line) => line.startsWith('tollgate ready on '));
  const lines = logs.slice(ready + 1).filter((line) => !line.startsWith('{'));
  const letters = [...'abcdefghijkl'].map((letter) => `here-writer-${letter}`).join(', ');
  const simulated = lines.findIndex((line) => line.startsWith('models of the simulator: svc-'));
  assert.deepEqual(lines.toSpliced(simulated, 1), [
    `models of here: ${letters} and 8 more: GET /v1/models`,
    'managed routes: svc-coder, svc-coder-direct, svc-intelligent, svc-intelligent-direct, ' +
      'svc-video, svc-video-analysis',
  ]);
  assert.equal(simulated, 1);
});

test('a runner that is away is named with its address and the reason', async () => {
  const { level, upstream, url, reason } = await logged(
    'the runner is left out: it lists no models',
  );
  assert.deepEqual(
    { level, upstream, reason },
    {
      level: 'warn',
      upstream: 'away',
      reason: 'ECONNREFUSED',
    },
  );
  assert.match(String(url), /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  assert.ok(!bed.gateway.logs.join('\n').includes('hunter2'));
});

test('a managed route of development mode asks a real model before the simulator', async () => {
  const { apiKey } = await bed.account();
  const reply = await fetch(`${bed.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-intelligent', messages: [{ role: 'user', content: 'x' }] }),
  });
  const answer = (await reply.json()) as {
    choices: { message: { content: string } }[];
    svc_routing: { selected_model: string };
    svc_usage: { simulated: boolean };
  };
  assert.equal(answer.choices[0]?.message.content, 'here', JSON.stringify(answer));
  assert.match(answer.svc_routing.selected_model, /^here-writer-[a-t]$/);
  assert.equal(answer.svc_usage.simulated, false);
});

test('behind a proxy without a public origin the start says what clients are told', async () => {
  const told = `clients are told ${bed.url}`;
  const line = `TOLLGATE_TRUSTED_PROXIES is set without TOLLGATE_BASE_URL: ${told}`;
  assert.equal((await logged(line)).level, 'warn');
});
