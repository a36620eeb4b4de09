// Surfaces of the catalog: their prices and ages, and who serves them in which order. Each
// contradiction is a fault with its path.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema, surfaceSchema } from '../../../actors/catalog/document.ts';
import { documentFaults, faultLine } from '../../../actors/catalog/faults.ts';
import { everyRouteOf, movedRoutes } from '../../../actors/catalog/moved.ts';
import type { PlanItem } from '../../../actors/catalog/plan.ts';
import { planLines } from '../../../actors/catalog/plan-lines.ts';
import { buildSnapshot, type CatalogSnapshot } from '../../../actors/catalog/snapshot.ts';
import { creditsText, publicSurface } from '../../../actors/catalog/surface/build.ts';
import { surfaceOf, webSearchOf } from '../../../actors/catalog/surface.ts';
import { warnOfSurfaces } from '../../../runtime/composition/warnings.ts';

type Members = Record<string, unknown>;

const base_url = 'http://127.0.0.1:9';
const providers = [
  { name: 'text', family: 'openai-chat', base_url },
  { name: 'one', family: 'serper', base_url, api_key: 'the-credential' },
  { name: 'two', family: 'searxng', base_url: `${base_url}/two` },
  { name: 'off', family: 'serper', base_url, enabled: false },
];
const chat = {
  alias: 'chat',
  routes: [{ provider: 'text', upstream_model: 'c' }],
  price: { input_per_million: '1', output_per_million: '2' },
};
const hear = {
  alias: 'hear',
  kind: 'transcription',
  routes: [{ provider: 'sound', upstream_model: 'h' }],
  price: { per_audio_minute: '0.006' },
};
const sound = { name: 'sound', family: 'openai-audio', base_url };

function documentOf(surfaces: readonly Members[], more: Members = {}) {
  const named = surfaces.map((each) => ({ display_name: 'A surface', ...each }));
  const members = { providers: [...providers, sound], models: [chat, hear], surfaces: named };
  return v.parse(catalogDocumentSchema, { ...members, ...more });
}

const snapshotOf = (surfaces: readonly Members[], more: Members = {}): CatalogSnapshot =>
  buildSnapshot(documentOf(surfaces, more), () => 0);

function surfaceIn(members: Members, more: Members = {}) {
  const surface = surfaceOf(snapshotOf([members], more), String(members.name));
  assert.ok(surface !== null);
  return surface;
}

const faultsOf = (...surfaces: Members[]) => documentFaults(documentOf(surfaces)).map(faultLine);
const places = (surface: { targets: readonly { upstream: { routeId: string } }[] } | null) =>
  surface?.targets.map(({ upstream }) => upstream.routeId);

const one = { provider: 'one' };
const priced = { price: { credits_per_query: '1' } };

test('the price is that of a query, else that of a search in credits, rounded up', () => {
  const priceOf = (price: Members | undefined, credits_per_usd = 100) =>
    surfaceIn({ name: 'web_search', provider: 'one', price }, { credits_per_usd }).priceMicros;
  assert.equal(priceOf({ credits_per_query: '1.500001' }), 1_500_001n);
  assert.equal(priceOf({ credits_per_query: 0.25 }), 250_000n);
  assert.equal(priceOf({ credits_per_query: '0', per_search_call: '1' }), 0n);
  assert.equal(priceOf({ credits_per_query: '2', per_search_call: '1' }, 7), 2_000_000n);
  assert.equal(priceOf({ per_search_call: '0.001' }), 100_000n);
  assert.equal(priceOf({ per_search_call: '0.000000000001' }, 1), 1n, 'never for nothing');
  assert.equal(priceOf({ per_search_call: '0.000000010001' }, 100), 2n, 'rounded up');
  assert.equal(priceOf({}), null);
  assert.equal(priceOf(undefined), null);
  for (const [text, credits] of [
    ['1', 1_000_000n],
    ['0.000001', 1n],
    ['12.05', 12_050_000n],
    ['0', 0n],
  ] as const) {
    assert.equal(creditsText(credits), text);
  }
});

