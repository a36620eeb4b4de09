// From recorded replies of every surface to the items that are answered. Each is valid by the
// schema of its kind, with what the provider told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { searchFamily } from '../../../../media/providers/search/families.ts';
import { itemsOf } from '../../../../media/search/items.ts';
import { factsOf, type ServedSurface } from '../../../../media/search/surfaces.ts';
import { itemSchemas } from '../../../harness/search-items.ts';
import { askOf } from './ask.ts';
import { replies as listed, suggestions } from './searxng/replies.ts';
import { replies } from './serper/replies.ts';

const nowMs = Date.UTC(2026, 10, 28, 15);

function itemsIn(family: string, surface: ServedSurface, body: unknown): Record<string, unknown>[] {
  const ask = askOf(surface, 'alps');
  const reading = searchFamily(family)?.endpoints[surface]?.read(body, ask);
  assert.ok(reading?.state === 'read', `${family} ${surface}`);
  const { kind } = factsOf(surface);
  const { items } = itemsOf(ask, kind, reading.readings, nowMs);
  assert.ok(items.length > 0, `${family} ${surface}`);
  for (const item of items) v.parse(itemSchemas[kind], item);
  return items.map((item) => ({ ...item }));
}

const page = {
  position: 1,
  title: 'The Alps',
  url: 'https://alps.example.org/',
  snippet: 'The Alps stretch over eight countries.',
  published_at: '2026-01-03',
  published_text: '2026-01-03T00:00:00',
  thumbnail: 'https://alps.example.org/alps.jpg',
};
const answer = {
  position: 1,
  title: 'Mont Blanc',
  url: 'https://mountains.example.com/mont-blanc',
  snippet: '4,806 m',
};
const picture = {
  position: 1,
  title: 'Matterhorn',
  url: 'https://pictures.example.com/m',
  source: 'Example Pictures',
  thumbnail: 'https://thumbnails.example.com/m.jpg',
  image_url: 'https://pictures.example.com/m.jpg',
  width: 1920,
  height: 1080,
};
const news = {
  position: 1,
  title: 'Snow in the Alps',
  url: 'https://news.example.com/snow',
  snippet: 'It has snowed.',
  source: 'Example Times',
};
const video = {
  position: 1,
  title: 'A flight over the Alps',
  url: 'https://videos.example.com/1',
  snippet: 'Filmed in June.',
  thumbnail: 'https://videos.example.com/1.jpg',
  duration_seconds: 754,
  channel: 'Flights',
};
const paper = {
  position: 1,
  title: 'Glaciers of the Alps',
  url: 'https://papers.example.org/1',
  snippet: 'We measure glaciers.',
  authors: ['A Author', 'B Author'],
  year: 2019,
  venue: 'Journal of Ice',
  pdf_url: 'https://papers.example.org/1.pdf',
};
const place = {
  position: 1,
  title: 'Café Example',
  address: '12 Example Street, 8001 Zürich',
  latitude: 47.3769,
  longitude: 8.5417,
  rating: 4.6,
  rating_count: 812,
  phone: '+41 44 555 01 00',
  website: 'https://cafe.example.com/',
};

/** The first item of each reply. */
const serper: [ServedSurface, unknown, object][] = [
  ['web_search', replies.search, answer],
  ['engine_search', replies.search, answer],
  ['engine_images', replies.images, picture],
  [
    'engine_news',
    replies.news,
    { ...news, published_at: '2026-11-28', published_text: '3 hours ago' },
  ],
  [
    'engine_maps',
    replies.maps,
    {
      ...place,
      category: 'Coffee shop',
      opening_hours: ['Monday: 8 AM–6 PM', 'Tuesday: Closed'],
      place_id: 'ChIJ0123456789',
    },
  ],
  [
    'engine_places',
    replies.places,
    {
      ...place,
      category: 'Café',
      place_id: '1234567890',
      thumbnail: 'https://cafe.example.com/t.jpg',
    },
  ],
  [
    'engine_shopping',
    replies.shopping,
    {
      position: 1,
      title: 'Hiking boots',
      url: 'https://search.example.com/shopping/product/1',
      source: 'Example Shop',
      thumbnail: 'https://shop.example.com/boots.jpg',
      price: { amount: '129.95', currency: 'USD' },
      seller: 'Example Shop',
      rating: 4.4,
      rating_count: 97,
    },
  ],
  ['engine_scholar', replies.scholar, { ...paper, cited_by: 120 }],
  [
    'engine_videos',
    replies.videos,
    {
      ...video,
      source: 'Example Videos',
      published_at: '2025-06-01',
      published_text: 'Jun 1, 2025',
    },
  ],
  ['engine_autocomplete', replies.autocomplete, { position: 1, title: 'alps map' }],
];

const searxng: [ServedSurface, unknown, object][] = [
  ['web_search', listed.general, page],
  ['ai_search', listed.general, { ...page, content: page.snippet, score: 1 }],
  ['engine_images', listed.images, picture],
  [
    'engine_news',
    listed.news,
    { ...news, published_at: '2026-11-27', published_text: '2026-11-27 08:00:00' },
  ],
  ['engine_videos', listed.videos, video],
  [
    'engine_scholar',
    listed.science,
    { ...paper, published_at: '2019-05-01', published_text: '2019-05-01T00:00:00' },
  ],
  [
    'engine_maps',
    listed.map,
    {
      position: 1,
      title: 'Café Example',
      url: 'https://map.example.org/node/1',
      address: '12 Example Street, 8001 Zürich, Switzerland',
      latitude: 47.3769,
      longitude: 8.5417,
      category: 'Café',
      phone: '+41 44 555 01 00',
      website: 'https://cafe.example.com/',
      opening_hours: ['Mo-Fr 08:00-18:00'],
    },
  ],
  ['engine_autocomplete', suggestions.flat, { position: 1, title: 'alps map' }],
];

for (const [family, cases] of Object.entries({ serper, searxng })) {
  for (const [surface, body, expected] of cases) {
    test(`items of ${surface} are what ${family} told`, () => {
      assert.deepEqual(itemsIn(family, surface, body)[0], expected);
    });
  }
  test(`every surface of ${family} has a recorded reply`, () => {
    const surfaces = Object.keys(searchFamily(family)?.endpoints ?? {});
    assert.deepEqual(cases.map(([surface]) => surface).sort(), surfaces.sort());
  });
}
