// Who may make a video: which models can, which of them is first, and what each would cost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import type { Catalog } from '../../../actors/catalog/current.ts';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import {
  type Asked,
  chooseCandidates,
  lengthFor,
  type RouteView,
} from '../../../actors/video/candidates.ts';
import type { VideoSettings } from '../../../media/model/video.ts';

const ratios = ['16:9', '9:16'];

function model(alias: string, over: object = {}) {
  return {
    alias,
    kind: 'video',
    routes: [{ provider: 'maker', upstream_model: alias }],
    price: { per_second_of_video: '0.10' },
    video: {
      durations: { min: 4, max: 12 },
      resolutions: { '720p': {}, '1080p': { durations: [8] } },
      aspect_ratios: ratios,
      audio: 'optional',
      seed: true,
    },
    ...over,
  };
}

function catalogOf(models: object[], pool: object[]): Catalog {
  const document = v.parse(catalogDocumentSchema, {
    providers: [{ name: 'maker', family: 'xai-imagine', base_url: 'http://maker.example/v1' }],
    models,
    routes: [{ alias: 'svc-video', kind: 'video', pool }],
  });
  const snapshot = buildSnapshot(document, () => 0);
  return {
    snapshot,
    models: new Map(snapshot.models.map((each) => [each.alias, each])),
    routes: new Map(snapshot.routes.map((each) => [each.alias, each])),
    clients: new Map(),
  };
}

const known: RouteView = { allows: () => true, successRate: () => 1, medianMs: () => null };
const managed: Asked = { exact: null, durationSeconds: 5, sticky: null };
const settings: VideoSettings = {
  prompt: 'A boat',
  durationSeconds: 5,
  aspectRatio: '16:9',
  resolution: '720p',
  generateAudio: true,
  seed: null,
};

function namesOf(
  catalog: Catalog,
  asked: Partial<Asked> = {},
  wanted: Partial<VideoSettings> = {},
  view: Partial<RouteView> = {},
): string[] | string {
  const given = { ...settings, ...wanted };
  const choice = chooseCandidates(catalog, { ...managed, ...asked }, given, { ...known, ...view });
  if (choice.ok) return choice.candidates.map(({ alias }) => alias);
  return choice.reason === 'unable' ? `unable: ${choice.member}` : choice.reason;
}

const cheap = model('cheap', { price: { per_second_of_video: '0.05' } });
const dear = model('dear', { price: { per_second_of_video: '0.40' } });
const weak = model('weak', { price: { per_second_of_video: '0.01' } });
const all = catalogOf(
  [dear, cheap, weak],
  [
    { model: 'dear', quality: 90 },
    { model: 'cheap', quality: 86 },
    { model: 'weak', quality: 50 },
  ],
);

test('of those within 5 points of the best the cheapest is first, the others follow', () => {
  assert.deepEqual(namesOf(all), ['cheap', 'dear', 'weak']);
});

test('a conversation stays with its model while that is able', () => {
  assert.deepEqual(namesOf(all, { sticky: 'weak' }), ['weak', 'cheap', 'dear']);
  assert.deepEqual(namesOf(all, { sticky: 'gone' }), ['cheap', 'dear', 'weak']);
});

test('at equal prices who succeeds more often is first, then who is quicker', () => {
  const pool = ['one', 'two', 'three'].map((name) => ({ model: name, quality: 50 }));
  const equal = catalogOf(
    pool.map(({ model: name }) => model(name)),
    pool,
  );
  const successRate = (routeId: string) => (routeId === 'maker/one' ? 0.5 : 1);
  const medianMs = (routeId: string) => (routeId === 'maker/two' ? 20_000 : 10_000);
  assert.deepEqual(namesOf(equal, {}, {}, { successRate, medianMs }), ['three', 'two', 'one']);
});

test('a breaker that is open leaves its route out; all of them are no route', () => {
  const allows = (routeId: string) => routeId !== 'maker/cheap';
  assert.deepEqual(namesOf(all, {}, {}, { allows }), ['dear', 'weak']);
  assert.equal(namesOf(all, {}, {}, { allows: () => false }), 'unavailable');
});

test('the member that excluded the last one is named', () => {
  assert.equal(namesOf(all, {}, { durationSeconds: 20 }), 'unable: duration_seconds');
  assert.equal(namesOf(all, {}, { resolution: '1080p' }), 'unable: duration_seconds');
  assert.equal(namesOf(all, {}, { aspectRatio: '21:9' }), 'unable: aspect_ratio');
  const silent = model('silent', { video: { ...model('').video, audio: 'never' } });
  const only = catalogOf([silent], [{ model: 'silent' }]);
  assert.equal(namesOf(only), 'unable: generate_audio');
  assert.deepEqual(namesOf(only, {}, { generateAudio: false }), ['silent']);
});

test('an exact model is asked alone; one that is none of videos is unknown', () => {
  assert.deepEqual(namesOf(all, { exact: 'dear' }), ['dear']);
  assert.equal(namesOf(all, { exact: 'svc-sim-chat' }), 'unknown_model');
});

test('the price is length by rate by credits by 1.05, with and without sound', () => {
  const rates = [
    { resolution: '720p', per_second_of_video: '0.20' },
    { resolution: '720p', audio: false, per_second_of_video: '0.15' },
  ];
  const rated = model('rated', { price: { per_second_of_video: '1', video_rates: rates } });
  const catalog = catalogOf([rated], [{ model: 'rated' }]);
  const choice = chooseCandidates(catalog, managed, settings, known);
  assert.ok(choice.ok);
  const [{ charge, silentCharge } = { charge: '', silentCharge: '' }] = choice.candidates;
  assert.equal(charge, '105000000');
  assert.equal(silentCharge, '78750000');
});

test('no length given: 8 for vendorB, else 5, else what the best one makes', () => {
  const asked = (exact: string | null) => ({ ...managed, exact, durationSeconds: null });
  assert.equal(lengthFor(all, asked('vendorB-3.1-fast-generate-preview')), 8);
  assert.equal(lengthFor(all, asked('cheap')), 5);
  assert.equal(lengthFor(all, asked(null)), 5);
  const long = { ...model('').video, durations: { min: 10, max: 20 }, resolutions: { '720p': {} } };
  const steps = { ...long, durations: [6, 12] };
  const others = catalogOf(
    [model('long', { video: long }), model('steps', { video: steps })],
    [
      { model: 'long', quality: 60 },
      { model: 'steps', quality: 40 },
    ],
  );
  assert.equal(lengthFor(others, asked(null)), 10);
  assert.equal(lengthFor(others, asked('steps')), 12);
});
