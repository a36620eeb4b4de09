// The video families of the simulator against the vendors' own clients, unpatched: create, poll,
// list and download, and what they make of failures.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ApiError, type GenerateVideosOperation, GoogleGenAI } from '@google/genai';
import OpenAI, { APIError } from 'openai';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { eventually, statsOf } from './probe.ts';

/** It declares Node 22, and runs wherever it loads. */
const loaded = await Promise.all([import('@ai-sdk/xai'), import('ai')]).catch(() => null);
const withXai = loaded === null ? { skip: `not on ${process.version}` } : {};

let sim: RunningSim;
let folder: string;
before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
  folder = await mkdtemp(join(tmpdir(), 'tollgate-clients-'));
});
after(async () => {
  sim.close();
  await rm(folder, { recursive: true });
});

const isVideo = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1', 4, 8) === 'ftyp';
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

function openaiWith(apiKey = 'right'): OpenAI {
  return new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${sim.port}/v1`, maxRetries: 0 });
}

const model = 'sim-videos-2026';

async function completed(client: OpenAI, id: string): Promise<OpenAI.Video> {
  for (;;) {
    const video = await client.videos.retrieve(id);
    if (video.status === 'completed' || video.status === 'failed') return video;
    await pause();
  }
}

test('openai: create, poll, list and download', async () => {
  const client = openaiWith();
  const prompt = 'a fox [[sim render_ms=100 unknown=1]]';
  const made = await client.videos.create({ model, prompt, seconds: '4', size: '1280x720' });
  assert.deepEqual(
    [made.object, made.model, made.prompt, made.seconds, made.size, made.error],
    ['video', model, prompt, '4', '1280x720', null],
  );
  assert.match(made.status, /^(queued|in_progress)$/);
  assert.ok(Math.abs(made.created_at - Date.now() / 1_000) < 60);
  await assert.rejects(client.videos.downloadContent(made.id), { status: 404 });
  const video = await completed(client, made.id);
  assert.deepEqual([video.status, video.progress], ['completed', 100]);
  assert.ok((video.completed_at ?? 0) >= video.created_at);
  const file = await client.videos.downloadContent(made.id);
  assert.equal(file.headers.get('content-type'), 'video/mp4');
  assert.ok(isVideo(new Uint8Array(await file.arrayBuffer())));
  const second = await client.videos.create({ model, prompt: 'another' });
  const ids: string[] = [];
  for await (const listed of client.videos.list({ limit: 1 })) ids.push(listed.id);
  assert.deepEqual(ids, [second.id, made.id]);
  const [oldest] = (await client.videos.list({ order: 'asc', limit: 1 })).data;
  assert.equal(oldest?.id, made.id);
});

test('openai: what fails is told as the client expects it', async () => {
  const client = openaiWith();
  const failedAs = async (fault: string) => {
    const prompt = `fox [[sim render_ms=0 fault=${fault}]]`;
    return completed(client, (await client.videos.create({ model, prompt })).id);
  };
  assert.equal((await failedAs('moderated')).error?.code, 'moderation_blocked');
  assert.equal((await failedAs('failed')).error?.code, 'video_generation_failed');
  const statusOf = (status: number) => (error: unknown) =>
    error instanceof APIError && error.status === status;
  const create = (prompt: string, more: object = {}) =>
    client.videos.create({ model, prompt, ...more });
  const prompt = 'fox [[sim fault=moderated_submit]]';
  await assert.rejects(create(prompt), { status: 400, code: 'moderation_blocked' });
  await assert.rejects(create('[[sim status=429 retry_after=3]]'), statusOf(429));
  await assert.rejects(create(''), statusOf(400));
  await assert.rejects(create('x', { seconds: '31' }), statusOf(400));
  await assert.rejects(create('x', { size: 'large' }), statusOf(400));
  await assert.rejects(create('x', { model: 'other' }), statusOf(404));
  await assert.rejects(client.videos.retrieve('video_none'), statusOf(404));
  await assert.rejects(openaiWith('wrong').videos.list(), statusOf(401));
});

function googleWith(apiKey = 'right'): GoogleGenAI {
  const retryOptions = { attempts: 1 };
  const baseUrl = `http://127.0.0.1:${sim.port}`;
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl, retryOptions } });
}

const veo = 'sim-veo-2026-preview';

