// From recorded replies of every engine to the items that are answered: each is valid by the schema
// of its kind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { serpapiFamily } from '../../../../../media/providers/search/serpapi/family.ts';
import { itemsOf } from '../../../../../media/search/items.ts';
import { factsOf, type ServedSurface } from '../../../../../media/search/surfaces.ts';
import { itemSchemas } from '../../../../harness/search-items.ts';
import { askOf } from '../ask.ts';
import { flight, journey, stay } from '../travel.ts';
import * as bodies from './bodies.ts';

const nowMs = Date.UTC(2026, 10, 28, 15);

function itemsIn(surface: ServedSurface, body: unknown): object[] {
  const ask = askOf(surface, 'alps', { flights: flight, hotels: stay, routes: journey });
  const reading = serpapiFamily.endpoints[surface]?.read(body, ask);
  assert.ok(reading?.state === 'read', surface);
  const { kind } = factsOf(surface);
  const { items } = itemsOf(ask, kind, reading.readings, nowMs);
  for (const item of items) v.parse(itemSchemas[kind], item);
  return items;
}

test('pages, pictures and news are items where they have what theirs need', () => {
  assert.deepEqual(itemsIn('web_search', bodies.pages), [
    {
      position: 1,
      title: 'Swiss Alps',
      url: 'https://en.example.org/wiki/Swiss_Alps',
      snippet: 'The Alpine region of Switzerland.',
      source: 'Example',
      published_at: '2026-01-03',
      published_text: 'Jan 3, 2026',
    },
  ]);
  assert.deepEqual(itemsIn('engine_images', bodies.images), [
    {
      position: 1,
      title: 'Eiger',
      url: 'https://a.example/eiger',
      image_url: 'https://a.example/eiger.jpg',
      width: 1920,
      height: 1080,
      source: 'Example',
      thumbnail: 'https://thumbs.example/1.jpg',
    },
  ]);
  const titles = itemsIn('engine_news', bodies.news).map((item) => Object(item).title);
  assert.deepEqual(titles, ['Snow', 'Chief', 'First', 'Second']);
});

test('videos last seconds, and places stand where they are', () => {
  const [video] = itemsIn('engine_videos', bodies.videos);
  assert.equal(Object(video).duration_seconds, 3_723);
  const [hut] = itemsIn('engine_maps', bodies.maps);
  const { latitude, longitude, rating, rating_count: count, place_id: id } = Object(hut);
  assert.deepEqual([latitude, longitude, rating, count, id], [46.5, 8.1, 4.6, 120, 'ChIJ1']);
  const [bakery] = itemsIn('engine_places', bodies.local);
  assert.equal(Object(bakery).latitude, 46.9);
});

test('ways are meters and seconds, whether they came as numbers or as texts', () => {
  const [car, train, foot] = itemsIn('engine_routes', bodies.directions);
  assert.deepEqual(car, {
    position: 1,
    title: 'Zürich HB – Bern, A1',
    duration_seconds: 5_400,
    distance_meters: 125_300,
    mode: 'driving',
    legs: [
      { instruction: 'Head west', distance_meters: 500, duration_seconds: 60 },
      { instruction: 'Turn left', distance_meters: 1_500 },
      { instruction: 'Follow A1', distance_meters: 123_000 },
    ],
  });
  assert.deepEqual([Object(train).duration_seconds, Object(train).mode], [3_360, 'transit']);
  assert.deepEqual(Object(foot).legs, [{ instruction: 'Just walk' }]);
});

test('prices have a currency, and a flight without one is a flight all the same', () => {
  const [rope] = itemsIn('engine_shopping', bodies.shopping);
  assert.deepEqual(Object(rope).price, { amount: '19.99', currency: 'USD' });
  const [bellevue] = itemsIn('engine_hotels', bodies.hotels);
  assert.deepEqual(Object(bellevue).price_per_night, { amount: '210', currency: 'EUR' });
  assert.equal(Object(bellevue).hotel_class, 5);
  const [first, second] = itemsIn('engine_flights', bodies.flights);
  assert.deepEqual(Object(first).price, { amount: '612', currency: 'USD' });
  assert.equal(Object(first).stops, 1);
  assert.equal(Object(first).total_duration_minutes, 695);
  assert.equal(Object(first).segments[0].departs_at, '2026-12-12T09:55');
  assert.equal(Object(second).price, undefined);
});

test('papers have authors and a year, suggestions a text', () => {
  const [paper] = itemsIn('engine_scholar', bodies.papers);
  const { authors, year, venue, cited_by: cited } = Object(paper);
  assert.deepEqual(
    [authors, year, venue, cited],
    [['A Muster', 'B Beispiel'], 2019, 'Journal of Ice - Snow', 42],
  );
  assert.equal(itemsIn('engine_autocomplete', bodies.suggestions).length, 2);
});
