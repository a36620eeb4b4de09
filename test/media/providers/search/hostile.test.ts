// Replies whose texts are hostile, through the reader of every family to what is answered: clean
// items of their schema, or none. The seed is printed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { searchFamily, searchFamilyNames } from '../../../../media/providers/search/families.ts';
import { foundIn } from '../../../../media/providers/search/found.ts';
import { factsOf, type ServedSurface } from '../../../../media/search/surfaces.ts';
import { fc } from '../../../harness/properties.ts';
import { sampledRuns } from '../../../harness/sample.ts';
import { itemSchemas } from '../../../harness/search-items.ts';
import { testSeed } from '../../../harness/seed.ts';
import { askOf } from './ask.ts';
import { replies as listed, suggestions } from './searxng/replies.ts';
import * as bodies from './serpapi/bodies.ts';
import { replies } from './serper/replies.ts';
import { flight, journey, stay } from './travel.ts';

const runs = sampledRuns(4_000, 400);

const tavily = {
  results: [
    { title: 'A', url: 'https://a.example/', content: 'About a.', score: 0.9 },
    { title: 'B', url: 'https://b.example/', content: 'About b.', score: 0.8 },
  ],
  follow_up_questions: ['why?'],
};
const recorded: Readonly<Record<string, Partial<Record<ServedSurface, unknown>>>> = {
  tavily: { ai_search: tavily, web_search: tavily, engine_news: tavily },
  serper: {
    web_search: replies.search,
    engine_search: replies.search,
    engine_images: replies.images,
    engine_news: replies.news,
    engine_maps: replies.maps,
    engine_places: replies.places,
    engine_shopping: replies.shopping,
    engine_scholar: replies.scholar,
    engine_videos: replies.videos,
    engine_autocomplete: replies.autocomplete,
  },
  searxng: {
    web_search: listed.general,
    ai_search: listed.general,
    engine_images: listed.images,
    engine_news: listed.news,
    engine_videos: listed.videos,
    engine_scholar: listed.science,
    engine_maps: listed.map,
    engine_autocomplete: suggestions.flat,
  },
  serpapi: {
    web_search: bodies.pages,
    engine_search: bodies.pages,
    engine_images: bodies.images,
    engine_news: bodies.news,
    engine_maps: bodies.maps,
    engine_places: bodies.local,
    engine_routes: bodies.directions,
    engine_shopping: bodies.shopping,
    engine_scholar: bodies.papers,
    engine_videos: bodies.videos,
    engine_autocomplete: bodies.suggestions,
    engine_flights: bodies.flights,
    engine_hotels: bodies.hotels,
  },
};
const cases = Object.entries(recorded).flatMap(([family, surfaces]) =>
  Object.entries(surfaces).map(([surface, body]) => ({
    ...{ family, body, surface: surface as ServedSurface },
  })),
);

const hostile = [
  ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', '\u0001javascript:alert(1)', 'vbscript:x'],
  ...['java\nscript:alert(1)', 'data:text/html,<script>alert(1)</script>', 'file:///etc/passwd'],
  ...['blob:https://a.example/x', '//evil.example/', 'http://user:pass@evil.example/', 'http://'],
  ...['<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '&lt;svg onload=alert(1)&gt;'],
  ...['&amp;lt;script&amp;gt;', '<b', '<!--', ']]>', '\u202eevil\u202c', '\u2066x\u2069', '\u200b'],
  ...['\u200f\u200e', '\ufeff', '\u0000\u001b[2J', '\ud800', 'a\u0300'.repeat(2_000), 'ten', 'NaN'],
  ...['four stars', '1e309', '-5', '0000-01-01', '0000-00-00T00:00:00Z', '99999-01-01', 'Infinity'],
  ...['-0001-01-01', 'Jan 0, 0000', '3 days ago', '0', '9'.repeat(400), '$ten', '12:99', '١٢'],
];
const dates = ['0000-01-01', '0000-00-00T00:00:00Z', 'Jan 1, 0000', '0001-01-01', '1/1/0'];
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Variation_Selector}\u2028\u2029]|<[a-z/!?]/iu;

function askFor(surface: ServedSurface) {
  return askOf(surface, 'alps', {
    flights: surface === 'engine_flights' ? flight : null,
    hotels: surface === 'engine_hotels' ? stay : null,
    routes: surface === 'engine_routes' ? journey : null,
  });
}

