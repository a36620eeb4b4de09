// From readings to items: what each kind keeps, what it drops, and what is true of all of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeParse } from 'valibot';
import type { Reading, SearchItem } from '../../../media/search/contract.ts';
import { itemsOf, relatedOf } from '../../../media/search/items.ts';
import { factsOf, type ServedSurface, type SurfaceKind } from '../../../media/search/surfaces.ts';
import { itemSchemas } from '../../harness/search-items.ts';
import { askOf, nowMs } from './asks.ts';

function found(surface: ServedSurface, readings: Reading[], params: object = {}) {
  const { kind } = factsOf(surface);
  const { items, dropped } = itemsOf(askOf(surface, params), kind, readings, nowMs);
  for (const item of items) {
    const { issues } = safeParse(itemSchemas[kind], item);
    assert.deepEqual(issues, undefined, JSON.stringify(item));
  }
  return { items: items as (SearchItem & Record<string, unknown>)[], dropped };
}

const url = 'https://example.com/1';

test('a page needs an address, and its host is its title where it lost its own', () => {
  const { items, dropped } = found('web_search', [
    {
      title: 'One',
      url,
      snippet: 'Text',
      source: { name: 'Site' },
      date: '3 days ago',
      score: 0.5,
    },
    { title: 'No address' },
    { url: 'https://www.example.org/x', title: '<b></b>', thumbnail: 'data:image/png;base64,x' },
    { title: 'Script', url: 'javascript:alert(1)' },
  ]);
  assert.equal(dropped, 2);
  assert.deepEqual(items, [
    {
      ...{ position: 1, title: 'One', url, snippet: 'Text', source: 'Site' },
      ...{ published_at: '2026-11-25', published_text: '3 days ago' },
    },
    { position: 2, title: 'example.org', url: 'https://www.example.org/x' },
  ]);
});

test('equal pages are one, and places have no gaps', () => {
  const { items, dropped } = found('web_search', [
    { title: 'One', url: 'https://www.example.com/a/?utm_source=x' },
    { title: 'None' },
    { title: 'One again', url: 'http://example.com/a#part' },
    { title: 'Two', url: 'https://example.com/b' },
  ]);
  assert.deepEqual(
    items.map(({ position, title }) => [position, title]),
    [
      [1, 'One'],
      [2, 'Two'],
    ],
  );
  assert.equal(dropped, 1);
});

test('domains and limit are enforced on the answer, and are no fault of the reply', () => {
  const pages = ['a.com', 'docs.a.com', 'b.com', 'nota.com', 'c.com'].map((host) => ({
    title: host,
    url: `https://${host}/`,
  }));
  const titles = (params: object) => {
    const { items, dropped } = found('web_search', pages, params);
    assert.equal(dropped, 0);
    return items.map(({ title }) => title);
  };
  assert.deepEqual(titles({ include_domains: ['a.com'] }), ['a.com', 'docs.a.com']);
  assert.deepEqual(titles({ exclude_domains: 'a.com, b.com' }), ['nota.com', 'c.com']);
  assert.deepEqual(titles({ include_domains: ['a.com'], exclude_domains: ['docs.a.com'] }), [
    'a.com',
  ]);
  assert.deepEqual(titles({ limit: 2 }), ['a.com', 'docs.a.com']);
  const image = { title: 'Of no page', imageUrl: 'https://a.com/x.png' };
  assert.deepEqual(found('engine_images', [image], { include_domains: ['a.com'] }).items, []);
});

test('scores fall; where one is missing or is none, all are made of places', () => {
  const pages = [0.2, 0.9, 0.5].map((score, at) => ({
    title: `${at}`,
    url: `${url}/${at}`,
    score,
  }));
  const scores = (readings: Reading[], params: object = {}) =>
    found('ai_search', readings, params).items.map(({ title, score }) => [title, score]);
  assert.deepEqual(scores(pages, { limit: 2 }), [
    ['1', 0.9],
    ['2', 0.5],
  ]);
  const placed = [
    ['0', 1],
    ['1', 0.5],
    ['2', 0.3333],
  ];
  for (const score of [7.5, undefined, 'high', Number.NaN, -1]) {
    assert.deepEqual(
      scores(pages.map((page, at) => (at === 1 ? { ...page, score } : page))),
      placed,
    );
  }
  const [item] = found('ai_search', [{ title: 'x', url, snippet: 'short', content: '' }]).items;
  assert.equal(item?.content, 'short');
  assert.equal(
    found('web_search', [{ title: 'x', url, score: 1, content: 'y' }]).items[0]?.score,
    undefined,
  );
});