test('a price of a query has six places, an age a day at most', () => {
  const isGood = (members: Members) =>
    v.safeParse(surfaceSchema, { name: 'web_search', display_name: 'x', ...members }).success;
  assert.ok(isGood({ price: { credits_per_query: '0.000001' } }));
  assert.ok(!isGood({ price: { credits_per_query: '0.0000001' } }));
  assert.ok(!isGood({ price: { credits_per_query: '-1' } }));
  assert.ok(!isGood({ price: { credits_per_query: 1e-7 } }));
  assert.ok(isGood({ cache: { max_age_seconds: 86_400, scope: 'shared' } }));
  assert.ok(!isGood({ cache: { max_age_seconds: 86_401 } }));
  assert.ok(!isGood({ targets: [] }));
  assert.ok(!isGood({ targets: Array.from({ length: 6 }, () => one) }));
  const canary = { query: 'x', expect_host: 'example.com', every_minutes: 5 };
  assert.ok(isGood({ canary: { ...canary, params: { gl: 'us', include_domains: ['a.com'] } } }));
  for (const wrong of [
    { every_minutes: 0 },
    { every_minutes: 10_081 },
    { every_minutes: 1.5 },
    { expect_host: 'https://example.com' },
    { expect_host: 'Example.com' },
    { query: '' },
    { query: 'x'.repeat(2_001) },
    { params: { '1x': 'y' } },
    { params: { gl: { country: 'us' } } },
    { unknown: 1 },
  ]) {
    assert.ok(!isGood({ canary: { ...canary, ...wrong } }), JSON.stringify(wrong).slice(0, 60));
  }
});

test('targets are in the order of the record, and a disabled provider is none', () => {
  const targets = [{ provider: 'two', cost_usd: '0.001' }, { provider: 'off' }, one];
  const surface = surfaceIn({ name: 'web_search', targets, ...priced });
  assert.deepEqual(places(surface), ['two/web_search', 'one/web_search']);
  assert.deepEqual(
    surface.targets.map(({ costMicros }) => costMicros),
    [100_000n, 0n],
  );
  assert.deepEqual(places(surfaceIn({ name: 'web_search', provider: 'one' })), ['one/web_search']);
  assert.deepEqual(places(surfaceIn({ name: 'web_search', provider: 'off' })), []);
});

test('an answer is made of another surface’s results: its targets are those of that one', () => {
  const answer = { name: 'web_answer', answer_model: 'chat', ...priced };
  const searches = [
    { name: 'web_search', provider: 'one' },
    { name: 'ai_search', targets: [{ provider: 'two' }], ...priced },
  ];
  const snapshot = snapshotOf([...searches, answer]);
  const usual = surfaceOf(snapshot, 'web_answer');
  assert.equal(usual?.searchSurface, 'web_search');
  assert.deepEqual(places(usual), ['one/web_search']);
  assert.equal(usual?.answerModel, 'chat');
  const other = snapshotOf([...searches, { ...answer, search_surface: 'ai_search' }]);
  assert.deepEqual(places(surfaceOf(other, 'web_answer')), ['two/ai_search']);
  const alone = snapshotOf([{ ...searches[0], enabled: false }, answer]);
  assert.deepEqual(places(surfaceOf(alone, 'web_answer')), []);
  assert.equal(everyRouteOf(snapshot).length, 4, 'two models, and each route of a search once');
});

test('ages are the surface’s own unless the record says otherwise', () => {
  const age = (name: string, cache?: Members) =>
    surfaceIn({ name, provider: 'one', cache }).maxAgeSeconds;
  assert.equal(age('engine_news'), 60);
  assert.equal(age('engine_scholar'), 86_400);
  assert.equal(age('engine_news', { max_age_seconds: 0 }), 0);
  assert.equal(age('anything'), 0);
  assert.equal(
    surfaceIn({ name: 'web_search', ...one, cache: { scope: 'shared' } }).isShared,
    true,
  );
});

test('a surface of another name is displayed, and nothing more', () => {
  const surface = surfaceIn({ name: 'notes', provider: 'one', ...priced });
  assert.equal(surface.kind, null);
  assert.deepEqual(surface.targets, []);
  const shown = { name: 'notes', displayName: 'A surface', kind: null };
  assert.deepEqual(publicSurface(surface), { ...shown, isOffered: false, price: null });
});

