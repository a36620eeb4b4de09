// Canaries at work: when they are due, whom they ask, what they tell, and what they keep to
// themselves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogSurface } from '../../../../actors/catalog/surface.ts';
import type { SurfaceStanding } from '../../../../actors/search/canary/standing.ts';
import { createCanaries } from '../../../../actors/search/canary/working.ts';
import type { SearchAsk, SearchItem, SearchOutcome } from '../../../../media/search/contract.ts';

const secretQuery = 'the query that nobody is told';
const apiKey = 'the key that nobody is told';
const minuteMs = 60_000;

function surfaceOf(more: Partial<CatalogSurface> = {}, places = ['a', 'b']): CatalogSurface {
  const { name = 'web_search' } = more;
  const targets = places.map((place) => ({
    upstream: { routeId: `${place}/${name}`, baseUrl: `http://${place}`, apiKey },
  }));
  return {
    name,
    version: '1',
    kind: 'web',
    searchSurface: name,
    targets,
    canary: { query: secretQuery, params: {}, expectHost: 'example.com', everyMinutes: 5 },
    ...more,
  } as unknown as CatalogSurface;
}

const found = (...urls: string[]): SearchOutcome => ({
  state: 'found',
  items: urls.map((url, index): SearchItem => ({ position: index + 1, title: 'A page', url })),
  related: [],
  dataJson: '{}',
  isTruncated: false,
  ignored: [],
});
const failed: SearchOutcome = { state: 'failed', retryAfterMs: null, detail: 'a provider: 500' };
const empty = found();
const good = found('https://www.example.com/page');
const other = found('https://example.org/', 'https://notexample.com/', 'https://example.com.evil/');

function stage(...surfaces: CatalogSurface[]) {
  const world = {
    surfaces,
    nowMs: 1_000_000,
    /** What each target answers, by route. */
    answers: new Map<string, SearchOutcome>(),
    asked: [] as { routeId: string; ask: SearchAsk }[],
    told: [] as SurfaceStanding[][],
    logged: [] as unknown[],
  };
  const note = (level: string) => (details: object, message: string) =>
    void world.logged.push([level, message, details]);
  const canaries = createCanaries({
    surfaces: () => world.surfaces,
    async askTarget({ routeId }, ask) {
      world.asked.push({ routeId, ask });
      return world.answers.get(routeId) ?? good;
    },
    bus: {
      async publish(_topic, payload) {
        world.told.push(payload as SurfaceStanding[]);
      },
    },
    clock: () => world.nowMs,
    log: { info: note('info'), warn: note('warn'), error: note('error') } as never,
  });
  const round = async (): Promise<string> => {
    await canaries.look();
    world.nowMs += 5 * minuteMs;
    return (world.told.at(-1) ?? [])
      .map(({ surface, standing }) => `${surface} ${standing}`)
      .join();
  };
  return { world, canaries, round };
}

test('a canary is asked when it is due, and at once where its surface is another one', async () => {
  const { world, canaries } = stage(surfaceOf());
  const asks = async (afterMs: number) => {
    world.nowMs += afterMs;
    world.asked.length = 0;
    await canaries.look();
    return world.asked.length;
  };
  assert.equal(await asks(0), 1, 'nothing is known of it');
  assert.equal(await asks(4 * minuteMs), 0);
  assert.equal(await asks(minuteMs), 1);
  assert.equal(await asks(0), 0);
  world.surfaces = [surfaceOf({ version: '2' })];
  assert.equal(await asks(0), 1, 'its targets are others');
  const [one] = surfaceOf().targets;
  const upstream = { ...one?.upstream, apiKey: 'a new one' };
  world.surfaces = [{ ...surfaceOf({ version: '2' }), targets: [{ ...one, upstream }] as never }];
  assert.equal(await asks(0), 1, 'the key may be a good one now');
  assert.equal(await asks(-60 * minuteMs), 1, 'the clock was set back');
  world.surfaces = [surfaceOf({ canary: null })];
  assert.equal(await asks(60 * minuteMs), 0);
  world.surfaces = [surfaceOf({}, [])];
  assert.equal(await asks(60 * minuteMs), 0, 'there is nobody to ask');
});

test('the targets are asked in their order until one has results', async () => {
  const { world, round } = stage(surfaceOf());
  world.answers.set('a/web_search', failed);
  assert.equal(await round(), '');
  const { asked } = world;
  assert.deepEqual(
    asked.map(({ routeId }) => routeId),
    ['a/web_search', 'b/web_search'],
  );
  assert.equal(asked[0]?.ask.query, secretQuery);
  assert.equal(asked[0]?.ask.surface, 'web_search');
});

test('an answer’s canary asks for what the answer would be made of', async () => {
  const surface = surfaceOf({ name: 'web_answer', kind: 'answer', searchSurface: 'ai_search' });
  const { world, round } = stage(surface);
  await round();
  assert.equal(world.asked[0]?.ask.surface, 'ai_search');
});

test('results without the host twice are degraded, none at all are unavailable', async () => {
  const { world, round } = stage(surfaceOf());
  world.answers.set('a/web_search', other);
  assert.equal(await round(), '');
  assert.equal(await round(), 'web_search degraded');
  world.answers.set('a/web_search', empty).set('b/web_search', failed);
  assert.equal(await round(), 'web_search degraded');
  assert.equal(await round(), 'web_search unavailable');
  assert.equal(await round(), 'web_search unavailable', 'shards that came back hear it again');
  world.answers.clear();
  assert.equal(await round(), '');
  assert.deepEqual(
    world.logged,
    [
      ['warn', 'surface.degraded', { surface: 'web_search' }],
      ['error', 'provider.down', { surface: 'web_search' }],
      ['info', 'surface.well', { surface: 'web_search' }],
    ],
    'once each',
  );
});

test('a place is of the host of its website', async () => {
  const { world, round } = stage(surfaceOf({ name: 'engine_maps', kind: 'places' }));
  const place = { position: 1, title: 'A place', website: 'http://shop.example.com' };
  world.answers.set('a/engine_maps', { ...good, items: [place] } as SearchOutcome);
  await round();
  assert.equal(await round(), '');
});

test('neither the query nor a key is in what is logged or told', async () => {
  const { world, round } = stage(surfaceOf(), surfaceOf({ name: 'engine_news', kind: 'news' }));
  for (const { targets } of world.surfaces) {
    for (const { upstream } of targets) world.answers.set(upstream.routeId, failed);
  }
  for (let each = 0; each < 3; each += 1) await round();
  const text = JSON.stringify([world.logged, world.told]);
  assert.ok(text.includes('provider.down') && text.includes('unavailable'));
  assert.ok(!text.includes(secretQuery) && !text.includes(apiKey));
});

test('what left the catalog is forgotten', async () => {
  const { world, round } = stage(surfaceOf());
  world.answers.set('a/web_search', failed).set('b/web_search', failed);
  await round();
  assert.equal(await round(), 'web_search unavailable');
  world.surfaces = [];
  assert.equal(await round(), '');
});

test('a round that the end of the process cuts off says nothing', async () => {
  const surface = surfaceOf();
  const told: unknown[] = [];
  const canaries = createCanaries({
    surfaces: () => [surface],
    async askTarget() {
      await canaries.stop();
      return failed;
    },
    bus: { publish: async (_topic, payload) => void told.push(payload) },
    clock: () => 0,
    log: { info: told.push, warn: told.push, error: told.push } as never,
  });
  await canaries.look();
  await canaries.look();
  assert.deepEqual(told, []);
});
