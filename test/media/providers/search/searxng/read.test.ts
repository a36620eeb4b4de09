// Replies of the searxng family: what is read of each category, what is shown of it, and which
// replies without results are no empty ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchReading } from '../../../../../media/providers/search/family.ts';
import { searxngFamily } from '../../../../../media/providers/search/searxng/family.ts';
import type { ServedSurface } from '../../../../../media/search/surfaces.ts';
import { askOf } from '../ask.ts';
import { replies, suggestions } from './replies.ts';

type Read = Extract<SearchReading, { state: 'read' }>;

function outcome(surface: ServedSurface, body: unknown): SearchReading {
  const endpoint = searxngFamily.endpoints[surface];
  assert.ok(endpoint !== undefined);
  return endpoint.read(body, askOf(surface, 'alps'));
}

function read(surface: ServedSurface, body: unknown): Read {
  const reading = outcome(surface, body);
  assert.ok(reading.state === 'read');
  return reading;
}

test('pages are read alike for both surfaces, and have no score', () => {
  for (const surface of ['web_search', 'ai_search'] as const) {
    const { readings, related, isPartial } = read(surface, replies.general);
    assert.deepEqual(readings[0], {
      title: 'The Alps',
      url: 'https://alps.example.org/',
      snippet: 'The Alps stretch over eight countries.',
      date: '2026-01-03T00:00:00',
      thumbnail: 'https://alps.example.org/alps.jpg',
    });
    assert.equal(readings.length, 2);
    assert.deepEqual(related, ['alps map', 'alps weather', 'alpes']);
    assert.equal(isPartial, false);
  }
  assert.equal(searxngFamily.isScoring, false);
});

test('pictures have the resolution as it is told', () => {
  assert.deepEqual(read('engine_images', replies.images).readings, [
    {
      title: 'Matterhorn',
      url: 'https://pictures.example.com/m',
      source: 'Example Pictures',
      imageUrl: 'https://pictures.example.com/m.jpg',
      resolution: '1920 x 1080',
      thumbnail: 'https://thumbnails.example.com/m.jpg',
    },
  ]);
});

test('news, videos and papers have their own members', () => {
  const [news] = read('engine_news', replies.news).readings;
  assert.deepEqual([news?.date, news?.source], ['2026-11-27 08:00:00', 'Example Times']);
  const [video] = read('engine_videos', replies.videos).readings;
  assert.deepEqual([video?.duration, video?.channel], [754, 'Flights']);
  const [paper] = read('engine_scholar', replies.science).readings;
  assert.deepEqual(paper?.authors, ['A Author', 'B Author']);
  assert.deepEqual([paper?.year, paper?.venue], ['2019', 'Journal of Ice']);
  assert.equal(paper?.pdfUrl, 'https://papers.example.org/1.pdf');
});

test('places are read whatever language their labels are in', () => {
  const [place] = read('engine_maps', replies.map).readings;
  assert.equal(place?.address, '12 Example Street, 8001 Zürich, Switzerland');
  assert.deepEqual([place?.latitude, place?.longitude], ['47.3769', '8.5417']);
  assert.equal(place?.phone, '+41 44 555 01 00');
  assert.equal(place?.openingHours, 'Mo-Fr 08:00-18:00');
  assert.equal(place?.website, 'https://cafe.example.com');
  assert.equal(place?.category, 'Café');
});

test('a telephone may be a link, and an address a text', () => {
  const links = [{ label: 'Telefon', url: 'tel:+41445550100', url_label: '044 555 01 00' }];
  const body = { results: [{ title: 'Café', links, address: '12 Example Street' }] };
  const [place] = read('engine_maps', body).readings;
  assert.deepEqual([place?.phone, place?.address], ['+41445550100', '12 Example Street']);
  assert.equal(place?.website, undefined);
});

test('suggestions are read in both forms', () => {
  for (const body of [suggestions.listed, suggestions.flat]) {
    const { readings, data } = read('engine_autocomplete', body);
    assert.deepEqual(readings, [{ title: 'alps map' }, { title: 'alps weather' }]);
    assert.deepEqual(data, { suggestions: ['alps map', 'alps weather'] });
  }
  for (const body of [['alps', []], []]) {
    assert.deepEqual(read('engine_autocomplete', body).readings, []);
  }
});

test('engines that did not answer make a reply partial, with results or without', () => {
  const silent = [['google', 'Suspended: too many requests']];
  const some = read('web_search', { ...replies.general, unresponsive_engines: silent });
  assert.deepEqual([some.readings.length, some.isPartial], [2, true]);
  const none = read('web_search', { results: [], unresponsive_engines: silent });
  assert.deepEqual([none.readings.length, none.isPartial], [0, true]);
  const empty = read('web_search', { results: [], unresponsive_engines: [] });
  assert.deepEqual([empty.readings.length, empty.isPartial], [0, false]);
});

test('what is no reply has failed', () => {
  for (const body of [null, {}, 'text', { results: null }, { error: 'No query' }]) {
    assert.deepEqual(outcome('web_search', body), { state: 'failed' });
    assert.deepEqual(outcome('engine_autocomplete', body), { state: 'failed' });
  }
});

test('customers see results, and not which engines were asked', () => {
  const { data } = read('web_search', replies.general);
  assert.deepEqual(Object.keys(data), [
    'results',
    'answers',
    'corrections',
    'infoboxes',
    'suggestions',
  ]);
  const [page] = data.results as Record<string, unknown>[];
  assert.deepEqual(Object.keys(page ?? {}), [
    'title',
    'url',
    'content',
    'publishedDate',
    'thumbnail',
    'score',
    'category',
  ]);
  assert.doesNotMatch(JSON.stringify(data), /wikipedia|wikidata|duckduckgo|entity|parsed_url/);
  const { data: places } = read('engine_maps', replies.map);
  assert.doesNotMatch(JSON.stringify(places), /geojson|coordinates/);
});

test('a 403 is for the operator to mend, as it means that JSON is off', () => {
  const { readFailure } = searxngFamily;
  assert.equal(readFailure(403, undefined), 'credential');
  assert.equal(readFailure(400, { error: 'No query' }), 'refused');
  assert.equal(readFailure(429, undefined), 'busy');
  assert.equal(readFailure(500, { error: 'no such category' }), 'failed');
  assert.equal(readFailure(408, undefined), 'timeout');
});
