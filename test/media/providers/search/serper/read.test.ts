// Replies of the serper family: what is read of each endpoint, what is shown of it, and what a
// refusal is in truth.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchReading } from '../../../../../media/providers/search/family.ts';
import { serperFamily } from '../../../../../media/providers/search/serper/family.ts';
import type { ServedSurface } from '../../../../../media/search/surfaces.ts';
import { askOf } from '../ask.ts';
import { replies } from './replies.ts';

type Read = Extract<SearchReading, { state: 'read' }>;

function outcome(surface: ServedSurface, body: unknown): SearchReading {
  const endpoint = serperFamily.endpoints[surface];
  assert.ok(endpoint !== undefined);
  return endpoint.read(body, askOf(surface, 'alps'));
}

function read(surface: ServedSurface, body: unknown): Read {
  const reading = outcome(surface, body);
  assert.ok(reading.state === 'read');
  return reading;
}

test('a direct answer stands in front with its page, which is told once', () => {
  const { readings, related, isPartial } = read('web_search', replies.search);
  assert.deepEqual(
    readings.map(({ title, url, snippet }) => ({ title, url, snippet })),
    [
      {
        title: 'Mont Blanc',
        url: 'https://mountains.example.com/mont-blanc',
        snippet: '4,806 m',
      },
      {
        title: 'The Alps',
        url: 'https://alps.example.org/',
        snippet: 'The Alps stretch over eight countries.',
      },
    ],
  );
  assert.equal(readings[1]?.date, 'Jan 3, 2026');
  assert.deepEqual(related, ['alps map', 'alps hotels', 'How old are the Alps?']);
  assert.equal(isPartial, false);
});

test('a later page of the caller begins behind the results of the earlier ones', () => {
  const { searchParameters } = replies.search;
  const organic = Array.from({ length: 10 }, (_each, at) => ({ title: `${at}`, link: `x:${at}` }));
  const titlesOf = (limit: number, page: number) => {
    const ask = askOf('web_search', 'alps', { limit, page });
    const body = { searchParameters, organic };
    const reading = serperFamily.endpoints.web_search?.read(body, ask);
    assert.ok(reading?.state === 'read');
    return reading.readings.map(({ title }) => title);
  };
  assert.deepEqual(titlesOf(7, 1).slice(0, 2), ['0', '1']);
  assert.deepEqual(titlesOf(7, 2), ['7', '8', '9']);
  assert.equal(titlesOf(7, 3).length, 10);
});

test('pictures have sizes and their page', () => {
  assert.deepEqual(read('engine_images', replies.images).readings, [
    {
      title: 'Matterhorn',
      url: 'https://pictures.example.com/m',
      source: 'Example Pictures',
      imageUrl: 'https://pictures.example.com/m.jpg',
      width: 1920,
      height: 1080,
      thumbnail: 'https://thumbnails.example.com/m.jpg',
    },
  ]);
});

test('news have their date as it is told, and videos their length', () => {
  const [news] = read('engine_news', replies.news).readings;
  assert.equal(news?.date, '3 hours ago');
  assert.equal(news?.source, 'Example Times');
  const [video] = read('engine_videos', replies.videos).readings;
  assert.equal(video?.duration, '12:34');
  assert.equal(video?.channel, 'Flights');
  assert.equal(video?.url, 'https://videos.example.com/1');
});

test('places of both endpoints have the same members, as far as they are told', () => {
  const [place] = read('engine_places', replies.places).readings;
  const [spot] = read('engine_maps', replies.maps).readings;
  assert.deepEqual([place?.category, spot?.category], ['Café', 'Coffee shop']);
  assert.deepEqual([place?.placeId, spot?.placeId], ['1234567890', 'ChIJ0123456789']);
  assert.deepEqual(spot?.openingHours, { Monday: '8 AM–6 PM', Tuesday: 'Closed' });
  for (const each of [place, spot]) {
    assert.equal(each?.address, '12 Example Street, 8001 Zürich');
    assert.deepEqual([each?.latitude, each?.longitude], [47.3769, 8.5417]);
    assert.deepEqual([each?.rating, each?.ratingCount], [4.6, 812]);
    assert.equal(each?.phone, '+41 44 555 01 00');
  }
});