test('a provider alone without a price goes on serving models, and is not offered', () => {
  const record = { name: 'web_search', provider: 'one' };
  assert.deepEqual(faultsOf(record), []);
  const snapshot = snapshotOf([record]);
  assert.deepEqual(places(webSearchOf(snapshot)), ['one/web_search']);
  assert.equal(publicSurface(surfaceIn(record)).isOffered, false);
  assert.equal(publicSurface(surfaceIn({ ...record, ...priced })).isOffered, true);
  assert.equal(webSearchOf(snapshotOf([{ ...record, enabled: false }])), null);
  assert.equal(webSearchOf(snapshotOf([{ ...record, provider: 'off' }])), null);
});

test('a record of before stays good whatever its provider serves', () => {
  assert.deepEqual(faultsOf({ name: 'engine_flights', provider: 'one' }), []);
  assert.deepEqual(faultsOf({ name: 'web_answer', provider: 'one' }), []);
  assert.deepEqual(places(surfaceIn({ name: 'engine_flights', provider: 'one' })), []);
});

test('a model without a price for a search has the surface’s for one, not that of a query', () => {
  const searchMicros = (price: Members) => {
    const { models } = snapshotOf([{ name: 'web_search', provider: 'one', price }]);
    const card = models.find(({ alias }) => alias === 'chat')?.card;
    assert.ok(card !== undefined);
    return card.searchCall / card.denominator;
  };
  assert.equal(searchMicros({ per_search_call: '0.001', credits_per_query: '5' }), 100_000n);
  assert.equal(searchMicros({ credits_per_query: '5' }), 0n);
});

test('each contradiction is a fault with its path', () => {
  const web = { name: 'web_search', ...priced };
  const canary = { query: 'x', expect_host: 'example.com', every_minutes: 5 };
  for (const [record, path, words] of [
    [{ ...web, provider: 'nobody' }, 'provider', /no search provider "nobody"/],
    [{ ...web, provider: 'text' }, 'provider', /no search provider "text"/],
    [{ ...web, targets: [one, { provider: 'gone' }] }, 'targets[1].provider', /"gone"/],
    [{ ...web, targets: [one, one] }, 'targets[1].provider', /declared twice/],
    [{ ...web, provider: 'one', targets: [one] }, 'targets', /one of the two/],
    [{ ...web, name: 'engine_flights', targets: [one] }, 'targets[0].provider', /not serve/],
    [{ ...web, name: 'engine_flights', provider: 'one' }, 'provider', /not serve/],
    [{ name: 'web_search', targets: [one] }, 'price', /neither/],
    [{ name: 'web_search', targets: [one], price: {} }, 'price', /neither/],
    [{ ...web, answer_model: 'chat', ...one }, 'answer_model', /alone/],
    [{ ...web, name: 'ai_search', answer_model: 'none' }, 'answer_model', /no generation model/],
    [{ ...web, name: 'ai_search', answer_model: 'hear' }, 'answer_model', /no generation model/],
    [{ ...web, name: 'web_answer' }, 'answer_model', /no model/],
    [{ name: 'web_answer', answer_model: 'chat' }, 'price', /neither/],
    [
      { ...web, name: 'web_answer', answer_model: 'chat', targets: [one] },
      'targets[0].provider',
      /no provider serves it/,
    ],
    ...['web_answer', 'engine_images', 'notes'].map(
      (search_surface) =>
        [
          { ...web, name: 'web_answer', answer_model: 'chat', search_surface },
          'search_surface',
          /no surface of pages/,
        ] as const,
    ),
    [{ ...web, ...one, search_surface: 'ai_search' }, 'search_surface', /web_answer alone/],
    ...['engine_maps', 'engine_places', 'engine_routes'].map(
      (name) => [{ name, cache: { scope: 'shared' } }, 'cache.scope', /one account/] as const,
    ),
    [{ ...web, ...one, canary: { ...canary, query: '  ' } }, 'canary.query', /nothing/],
    [{ ...web, name: 'notes', canary }, 'canary', /displayed/],
    [{ ...web, name: 'engine_autocomplete', canary }, 'canary', /no host/],
  ] as const) {
    const faults = faultsOf(record);
    assert.equal(faults.length, 1, `${JSON.stringify(record)}: ${faults.join('; ')}`);
    assert.ok(faults[0]?.startsWith(`surfaces[0].${path}: `), `${path}: ${faults[0]}`);
    assert.match(String(faults[0]), words);
  }
});