/** A whole reading, what comes of it, and members without which it is dropped. */
const kinds: readonly [ServedSurface, Reading, object, (keyof Reading)[]][] = [
  [
    'engine_images',
    { title: 'Alps', imageUrl: 'https://i.example/a.png', url, resolution: '1920 x 1080' },
    { title: 'Alps', url, image_url: 'https://i.example/a.png', width: 1_920, height: 1_080 },
    ['imageUrl'],
  ],
  [
    'engine_news',
    { title: 'New', url, source: 'Gazette', date: 'vor 2 Stunden' },
    {
      ...{ title: 'New', url, source: 'Gazette', published_at: '2026-11-28' },
      published_text: 'vor 2 Stunden',
    },
    ['url'],
  ],
  [
    'engine_videos',
    { title: 'Film', url, duration: '12:34', channel: { name: 'Tube' } },
    { title: 'Film', url, duration_seconds: 754, channel: 'Tube' },
    ['url'],
  ],
  [
    'engine_maps',
    {
      ...{ title: 'Café', address: 'Bundesplatz 1, Bern', latitude: '46.947', longitude: 7.444 },
      ...{ rating: '4,5', ratingCount: '(1,234)', category: ['Café', 'Bar'], phone: '+41 31 000' },
      ...{ website: 'https://cafe.example/', placeId: 'ChIJ1' },
      openingHours: { Monday: '9–17', Tuesday: ['9–12', '13–17'], Sunday: null },
    },
    {
      ...{ title: 'Café', address: 'Bundesplatz 1, Bern', latitude: 46.947, longitude: 7.444 },
      ...{ rating: 4.5, rating_count: 1_234, category: 'Café', phone: '+41 31 000' },
      ...{ website: 'https://cafe.example/', place_id: 'ChIJ1' },
      opening_hours: ['Monday: 9–17', 'Tuesday: 9–12, 13–17'],
    },
    ['title'],
  ],
  [
    'engine_routes',
    {
      ...{ durationSeconds: '1 hr 2 min', distanceMeters: '95.5 km', mode: 'Driving' },
      ...{ departsAt: 1_796_000_000, arrivesAt: '2026-11-30 10:05' },
      legs: [{ instruction: 'Go <b>on</b>', distanceMeters: 10 }, { distanceMeters: 5 }, null],
    },
    {
      ...{
        title: 'Bern – Basel',
        duration_seconds: 3_720,
        distance_meters: 95_500,
        mode: 'driving',
      },
      ...{ departs_at: '2026-11-30T00:53:20Z', arrives_at: '2026-11-30T10:05' },
      legs: [{ instruction: 'Go on', distance_meters: 10 }],
    },
    ['durationSeconds'],
  ],
  [
    'engine_shopping',
    { title: 'Pen', price: '1.234,56 €', seller: 'Shop', rating: 5, ratingCount: '12 reviews' },
    {
      ...{ title: 'Pen', price: { amount: '1234.56', currency: 'EUR' }, seller: 'Shop' },
      ...{ rating: 5, rating_count: 12 },
    },
    ['title'],
  ],
  [
    'engine_scholar',
    {
      ...{ title: 'On it', url, authors: 'A Smith, B Jones, …', year: '2019', venue: 'Journal' },
      ...{ citedBy: '1,024', pdfUrl: 'https://example.com/a.pdf' },
    },
    {
      ...{ title: 'On it', url, authors: ['A Smith', 'B Jones'], year: 2_019, venue: 'Journal' },
      ...{ cited_by: 1_024, pdf_url: 'https://example.com/a.pdf' },
    },
    ['title'],
  ],
  ['engine_autocomplete', { title: 'how to', url, score: 1 }, { title: 'how to' }, ['title']],
  [
    'engine_flights',
    {
      segments: [
        {
          ...{
            from: 'zrh',
            to: 'LHR',
            departsAt: '2026-12-12 07:00',
            arrivesAt: '2026-12-12 08:00',
          },
          ...{ airline: 'Swiss', flightNumber: 'LX 316', aircraft: 'A220' },
          ...{ travelClass: 'Premium economy', durationMinutes: 120 },
        },
        { from: 'LHR', to: 'JFK', airline: 'BA', travelClass: 'unknown', durationMinutes: -1 },
      ],
      ...{ price: 512, totalDurationMinutes: 700, carbonGrams: 300_000 },
    },
    {
      title: 'ZRH – LHR – JFK, Swiss, BA',
      segments: [
        {
          ...{
            from: 'ZRH',
            to: 'LHR',
            departs_at: '2026-12-12T07:00',
            arrives_at: '2026-12-12T08:00',
          },
          ...{ airline: 'Swiss', flight_number: 'LX 316', aircraft: 'A220' },
          ...{ travel_class: 'premium_economy', duration_minutes: 120 },
        },
        { from: 'LHR', to: 'JFK', airline: 'BA' },
      ],
      ...{ price: { amount: '512', currency: 'USD' }, total_duration_minutes: 700 },
      ...{ carbon_grams: 300_000, stops: 1 },
    },
    ['segments'],
  ],
  [
    'engine_hotels',
    {
      ...{ title: 'Bellevue', pricePerNight: '$120', totalPrice: 240, rating: 4.4, ratingCount: 9 },
      ...{ hotelClass: '4-star hotel', latitude: 46.9, longitude: 7.4 },
      amenities: ['Free <i>Wi-Fi</i>', { name: 'Pool' }, 'Pool', 3],
    },
    {
      ...{ title: 'Bellevue', price_per_night: { amount: '120', currency: 'USD' } },
      ...{ total_price: { amount: '240', currency: 'USD' }, rating: 4.4, rating_count: 9 },
      ...{ hotel_class: 4, latitude: 46.9, longitude: 7.4, amenities: ['Free Wi-Fi', 'Pool', '3'] },
    },
    ['title'],
  ],
];

