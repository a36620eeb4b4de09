// What the simulator tells about its videos, what a reset forgets, and the sources that it serves
// on the web. ffmpeg looks at the pictures.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { runFfmpeg } from '../../../bench/sim/sound/ffmpeg.ts';
import { parseVideoDirective } from '../../../bench/sim/video/directive.ts';
import { post } from './probe.ts';

let sim: RunningSim;
let origin: string;
before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 7 });
  origin = `http://127.0.0.1:${sim.port}`;
});
after(() => sim.close());

async function submit(prompt: string, more: object = {}): Promise<string> {
  const body = { model: 'sim-imagine-2026', prompt, duration: 2, resolution: '720p', ...more };
  const reply = await post(sim, '/v1/videos/generations', body, { 'idempotency-key': 'k-1' });
  return ((await reply.json()) as { request_id: string }).request_id;
}

interface Submission {
  upstream_id: string;
  polls: { count: number; first_at_ms: number; last_at_ms: number } | null;
  downloads: { at_ms: number; link: number }[];
}

async function submissions(): Promise<Submission[]> {
  const reply = await fetch(`${origin}/sim/videos`);
  return ((await reply.json()) as { submissions: Submission[] }).submissions;
}

async function poll(id: string): Promise<Record<string, unknown>> {
  return (await (await fetch(`${origin}/v1/videos/${id}`)).json()) as Record<string, unknown>;
}

test('every submission, poll and download is told; a reset forgets them, and no job', async () => {
  await post(sim, '/sim/reset', {});
  const prompt = 'fox [[sim render_ms=0]]';
  const id = await submit(prompt);
  const { video } = (await poll(id)) as { video: { url: string } };
  const bytes = await (await fetch(video.url)).arrayBuffer();
  assert.ok(bytes.byteLength > 1_000 && bytes.byteLength < 400_000);
  await submit(prompt);
  const [first, second, ...others] = await submissions();
  assert.ok(first !== undefined && second !== undefined && others.length === 0);
  const { polls, downloads, ...told } = first;
  const { at_ms: atMs, done_at_ms: doneAtMs, ...rest } = told as unknown as Record<string, unknown>;
  assert.deepEqual(rest, {
    family: 'imagine',
    model: 'sim-imagine-2026',
    prompt,
    idempotency_key: 'k-1',
    outcome: 'accepted',
    upstream_id: id,
    clip: { seconds: 2, width: 1280, height: 720, sound: true },
  });
  assert.ok(
    Math.abs(Number(atMs) - Date.now()) < 60_000 && Number(doneAtMs) - Number(atMs) < 1_000,
  );
  assert.equal(polls?.count, 1);
  assert.deepEqual(
    downloads.map(({ link }) => link),
    [1],
  );
  assert.deepEqual([second.polls, second.downloads], [null, []]);
  await post(sim, '/sim/reset', {});
  assert.deepEqual(await submissions(), []);
  assert.equal((await poll(id)).status, 'done');
  assert.deepEqual(await submissions(), []);
});

test('an outage refuses submissions of its model, and polls where it is of all', async () => {
  const id = await submit('fox');
  await post(sim, '/sim/outage', { status: 503, for_ms: 60_000, model: 'sim-imagine-2026' });
  assert.equal(await submit('fox'), undefined);
  assert.equal((await fetch(`${origin}/v1/videos/${id}`)).status, 202);
  await post(sim, '/sim/outage', { status: 503, for_ms: 60_000 });
  assert.equal((await fetch(`${origin}/v1/videos/${id}`)).status, 503);
  await post(sim, '/sim/reset', {});
});

test('faults hit so often as is said, and their kinds are told apart', async () => {
  const read = (words: string) => parseVideoDirective(`fox [[sim ${words}]]`);
  assert.equal(read('fault=429').submit, '429');
  assert.equal(read('fault=429').poll, null);
  const ofPolls = read('fault=429 at=poll');
  assert.deepEqual([ofPolls.submit, ofPolls.poll], [null, '429']);
  const several = read('fault=cut_accepted,404,no_audio,strange times=2');
  const { submit: first, poll: second, file, times } = several;
  assert.deepEqual([first, second, file, times], ['cut_accepted', '404', 'no_audio', 2]);
  const address = 'http://127.0.0.1:9/a?b=c';
  assert.equal(read(`fault=redirect=${address}`).redirect, address);
  assert.equal(read('render_ms=x price_ticks=-1 kbps=0').renderMs, 300);
  const prompt = 'fox [[sim fault=429 times=2]]';
  const ids = [await submit(prompt), await submit(prompt), await submit(prompt)];
  assert.deepEqual(
    ids.map((each) => each === undefined),
    [true, true, false],
  );
});

/** Gray pictures of 1280 × 720: every so many of its frames, from the first. */
async function pictures(bytes: Buffer, step: number): Promise<Buffer[]> {
  const pixels = 1_280 * 720;
  const options = ['-i', 'pipe:0', '-vf', `framestep=${step}`, '-vsync', '0', '-pix_fmt', 'gray'];
  const all = await runFfmpeg([...options, '-f', 'rawvideo', 'pipe:1'], bytes);
  assert.ok(all !== null && all.length % pixels === 0);
  return Array.from({ length: all.length / pixels }, (_, index) =>
    all.subarray(index * pixels, (index + 1) * pixels),
  );
}

