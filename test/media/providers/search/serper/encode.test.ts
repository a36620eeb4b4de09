// Requests of the serper family: what each surface asks for, and what it never sends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serperFamily } from '../../../../../media/providers/search/serper/family.ts';
import type { SearchAsk } from '../../../../../media/search/contract.ts';
import type { ServedSurface } from '../../../../../media/search/surfaces.ts';
import { askOf, targetOf } from '../ask.ts';

const target = targetOf('serper', 'https://search.example.com/', 'key-of-the-provider');

function sent(ask: SearchAsk, passed: SearchAsk['extra'] = {}) {
  const endpoint = serperFamily.endpoints[ask.surface];
  assert.ok(endpoint !== undefined);
  const call = endpoint.encode(ask, target, passed);
  return { ...call, body: JSON.parse(call.body ?? '') as Record<string, unknown> };
}

test('each surface has its endpoint, and three have none', () => {
  const paths = {
    web_search: 'search',
    engine_search: 'search',
    engine_images: 'images',
    engine_news: 'news',
    engine_maps: 'maps',
    engine_places: 'places',
    engine_shopping: 'shopping',
    engine_scholar: 'scholar',
    engine_videos: 'videos',
    engine_autocomplete: 'autocomplete',
  } as const;
  for (const [surface, path] of Object.entries(paths)) {
    const { method, url } = sent(askOf(surface as keyof typeof paths, 'alps'));
    assert.equal(`${method} ${url}`, `POST https://search.example.com/${path}`);
  }
  assert.deepEqual(Object.keys(serperFamily.endpoints), Object.keys(paths));
});

test('the query is in the body and the key in a header', () => {
  const { url, headers, body } = sent(askOf('web_search', 'alps'));
  assert.equal(headers['x-api-key'], 'key-of-the-provider');
  assert.deepEqual(body, { q: 'alps', num: 10 });
  assert.doesNotMatch(url, /alps|key-of/);
});

test('a provider without a key is sent none', () => {
  const endpoint = serperFamily.endpoints.web_search;
  const call = endpoint?.encode(askOf('web_search', 'alps'), { ...target, apiKey: null }, {});
  assert.ok(call !== undefined && !('x-api-key' in call.headers));
});

test('known parameters are translated', () => {
  const { body } = sent(
    askOf('engine_news', 'alps', {
      page: 3,
      gl: 'ch',
      hl: 'de',
      location: 'Zurich, Switzerland',
      timeRange: 'week',
      includeDomains: ['a.example', 'b.example'],
      excludeDomains: ['c.example'],
    }),
  );
  assert.deepEqual(body, {
    q: 'alps (site:a.example OR site:b.example) -site:c.example',
    num: 10,
    page: 3,
    gl: 'ch',
    hl: 'de',
    location: 'Zurich, Switzerland',
    tbs: 'qdr:w',
  });
});

test('never more results are asked for than one price buys', () => {
  for (const limit of [1, 10, 50]) {
    assert.equal(sent(askOf('web_search', 'alps', { limit })).body.num, 10);
    assert.equal(sent(askOf('engine_images', 'alps', { limit })).body.num, 10);
    for (const surface of ['engine_maps', 'engine_shopping', 'engine_autocomplete'] as const) {
      assert.equal('num' in sent(askOf(surface, 'alps', { limit })).body, false, surface);
    }
  }
});

test("the caller's pages are cut from those of the provider", () => {
  const pageOf = (surface: ServedSurface, limit: number, page: number) =>
    sent(askOf(surface, 'alps', { limit, page })).body.page;
  assert.deepEqual(
    [1, 2, 3].map((page) => pageOf('web_search', 10, page)),
    [undefined, 2, 3],
  );
  assert.deepEqual(
    [1, 2, 3].map((page) => pageOf('web_search', 5, page)),
    [undefined, undefined, 2],
  );
  assert.deepEqual(
    [1, 2, 3].map((page) => pageOf('engine_maps', 10, page)),
    [undefined, undefined, 2],
  );
  assert.equal(pageOf('engine_autocomplete', 10, 2), undefined);
});

test('a point of the map is sent to maps and places alone', () => {
  const ll = { latitude: 47.3769, longitude: 8.5417, zoom: null };
  assert.equal(sent(askOf('engine_maps', 'coffee', { ll })).body.ll, '@47.3769,8.5417,14z');
  const near = { ...ll, zoom: 17 };
  assert.equal(sent(askOf('engine_places', 'coffee', { ll: near })).body.ll, '@47.3769,8.5417,17z');
  assert.equal('ll' in sent(askOf('web_search', 'coffee', { ll })).body, false);
});

test('what is passed stands beside what is known, and never over it', () => {
  const ask = askOf('engine_images', 'alps', { timeRange: 'day' });
  const { body } = sent(ask, { tbs: 'isz:l', autocorrect: false, q: 'other', num: 100 });
  assert.equal(body.tbs, 'qdr:d,isz:l');
  assert.equal(body.autocorrect, false);
  assert.equal(body.q, 'alps');
  assert.equal(body.num, 10);
});

test('parameters pass in the form that their surface takes', () => {
  const takes = serperFamily.takes ?? (() => assert.fail('it has forms'));
  assert.equal(takes('web_search', 'autocorrect', false), true);
  assert.equal(takes('web_search', 'autocorrect', 'no'), false);
  assert.equal(takes('engine_images', 'tbs', 'isz:l,ic:gray'), true);
  assert.equal(takes('engine_images', 'tbs', 'isz:l&num=100'), false);
  assert.equal(takes('engine_shopping', 'tbs', 'isz:l'), false);
  assert.equal(takes('engine_scholar', 'yearFrom', 2019), true);
  assert.equal(takes('engine_scholar', 'yearFrom', [2019, 2020]), false);
  assert.equal(takes('web_search', 'yearFrom', 2019), false);
});