test('each kind has its members, and is dropped without the one that it needs', () => {
  for (const [surface, reading, wanted, needed] of kinds) {
    assert.deepEqual(found(surface, [reading]).items, [{ position: 1, ...wanted }], surface);
    for (const name of needed) {
      const { [name]: _, ...without } = reading;
      assert.deepEqual(found(surface, [without]), { items: [], dropped: 1 }, surface);
    }
  }
});

test('a flight of which one segment cannot be read is no flight', () => {
  const good = { from: 'ZRH', to: 'LHR' };
  for (const bad of [{ from: 'LHR' }, null, 'LHR', { from: 'LHR', to: '/m/02' }]) {
    assert.deepEqual(found('engine_flights', [{ segments: [good, bad] }]).items, []);
  }
});

test('what is no reading is dropped, and nothing throws', () => {
  const odd = [null, 1, 'x', [], undefined] as unknown as Reading[];
  const surfaces = [...kinds.map(([surface]) => surface), 'web_search', 'ai_search'] as const;
  for (const surface of surfaces) {
    assert.deepEqual(found(surface, odd), { items: [], dropped: odd.length }, surface);
  }
});

test('members that cannot be made a text are left out', () => {
  const odd = { toString: 1, valueOf: null };
  const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  const hours = { Monday: [odd, '9–17'], Tuesday: deep, Wednesday: odd };
  const place = { title: 'Café', openingHours: hours, category: [odd], phone: odd, address: deep };
  assert.deepEqual(found('engine_maps', [place]).items, [
    { position: 1, title: 'Café', opening_hours: ['Monday: 9–17'] },
  ]);
});

test('related questions are clean texts, each once, at most twenty', () => {
  assert.deepEqual(
    relatedOf([
      '<b>a</b>',
      { query: 'b' },
      { title: 'c' },
      'a',
      null,
      {},
      5,
      { query: null, value: 'd' },
    ]),
    ['a', 'b', 'c', '5', 'd'],
  );
  assert.equal(relatedOf(Array.from({ length: 99 }, (_, at) => `q${at}`)).length, 20);
});

test('a page of a thousand long results is read in a moment', () => {
  const text = 'Text with &amp; and <b>tags</b>. '.repeat(2_000);
  const kind: SurfaceKind = 'web';
  const readings = Array.from({ length: 1_000 }, (_, at) => ({
    title: text,
    url: `https://example.com/${at}`,
    snippet: text,
    date: text,
  }));
  const before = process.cpuUsage();
  const { items } = itemsOf(askOf('web_search', { limit: 50 }), kind, readings, nowMs);
  const { user } = process.cpuUsage(before);
  assert.equal(items.length, 50);
  assert.ok(user < 500_000, `${user} microseconds`);
});