test('products have a price as it is told and who sells them', () => {
  const [product] = read('engine_shopping', replies.shopping).readings;
  assert.equal(product?.price, '$129.95');
  assert.equal(product?.seller, 'Example Shop');
  assert.equal(product?.ratingCount, 97);
});

test('papers are read in both forms that clients have seen', () => {
  const [plain, wrapped] = read('engine_scholar', replies.scholar).readings;
  assert.equal(plain?.authors, 'A Author, B Author');
  assert.equal(plain?.venue, 'Journal of Ice');
  assert.deepEqual([plain?.year, plain?.citedBy], [2019, 120]);
  assert.equal(plain?.pdfUrl, 'https://papers.example.org/1.pdf');
  assert.equal(wrapped?.authors, 'C Author');
  assert.equal(wrapped?.venue, 'Rocks - and more');
  assert.deepEqual([wrapped?.year, wrapped?.citedBy], ['2001', 7]);
});

test('suggestions are titles', () => {
  const { readings } = read('engine_autocomplete', replies.autocomplete);
  assert.deepEqual(readings, [{ title: 'alps map' }, { title: 'alps weather' }]);
});

test('an empty list and an absent one are empty', () => {
  const { searchParameters } = replies.search;
  for (const body of [
    { searchParameters, organic: [] },
    { searchParameters, organic: [], peopleAlsoAsk: [], relatedSearches: [] },
    { searchParameters },
  ]) {
    const { readings, isPartial } = read('web_search', body);
    assert.deepEqual([readings.length, isPartial], [0, false]);
  }
  assert.equal(read('engine_news', { searchParameters }).readings.length, 0);
});

test('a list that is missing beside other results makes a reply partial', () => {
  const { organic: _, ...rest } = replies.search;
  const { readings, isPartial } = read('web_search', rest);
  assert.deepEqual([readings.length, isPartial], [1, true]);
});

test('what is no reply has failed', () => {
  for (const body of [null, [], 'text', 7, { message: 'Internal error', statusCode: 500 }]) {
    assert.deepEqual(outcome('web_search', body), { state: 'failed' });
    assert.deepEqual(outcome('engine_maps', body), { state: 'failed' });
  }
});

test('customers see results and no parameters, credits or result pages of the engine', () => {
  const surfaces: ServedSurface[] = ['web_search', 'engine_images', 'engine_maps'];
  const bodies = [replies.search, replies.images, replies.maps];
  const shown = surfaces.map((surface, at) => read(surface, bodies[at]).data);
  const text = JSON.stringify(shown);
  for (const hidden of ['searchParameters', 'credits', 'googleUrl', 'serpLink', 'bookingLinks']) {
    assert.equal(text.includes(hidden), false, hidden);
  }
  assert.deepEqual(Object.keys(shown[0] ?? {}), [
    'knowledgeGraph',
    'answerBox',
    'organic',
    'peopleAlsoAsk',
    'relatedSearches',
  ]);
  assert.deepEqual(shown[2]?.ll, '@47.3769,8.5417,14z');
  const [page] = (shown[0]?.organic ?? []) as Record<string, unknown>[];
  assert.deepEqual(page?.sitelinks, [{ title: 'Map', link: 'https://alps.example.org/map' }]);
  assert.deepEqual(page?.attributes, { Missing: 'peaks' });
});

test('refusals are told apart by their words where the status says something else', () => {
  const { readFailure } = serperFamily;
  const unpaid = { message: 'Not enough credits', statusCode: 400 };
  assert.equal(readFailure(400, unpaid), 'exhausted');
  assert.equal(readFailure(403, unpaid), 'exhausted');
  assert.equal(readFailure(400, { message: 'Missing query parameter' }), 'refused');
  // A client's own words may be repeated further on.
  assert.equal(readFailure(400, { message: 'no query: not enough credits' }), 'refused');
  assert.equal(readFailure(403, { message: 'Unauthorized.' }), 'credential');
  assert.equal(readFailure(401, undefined), 'credential');
  assert.equal(readFailure(429, { message: 'Rate limit exceeded.' }), 'busy');
  assert.equal(readFailure(500, unpaid), 'failed');
  assert.equal(readFailure(404, 'Not found'), 'failed');
});