async function generated(prompt: string, config: object = {}): Promise<GenerateVideosOperation> {
  const client = googleWith();
  const source = { prompt };
  let operation = await client.models.generateVideos({ model: veo, source, config });
  assert.match(operation.name ?? '', /^models\/sim-veo-2026-preview\/operations\/\w+$/);
  while (operation.done !== true) {
    await pause();
    operation = await client.operations.getVideosOperation({ operation });
  }
  return operation;
}

test('genai: generate, poll the operation, download the file', async () => {
  const config = { durationSeconds: 4, aspectRatio: '9:16', resolution: '720p' };
  const { response, error } = await generated('a fox [[sim render_ms=100 unknown=1]]', config);
  assert.equal(error, undefined);
  const uri = response?.generatedVideos?.[0]?.video?.uri ?? assert.fail();
  assert.match(uri, /^http:\/\/127\.0\.0\.1:\d+\/v1beta\/files\/[a-z0-9]+:download\?alt=media$/);
  // The client takes names out of addresses that begin with https alone.
  const [, name] = /files\/([a-z0-9]+)/.exec(uri) ?? assert.fail();
  const downloadPath = join(folder, 'veo.mp4');
  await googleWith().files.download({ file: name ?? '', downloadPath });
  assert.ok(isVideo(await readFile(downloadPath)));
});

test('genai: moderation is no error, failures are, and limits are kept', async () => {
  const moderated = await generated('fox [[sim render_ms=0 fault=moderated]]');
  assert.equal(moderated.response?.raiMediaFilteredCount, 1);
  assert.equal(moderated.response?.generatedVideos, undefined);
  assert.equal(moderated.error, undefined);
  const empty = await generated('fox [[sim render_ms=0 fault=zero_samples]]');
  assert.deepEqual(empty.response?.generatedVideos, []);
  const failed = await generated('fox [[sim render_ms=0 fault=failed]]');
  assert.equal(failed.error?.code, 13);
  const statusOf = (status: number) => (error: unknown) =>
    error instanceof ApiError && error.status === status;
  await assert.rejects(generated('fox', { durationSeconds: 5 }), statusOf(400));
  const short = { durationSeconds: 4, resolution: '1080p' };
  await assert.rejects(generated('fox', short), statusOf(400));
  await assert.rejects(generated('fox', { aspectRatio: '1:1' }), statusOf(400));
  await assert.rejects(generated('[[sim fault=429]]'), statusOf(429));
  const source = { prompt: 'fox' };
  const wrong = googleWith('wrong').models.generateVideos({ model: veo, source });
  await assert.rejects(wrong, statusOf(400));
});

async function imagined(prompt: string, more: object = {}) {
  const [{ createXai }, { experimental_generateVideo: generateVideo }] = loaded ?? assert.fail();
  const xai = createXai({ apiKey: 'right', baseURL: `http://127.0.0.1:${sim.port}/v1` });
  return generateVideo({
    model: xai.video('sim-imagine-2026-high'),
    prompt,
    maxRetries: 0,
    poll: { intervalMs: 20 },
    // Its own one refuses addresses of this machine.
    download: async ({ url }) => {
      const reply = await fetch(url);
      const mediaType = reply.headers.get('content-type') ?? undefined;
      return { data: new Uint8Array(await reply.arrayBuffer()), mediaType };
    },
    ...more,
  });
}

test('ai-sdk: a video by request id and temporary address', withXai, async () => {
  const asked = { duration: 4, aspectRatio: '16:9', resolution: '1920x1080' };
  const prompt = 'a fox [[sim render_ms=100 price_ticks=5 unknown=1]]';
  const { video, providerMetadata } = await imagined(prompt, asked);
  assert.ok(isVideo(video.uint8Array));
  assert.equal(video.mediaType, 'video/mp4');
  const { costInUsdTicks, duration } = (providerMetadata.xai ?? {}) as Record<string, unknown>;
  assert.deepEqual([costInUsdTicks, duration], [5, 4]);
  const unstated = await imagined('fox [[sim render_ms=0 fault=no_status]]', asked);
  assert.ok(isVideo(unstated.video.uint8Array));
});

test('ai-sdk: what was moderated, failed or refused is an error', withXai, async () => {
  for (const [fault, words] of [
    ['moderated', /content policy/],
    ['failed', /generation failed/],
    ['expired', /expired/],
    ['zero_samples', /no video URL/],
    ['moderated_submit', /rejected by content moderation/],
  ] as const) {
    await assert.rejects(imagined(`fox [[sim render_ms=0 fault=${fault}]]`), words, fault);
  }
  await assert.rejects(imagined('fox', { duration: 31 }), /duration/);
  await eventually(async () => (await statsOf(sim)).open === 0);
});