/** Some of its texts and numbers are others. */
function spoiled(value: unknown, take: () => string | number | null): unknown {
  if (Array.isArray(value)) return value.map((each) => spoiled(each, take));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, each]) => [name, spoiled(each, take)]);
    return Object.fromEntries(entries) as unknown;
  }
  return take() ?? value;
}

async function outcomeOf({ family, surface }: (typeof cases)[number], body: unknown) {
  const endpoint = searchFamily(family)?.endpoints[surface];
  assert.ok(endpoint);
  return await foundIn(endpoint, askFor(surface), { value: body, isLong: false, host: null });
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

test('every surface of every family has a recorded reply here', () => {
  const served = searchFamilyNames.flatMap((family) =>
    Object.keys(searchFamily(family)?.endpoints ?? {}).map((surface) => `${family} ${surface}`),
  );
  const here = cases.map(({ family, surface }) => `${family} ${surface}`);
  assert.deepEqual(here.sort(), served.sort());
});

test('hostile replies end as clean items or none', async (context) => {
  context.diagnostic(`seed ${testSeed}, ${runs} runs`);
  let made = 0;
  const choice = fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.constantFrom(...hostile) },
    { weight: 1, arbitrary: fc.constantFrom(-1, 0, 1e308, 1e-9, 2 ** 53) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...cases),
      fc.infiniteStream(choice),
      async (each, choices) => {
        const take = () => choices.next().value as string | number | null;
        const found = await outcomeOf(each, spoiled(each.body, take));
        if (typeof found === 'string') return;
        const { kind } = factsOf(each.surface);
        for (const item of found.items) {
          made += 1;
          v.parse(itemSchemas[kind], item);
          for (const text of textsIn(item)) assert.doesNotMatch(text, unseen, each.family);
          for (const [name, address] of Object.entries(item)) {
            if (!/url|website|thumbnail/.test(name)) continue;
            assert.match(String(address), /^https?:\/\/[^@]*$/);
          }
        }
        for (const text of found.related) assert.doesNotMatch(text, unseen);
        assert.equal(typeof JSON.parse(found.dataJson), 'object');
        assert.ok(found.dataJson.isWellFormed());
      },
    ),
    { numRuns: runs },
  );
  assert.ok(made > runs / 4, `${made} items`);
});

/** Each list of objects twice over: the provider lists each of its pages twice. */
function doubled(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return depth < 2 ? [...value, ...value] : value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, doubled(each, depth + 1)]);
  return Object.fromEntries(entries) as unknown;
}

test('what is listed twice is one item', async () => {
  for (const each of cases) {
    const [once, twice] = [await outcomeOf(each, each.body), doubled(each.body)];
    const again = await outcomeOf(each, twice);
    assert.ok(typeof once === 'object' && typeof again === 'object', each.surface);
    assert.deepEqual(again.items, once.items, `${each.family} ${each.surface}`);
  }
});

test('no item is of the year 0, or says a number in words', async () => {
  for (const each of cases) {
    for (const [at, date] of dates.entries()) {
      const spoil = (value: unknown): string | number | null =>
        typeof value === 'string' && /\d{4}|ago/.test(value) && !value.includes('//') ? date : null;
      const body = replaced(each.body, at === 0 ? () => 'seven' : spoil);
      const found = await outcomeOf(each, body);
      if (typeof found === 'string') continue;
      for (const item of found.items) {
        const { published_at, rating, rating_count, year } = item as unknown as Record<
          string,
          unknown
        >;
        assert.equal(published_at, undefined, `${each.family} ${each.surface} ${date}`);
        if (at > 0) continue;
        assert.deepEqual([rating, rating_count, year], [undefined, undefined, undefined]);
      }
    }
  }
});

/** Texts and numbers, but for addresses and titles, as `to` says; null: as they are. */
function replaced(value: unknown, to: (value: unknown) => string | number | null): unknown {
  if (Array.isArray(value)) return value.map((each) => replaced(each, to));
  if (typeof value !== 'object' || value === null) {
    const isAddress = typeof value === 'string' && value.includes('//');
    return isAddress ? value : (to(value) ?? value);
  }
  const entries = Object.entries(value).map(([name, each]) => [name, replaced(each, to)]);
  return Object.fromEntries(entries) as unknown;
}