async function sourceOf(name: string): Promise<Buffer> {
  const reply = await fetch(`${origin}/sim/source/${name}.mp4`);
  assert.equal(reply.headers.get('content-type'), 'video/mp4');
  return Buffer.from(await reply.arrayBuffer());
}

test('a video has a box that moves', async () => {
  const id = await submit('fox [[sim render_ms=0]]');
  const { video } = (await poll(id)) as { video: { url: string } };
  const frames = await pictures(Buffer.from(await (await fetch(video.url)).arrayBuffer()), 5);
  const lefts = frames.map((frame) =>
    frame.subarray(360 * 1_280, 361 * 1_280).findIndex((light) => light > 120),
  );
  assert.equal(lefts.length, 4);
  for (const [index, left] of lefts.entries()) assert.ok(Math.abs(left - index * 80) < 8);
});

/** Seven points of a digit, one in each segment: top, right, right, bottom, left, left, middle. */
const points = [
  [80, 16],
  [144, 80],
  [144, 240],
  [80, 304],
  [16, 240],
  [16, 80],
  [80, 160],
] as const;
const digits = '1111110 0110000 1101101 1111001 0110011 1011011 1011111 1110000 1111111 1111011';

test('a source counts its seconds in digits that can be read, on colours that change', async () => {
  const frames = await pictures(await sourceOf('count'), 5);
  assert.equal(frames.length, 20);
  const background = (frame: Buffer) => frame[10 * 1_280 + 10];
  for (const [index, frame] of frames.entries()) {
    const second = Math.floor(index / 2);
    const lights = points.map(([x, y]) => frame[(200 + y) * 1_280 + 560 + x] ?? 0);
    const read = lights.map((light) => (light > 200 ? '1' : '0')).join('');
    assert.equal(read, digits.split(' ')[second], `at second ${index / 2}`);
    if (index % 2 === 1) assert.equal(background(frame), background(frames[index - 1] ?? frame));
  }
  const shades = new Set(frames.map(background));
  assert.ok(shades.size >= 8, `${shades.size} shades`);
});

test('sources without sound, with their index at the end, tall, and long', async () => {
  const names = (bytes: Buffer) => ({
    moov: bytes.indexOf('moov'),
    mdat: bytes.indexOf('mdat'),
    sound: bytes.includes('mp4a'),
  });
  const count = names(await sourceOf('count'));
  assert.ok(count.moov < count.mdat && count.sound);
  const last = names(await sourceOf('moov-last'));
  assert.ok(last.moov > last.mdat && last.sound);
  assert.equal(names(await sourceOf('silent')).sound, false);
  assert.equal((await pictures(await sourceOf('count-3'), 1)).length, 30);
});

test('sources that lie, lead elsewhere, or break off', async () => {
  assert.match(String(await sourceOf('playlist')), /^#EXTM3U/);
  assert.match(String(await sourceOf('concat')), /^ffconcat/);
  assert.match(String(await sourceOf('html')), /^<!doctype html>/);
  assert.match(String(await sourceOf('dash')), /<MPD/);
  assert.equal((await sourceOf('empty')).length, 0);
  const streams = await sourceOf('streams');
  assert.equal(streams.toString('latin1').split('trak').length - 1, 10_000);
  const led = async (path: string) => {
    const reply = await fetch(`${origin}/sim/source/${path}`, { redirect: 'manual' });
    return [reply.status, reply.headers.get('location')];
  };
  assert.deepEqual(await led('redirect-2.mp4'), [302, '/sim/source/redirect-1.mp4']);
  assert.deepEqual(await led('redirect-1.mp4'), [302, '/sim/source/count.mp4']);
  assert.deepEqual(await led('loop.mp4'), [302, `${origin}/sim/source/loop.mp4`]);
  const target = 'http://169.254.169.254/latest';
  const asked = `redirect-to.mp4?url=${encodeURIComponent(target)}`;
  assert.deepEqual(await led(asked), [302, target]);
  for (const name of ['gone', 'redirect-999', 'count-0', 'toString', 'other']) {
    assert.equal((await fetch(`${origin}/sim/source/${name}.mp4`)).status, 404, name);
  }
  await assert.rejects(sourceOf('cut'));
});

test('sources without an end: endless, of 2 GiB, silent, and slow', async () => {
  const begun = async (name: string, bytes: number) => {
    const controller = new AbortController();
    const { signal } = controller;
    const reply = await fetch(`${origin}/sim/source/${name}.mp4`, { signal });
    const reader = (reply.body ?? assert.fail()).getReader();
    let length = 0;
    while (length < bytes) length += (await reader.read()).value?.length ?? assert.fail(name);
    controller.abort();
    return reply.headers.get('content-length');
  };
  assert.equal(await begun('endless', 5_000_000), null);
  assert.equal(await begun('huge', 5_000_000), String(2 ** 31));
  const whole = (await sourceOf('count')).length;
  assert.equal(await begun('stall', Math.floor(whole / 2)), String(whole));
  const startedMs = performance.now();
  await begun('slow', 10_000);
  assert.ok(performance.now() - startedMs > 200, '256 kbit/s');
});
