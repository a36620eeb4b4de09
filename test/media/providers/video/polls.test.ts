// What replies to polls mean, and which of a server's jobs is ours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  requireVideoFamily,
  videoFamilyNames,
} from '../../../../media/providers/video/families.ts';
import { replyOf, settings, targetOf } from './replies.ts';

const veo = requireVideoFamily('google-veo');
const imagine = requireVideoFamily('xai-imagine');
const videos = requireVideoFamily('openai-videos');
const name = 'models/m/operations/o';

const unclear = { kind: 'unclear', retryAfterMs: null };
const failed = (code: string, costTicks: number | null = null) => ({
  kind: 'failed',
  code,
  costTicks,
});
const running = (progress: number | null = null) => ({ kind: 'running', progress });

function readVeo(body: unknown, status = 200) {
  const target = targetOf('google-veo', 'https://g.example.com/v1beta');
  return veo.readPoll(replyOf(status, body), name, target);
}

function readImagine(body: unknown, status = 200) {
  return imagine.readPoll(replyOf(status, body), 'r', targetOf('xai-imagine'));
}

function readVideos(body: unknown, status = 200) {
  return videos.readPoll(replyOf(status, body), 'v', targetOf('openai-videos'));
}

for (const family of videoFamilyNames.map(requireVideoFamily)) {
  test(`${family.name}: a reply that is not 2xx says nothing but lost, denied or wait`, () => {
    const read = (status: number, body: unknown = '<html>') =>
      family.readPoll(replyOf(status, body, { 'retry-after': '9' }), 'x', targetOf(family.name));
    for (const status of [404, 410]) assert.deepEqual(read(status), { kind: 'lost' });
    for (const status of [401, 403]) assert.deepEqual(read(status), { kind: 'denied' });
    for (const status of [302, 400, 408, 409, 422, 429, 500, 502, 503, 504, 529]) {
      assert.deepEqual(read(status), { kind: 'unclear', retryAfterMs: 9_000 }, String(status));
    }
    const error = 'Generated video rejected by content moderation.';
    const bodies = [{ error: { code: 400, message: error } }, { code: 'x', error }];
    const said = bodies.map((body) => read(400, body).kind);
    assert.ok(said.includes('failed'), 'moderation ends a job with 400 as well');
    assert.deepEqual(read(500, bodies[0]).kind, 'unclear');
    for (const nonsense of ['', '<html>', '[]', 'null', '7', '{"id":', '{}']) {
      assert.deepEqual(read(200, nonsense), unclear, nonsense);
    }
  });
}

test('veo: an operation runs, is done with a file, or is done without one', () => {
  assert.deepEqual(readVeo({ name }), running());
  assert.deepEqual(readVeo({ name, done: false, metadata: {} }), running());
  assert.deepEqual(readVeo({ name: 'models/m/operations/other', done: true }), unclear);
  const done = (generateVideoResponse: unknown) =>
    readVeo({ name, done: true, response: { generateVideoResponse } });
  const own = 'https://g.example.com/v1beta/files/f:download';
  assert.deepEqual(done({ generatedSamples: [{ video: { uri: `${own}?alt=media` } }] }), {
    kind: 'done',
    file: { url: `${own}?alt=media`, credentials: { 'x-goog-api-key': 'secret' } },
    usage: null,
    costTicks: null,
  });
  const elsewhere = done({ generatedSamples: [{}, { video: { uri: 'https://a.example.com/f' } }] });
  assert.deepEqual(elsewhere.kind === 'done' && elsewhere.file, {
    url: 'https://a.example.com/f?alt=media',
    credentials: {},
  });
  const filtered = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['no'] };
  for (const without of [filtered, { generatedSamples: [] }, {}, undefined]) {
    assert.deepEqual(done(without), failed('moderation_blocked'));
  }
  for (const uri of ['file:///etc/passwd', 'no', 7, undefined]) {
    assert.deepEqual(done({ generatedSamples: [{ video: { uri } }] }), failed('provider_failed'));
  }
});

test('veo: an error of an operation is told by its code and words', () => {
  const error = (code: number, message: string) =>
    readVeo({ name, done: true, error: { code, message } });
  assert.deepEqual(error(13, 'Internal'), failed('provider_failed'));
  assert.deepEqual(error(3, 'duration is wrong'), failed('provider_rejected'));
  const words = "The prompt violates Google's Responsible AI practices.";
  assert.deepEqual(error(3, words), failed('moderation_blocked'));
});

