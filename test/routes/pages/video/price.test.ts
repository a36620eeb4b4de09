// What the page /video says of a price before anything is sent, and how it writes things.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Once } from '../../../../routes/pages/video/browser/account.ts';
import {
  defaultSeconds,
  rateOf,
  secondsOf,
  videoModels,
} from '../../../../routes/pages/video/browser/price.ts';
import {
  clockText,
  creditsText,
  spanText,
  stateText,
  titleOf,
} from '../../../../routes/pages/video/browser/text.ts';
import type { Job, ModelEntry } from '../../../../routes/pages/video/browser/wire.ts';

const model: ModelEntry = {
  alias: 'one',
  display_name: 'One',
  available: true,
  capabilities: ['video'],
  credits_per_million_input: null,
  credits_per_million_output: null,
  credits_per_second_of_video: 10,
  video_rates: [
    { resolution: '720p', audio: false, credits_per_second_of_video: 8 },
    { resolution: '1080p', credits_per_second_of_video: 30 },
    { resolution: '1080p', audio: false, credits_per_second_of_video: 25 },
  ],
  video: {
    durations: [8, 4, 6],
    resolutions: { '720p': {}, '1080p': { durations: [8] } },
    aspect_ratios: ['16:9'],
    audio: 'optional',
    seed: true,
  },
};

test('the most specific row is the rate, then that of resolution, then of model', () => {
  assert.equal(rateOf(model, '720p', true), 10);
  assert.equal(rateOf(model, '720p', false), 8);
  assert.equal(rateOf(model, '1080p', true), 30);
  assert.equal(rateOf(model, '1080p', false), 25);
  const { credits_per_second_of_video: _rate, ...free } = model;
  assert.equal(rateOf(free, '720p', true), null, 'no rate is no price of nothing');
});

test('lengths are those of the model that its resolution allows', () => {
  const { video } = model;
  assert.ok(video !== undefined);
  assert.deepEqual(secondsOf(video, '720p'), [4, 6, 8]);
  assert.deepEqual(secondsOf(video, '1080p'), [8]);
  const ranged = { ...video, durations: { min: 4, max: 7 } };
  assert.deepEqual(secondsOf(ranged, '720p'), [4, 5, 6, 7]);
  assert.equal(defaultSeconds([4, 5, 6]), 5);
  assert.equal(defaultSeconds([4, 6, 8]), 8);
});

test('the route that chooses is offered first, and nothing that cannot be asked', () => {
  const managed = { ...model, alias: 'svc-video' };
  const away = { ...model, alias: 'away', available: false };
  const { video: _abilities, ...chat } = { ...model, alias: 'chat' };
  const offered = videoModels([model, away, chat, managed]).map(({ alias }) => alias);
  assert.deepEqual(offered, ['svc-video', 'one']);
});

test('times, amounts and titles are short, and round without a seam', () => {
  assert.equal(clockText(0), '0:00');
  assert.equal(clockText(65.25), '1:05.3');
  assert.equal(clockText(59.96), '1:00');
  assert.equal(spanText(0, 2.5), '0:00–0:02.5');
  assert.equal(spanText(1.2, 1.22), '0:01.2', 'one frame is a moment');
  assert.equal(creditsText(1), '1 credit');
  assert.equal(creditsText(1_234.5), '1,234.5 credits');
  assert.equal(titleOf({ prompt: ' a\n\tboat ' }), 'a boat');
  const long = titleOf({ prompt: '🚣'.repeat(100) });
  assert.equal([...long].length, 80);
  assert.ok(long.endsWith('🚣…'));
});

test('what ended without a video says that it was free, once', () => {
  const job = { status: 'failed', error_message: 'Lost. Nothing is charged.' } as Job;
  assert.equal(stateText(job), 'Lost. Nothing is charged.');
  assert.equal(stateText({ ...job, error_message: 'Lost.' }), 'Lost. Nothing was charged.');
  assert.equal(stateText({ ...job, status: 'cancelled' }), 'Cancelled. Nothing was charged.');
  const running = { status: 'running', progress: 41.9 } as Job;
  assert.equal(stateText(running), 'Being made · 41 %');
  assert.match(stateText({ ...running, phase: 'finalizing' }), /^Made\. Being checked/);
});

test('a request keeps its idempotency key until it is answered', () => {
  const once = new Once();
  const first = once.keyFor('{"a":1}');
  assert.match(first, /^page-[0-9a-f]{32}$/);
  assert.equal(once.keyFor('{"a":1}'), first);
  assert.notEqual(once.keyFor('{"a":2}'), first, 'another request has another');
  const second = once.keyFor('{"a":2}');
  once.done();
  assert.notEqual(once.keyFor('{"a":2}'), second, 'the same again is meant again');
});