test('what is sound has no fault', () => {
  assert.deepEqual(
    faultsOf(
      { name: 'web_search', targets: [one, { provider: 'two' }], ...priced },
      { name: 'engine_images', provider: 'two', price: { per_search_call: 0.001 } },
      { name: 'engine_news', provider: 'two', ...priced, cache: { scope: 'shared' } },
      { name: 'ai_search', targets: [{ provider: 'two' }], ...priced, answer_model: 'chat' },
      { name: 'web_answer', answer_model: 'chat', search_surface: 'ai_search', ...priced },
      { name: 'notes' },
    ),
    [],
  );
});

test('the version is another one where answers may be, and the same with another key', () => {
  const record = { name: 'web_search', targets: [one, { provider: 'two' }], ...priced };
  const { version } = surfaceIn(record);
  const withKey = providers.map((each) => ({ ...each, api_key: 'another' }));
  const { version: keyed } = surfaceIn(record, { providers: [...withKey, sound] });
  assert.equal(keyed, version);
  assert.equal(surfaceIn({ ...record, price: { credits_per_query: '9' } }).version, version);
  const turned = { ...record, targets: [{ provider: 'two' }, one] };
  assert.notEqual(surfaceIn(turned).version, version);
  const moved = providers.map((each) => ({ ...each, base_url: `${base_url}/moved` }));
  assert.notEqual(surfaceIn(record, { providers: [...moved, sound] }).version, version);
});

test('the content version follows what the public sees, and no secret', () => {
  const record = { name: 'web_search', targets: [one], ...priced };
  const version = (surface: Members, more: Members = {}) =>
    snapshotOf([surface], more).contentVersion;
  const before = version(record);
  const canary = { query: 'a secret', expect_host: 'example.com', every_minutes: 5 };
  assert.equal(version({ ...record, canary }), before);
  const withKey = providers.map((each) => ({ ...each, api_key: 'another' }));
  assert.equal(version(record, { providers: [...withKey, sound] }), before);
  assert.notEqual(version({ ...record, price: { credits_per_query: '2' } }), before);
  assert.notEqual(version({ ...record, targets: [{ provider: 'off' }] }), before);
  assert.notEqual(version({ ...record, display_name: 'Another' }), before);
});

test('the routes of every surface are forgotten when they lead elsewhere', () => {
  const surfaces = [
    { name: 'engine_news', targets: [one, { provider: 'two' }], ...priced },
    { name: 'engine_images', targets: [one], ...priced },
  ];
  const before = snapshotOf(surfaces);
  const other = providers.map((each) => (each.name === 'one' ? { ...each, api_key: 'k' } : each));
  const after = snapshotOf(surfaces, { providers: [...other, sound] });
  assert.deepEqual(movedRoutes(before, after).sort(), ['one/engine_images', 'one/engine_news']);
});

test('a start that tells both sides of a surface does not tell what its canary asks', () => {
  const sideOf = (query: string) => ({
    name: 'web_search',
    display_name: query,
    canary: { query, expect_host: 'example.com', every_minutes: 5 },
  });
  const item = {
    kind: 'surfaces',
    name: 'web_search',
    change: 'stands',
    source: 'file',
    overrules: false,
    members: ['display_name', 'canary'],
    before: sideOf('one'),
    after: sideOf('two'),
  } as unknown as PlanItem;
  const lines = planLines({ items: [item], creditsPerUsd: null });
  assert.ok(lines.includes('    canary: they differ'));
  assert.ok(lines.some((line) => line.includes('display_name: the file has "two"')));
});

test('the start warns of surfaces that serve models alone, and of no other', () => {
  const { surfaces } = snapshotOf([
    { name: 'web_search', provider: 'one' },
    { name: 'engine_news', provider: 'one', ...priced },
    { name: 'engine_images', provider: 'one', enabled: false },
    { name: 'engine_flights', provider: 'one' },
    { name: 'notes' },
  ]);
  const told: unknown[] = [];
  warnOfSurfaces(surfaces, { warn: (line: unknown) => told.push(line) });
  assert.deepEqual(told, ['the surface web_search is not offered for queries: it has no price']);
});