test('imagine: the status may be missing, and a failure is a 200', () => {
  const video = { url: 'https://vidgen.example.com/v.mp4', duration: 8, respect_moderation: true };
  const file = { url: video.url, credentials: {} };
  const done = { kind: 'done', file, usage: null, costTicks: null };
  assert.deepEqual(readImagine({ status: 'pending', progress: 40 }, 202), running(40));
  assert.deepEqual(readImagine({ status: 'pending', progress: 0.4 }), running(40));
  assert.deepEqual(readImagine({ status: 'pending', progress: 1 }), running(1));
  assert.deepEqual(readImagine({ status: 'pending', video: {} }), running());
  assert.deepEqual(readImagine('', 202), running());
  assert.deepEqual(readImagine({ progress: 5 }, 202), running());
  assert.deepEqual(readImagine({ video, model: 'm' }), done);
  const costly = { status: 'done', video, usage: { cost_in_usd_ticks: 500_000_000 } };
  assert.deepEqual(readImagine(costly), { ...done, costTicks: 500_000_000 });
  const stored = { file_output: { public_url: video.url } };
  assert.deepEqual(readImagine({ status: 'done', video: stored }), done);
  const moderated = { ...costly, video: { ...video, respect_moderation: false } };
  assert.deepEqual(readImagine(moderated), failed('moderation_blocked', 500_000_000));
  assert.deepEqual(readImagine({ status: 'done', video: {} }), failed('provider_failed'));
  assert.deepEqual(readImagine({ status: 'expired' }), failed('provider_failed'));
  const error = { code: 'internal_error', message: 'no' };
  assert.deepEqual(readImagine({ status: 'failed', error }), failed('provider_failed'));
  assert.deepEqual(readImagine({ error }), failed('provider_failed'));
  const invalid = { code: 'Client specified an invalid argument', error: 'no' };
  assert.deepEqual(readImagine(invalid), failed('provider_rejected'));
  const blocked = { ...invalid, error: 'Generated video rejected by content moderation.' };
  assert.deepEqual(readImagine(blocked), failed('moderation_blocked'));
  assert.deepEqual(readImagine(blocked, 400), failed('moderation_blocked'));
  for (const ticks of [-1, 1e30, '5', Number.NaN]) {
    const odd = { ...costly, usage: { cost_in_usd_ticks: ticks } };
    assert.deepEqual(readImagine(odd), done);
  }
});

test('videos: a job runs, is completed below its own address, or has failed', () => {
  const job = { id: 'v', object: 'video' };
  assert.deepEqual(readVideos({ ...job, status: 'queued', progress: 0 }), running(0));
  assert.deepEqual(readVideos({ ...job, status: 'in_progress', progress: 33 }), running(33));
  assert.deepEqual(readVideos({ ...job, status: 'in_progress', progress: 'x' }), running());
  assert.deepEqual(readVideos({ ...job, id: 'other', status: 'completed' }), unclear);
  const usage = { completion_tokens: 5, total_tokens: 7 };
  assert.deepEqual(readVideos({ ...job, status: 'completed', usage }), {
    kind: 'done',
    file: {
      url: 'https://api.example.com/v1/videos/v/content',
      credentials: { authorization: 'Bearer secret' },
    },
    usage: { completionTokens: 5, totalTokens: 7 },
    costTicks: null,
  });
  const error = { code: 'moderation_blocked', message: 'no' };
  assert.deepEqual(readVideos({ ...job, status: 'failed', error }), failed('moderation_blocked'));
  const odd = { ...job, status: 'failed', error: { message: 'out of memory' } };
  assert.deepEqual(readVideos(odd), failed('provider_failed'));
  for (const status of ['failed', 'cancelled', 'expired', 'deleted']) {
    assert.deepEqual(readVideos({ ...job, status, error: null }), failed('provider_failed'));
  }
});

test('videos: of a list those are told that have model, prompt, seconds and size of ours', () => {
  const ours = {
    id: 'v1',
    created_at: 1_790_000_000,
    model: 'upstream-model',
    prompt: settings.prompt,
    seconds: '8',
    size: '1280x720',
  };
  const { list } = videos;
  assert.ok(list !== null);
  const target = targetOf('openai-videos');
  assert.equal(list.encode(target).url, 'https://api.example.com/v1/videos?limit=20&order=desc');
  const others = [
    { model: 'other' },
    { prompt: 'other' },
    { prompt: undefined },
    { seconds: '4' },
    { size: '720x1280' },
  ].map((changes, index) => ({ ...ours, ...changes, id: `other${index}` }));
  const data = [
    ours,
    { ...ours, id: 'v2', seconds: 8 },
    ...others,
    null,
    {},
    { ...ours, id: '..' },
  ];
  const read = (body: unknown, asked = settings, status = 200) =>
    list.read(replyOf(status, body), asked, target);
  const found = read({ object: 'list', data }) ?? assert.fail();
  assert.deepEqual(found[0], { upstreamId: 'v1', createdAtMs: 1_790_000_000_000, matches: true });
  assert.equal(found.length, 2 + others.length);
  assert.deepEqual(
    found.filter(({ matches }) => matches).map(({ upstreamId }) => upstreamId),
    ['v1', 'v2'],
  );
  const adaptive = read(
    { data: [{ ...ours, size: '5x5' }] },
    { ...settings, aspectRatio: 'adaptive' },
  );
  assert.equal(adaptive?.[0]?.matches, true);
  for (const nonsense of ['', '[]', '{}', { data: {} }]) assert.equal(read(nonsense), null);
  assert.equal(read({ data }, settings, 500), null);
});
