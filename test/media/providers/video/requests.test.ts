// Submissions, polls and lists as each vendor takes them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type VideoRatio,
  type VideoResolution,
  videoRatios,
} from '../../../../media/model/video.ts';
import type { VideoCall } from '../../../../media/providers/video/contract.ts';
import { requireVideoFamily } from '../../../../media/providers/video/families.ts';
import { settings, targetOf } from './replies.ts';

const veo = requireVideoFamily('google-veo');
const imagine = requireVideoFamily('xai-imagine');
const videos = requireVideoFamily('openai-videos');
const silent = { ...settings, generateAudio: false, aspectRatio: 'adaptive', seed: null } as const;

async function formOf({ headers, body }: VideoCall): Promise<Record<string, unknown>> {
  const form = await new Response(body, {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData();
  return Object.fromEntries(form);
}

test('veo is asked for an operation, without a seed and without an audio switch', () => {
  const target = {
    ...targetOf('google-veo', 'https://g.example.com/v1beta/'),
    upstreamModel: 'veo',
  };
  const call = veo.encodeSubmit(settings, target, 'vjob_1');
  assert.equal(call.method, 'POST');
  assert.equal(call.url, 'https://g.example.com/v1beta/models/veo:predictLongRunning');
  assert.equal(call.headers['x-goog-api-key'], 'secret');
  assert.equal(call.headers['idempotency-key'], 'vjob_1');
  const { prompt } = settings;
  assert.deepEqual(JSON.parse(call.body), {
    instances: [{ prompt }],
    parameters: { durationSeconds: 8, resolution: '720p', aspectRatio: '16:9' },
  });
  assert.deepEqual(JSON.parse(veo.encodeSubmit(silent, target, 'vjob_1').body), {
    instances: [{ prompt }],
    parameters: { durationSeconds: 8, resolution: '720p' },
  });
  const poll = veo.encodePoll('models/veo/operations/a b', target);
  assert.equal(poll.url, 'https://g.example.com/v1beta/models/veo/operations/a%20b');
  assert.deepEqual([poll.method, poll.body], ['GET', '']);
  assert.equal(veo.list, null);
});

test('imagine is asked with a bearer token, and sound is switched off alone', () => {
  const target = targetOf('xai-imagine');
  const call = imagine.encodeSubmit(settings, target, 'vjob_1');
  assert.equal(call.url, 'https://api.example.com/v1/videos/generations');
  assert.equal(call.headers.authorization, 'Bearer secret');
  assert.deepEqual(JSON.parse(call.body), {
    model: 'upstream-model',
    prompt: settings.prompt,
    duration: 8,
    resolution: '720p',
    aspect_ratio: '16:9',
  });
  assert.deepEqual(JSON.parse(imagine.encodeSubmit(silent, target, 'vjob_1').body), {
    model: 'upstream-model',
    prompt: settings.prompt,
    duration: 8,
    resolution: '720p',
    generate_audio: false,
  });
  const poll = imagine.encodePoll('a/b?c', { ...target, apiKey: null });
  assert.equal(poll.url, 'https://api.example.com/v1/videos/a%2Fb%3Fc');
  assert.equal(poll.headers.authorization, undefined);
});

test('videos are asked for in a form that others can read', async () => {
  const target = targetOf('openai-videos');
  const call = videos.encodeSubmit(settings, target, 'vjob_1');
  assert.equal(call.url, 'https://api.example.com/v1/videos');
  assert.equal(call.headers['idempotency-key'], 'vjob_1');
  assert.deepEqual(await formOf(call), {
    model: 'upstream-model',
    prompt: settings.prompt,
    seconds: '8',
    size: '1280x720',
    seed: '4294967295',
    generate_sound: 'true',
  });
  assert.deepEqual(await formOf(videos.encodeSubmit(silent, target, 'vjob_1')), {
    model: 'upstream-model',
    prompt: settings.prompt,
    seconds: '8',
  });
  assert.equal(videos.encodePoll('v/1', target).url, 'https://api.example.com/v1/videos/v%2F1');
});

test('a size is what ratio and resolution stand for', async () => {
  const expected: Record<VideoRatio, Record<VideoResolution, string | undefined>> = {
    adaptive: { '720p': undefined, '1080p': undefined },
    '16:9': { '720p': '1280x720', '1080p': '1920x1080' },
    '4:3': { '720p': '960x720', '1080p': '1440x1080' },
    '1:1': { '720p': '720x720', '1080p': '1080x1080' },
    '3:4': { '720p': '720x960', '1080p': '1080x1440' },
    '9:16': { '720p': '720x1280', '1080p': '1080x1920' },
    '21:9': { '720p': '1680x720', '1080p': '2520x1080' },
  };
  for (const aspectRatio of videoRatios) {
    for (const resolution of ['720p', '1080p'] as const) {
      const asked = { ...settings, aspectRatio, resolution };
      const call = videos.encodeSubmit(asked, targetOf('openai-videos'), 'vjob_1');
      assert.equal((await formOf(call)).size, expected[aspectRatio][resolution]);
    }
  }
});
