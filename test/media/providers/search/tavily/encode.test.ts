// What Tavily is asked: always the plain depth and no answer of its own, whatever is passed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tavilyFamily } from '../../../../../media/providers/search/tavily/family.ts';
import type { ParameterValue, SearchParameters } from '../../../../../media/search/contract.ts';
import type { ServedSurface } from '../../../../../media/search/surfaces.ts';
import { askOf, targetOf } from '../ask.ts';

const target = targetOf('tavily', 'https://tavily.example.com', 'tvly-secret');

function sent(
  surface: ServedSurface,
  parameters: Partial<SearchParameters> = {},
  { query = 'swiss alps', passed = {} as Record<string, ParameterValue> } = {},
) {
  const ask = askOf(surface, query, parameters);
  const call = tavilyFamily.endpoints[surface]?.encode(ask, target, passed);
  assert.ok(call !== undefined);
  return { ...call, body: JSON.parse(call.body ?? '') };
}

const plain = {
  query: 'swiss alps',
  topic: 'general',
  search_depth: 'basic',
  include_answer: false,
  max_results: 10,
};

test('three surfaces are one call, and news are a topic', () => {
  assert.deepEqual(Object.keys(tavilyFamily.endpoints).sort(), [
    'ai_search',
    'engine_news',
    'web_search',
  ]);
  assert.equal(tavilyFamily.isScoring, true);
  assert.deepEqual(sent('ai_search').body, plain);
  assert.deepEqual(sent('web_search').body, plain);
  assert.deepEqual(sent('engine_news').body, { ...plain, topic: 'news' });
});

test('the key is in a header alone', () => {
  const { method, url, headers, body } = sent('web_search');
  assert.equal(method, 'POST');
  assert.equal(url, 'https://tavily.example.com/search');
  assert.equal(headers.authorization, 'Bearer tvly-secret');
  assert.ok(!JSON.stringify(body).includes('tvly-secret'));
  const bare = tavilyFamily.endpoints.web_search?.encode(
    askOf('web_search', 'x'),
    targetOf('tavily', 'https://tavily.example.com', null),
    {},
  );
  assert.ok(!Object.hasOwn(bare?.headers ?? {}, 'authorization'));
});

test('times, hosts and the country have its names', () => {
  const { body } = sent('web_search', {
    timeRange: 'week',
    includeDomains: ['a.example', 'b.example'],
    excludeDomains: ['c.example'],
    gl: 'ch',
    hl: 'de',
  });
  assert.deepEqual(body, {
    ...plain,
    time_range: 'week',
    include_domains: ['a.example', 'b.example'],
    exclude_domains: ['c.example'],
    country: 'switzerland',
  });
});

test('a country goes with no news, and one without a sure name goes with nothing', () => {
  assert.ok(!Object.hasOwn(sent('engine_news', { gl: 'us' }).body, 'country'));
  assert.ok(!Object.hasOwn(sent('web_search', { gl: 'zz' }).body, 'country'));
  assert.equal(sent('web_search', { gl: 'uk' }).body.country, 'united kingdom');
});

test('a query of more than 400 characters is cut at a word', () => {
  const query = 'alps '.repeat(300).trim();
  const { body } = sent('web_search', {}, { query });
  assert.equal(body.query.length, 399);
  assert.ok(body.query.endsWith(' alps'));
});

test('at most 20 results are asked for, those of earlier pages among them', () => {
  assert.equal(sent('web_search', { limit: 5 }).body.max_results, 5);
  assert.equal(sent('web_search', { limit: 50 }).body.max_results, 20);
  assert.equal(sent('web_search', { limit: 5, page: 3 }).body.max_results, 15);
  assert.equal(sent('web_search', { limit: 10, page: 10 }).body.max_results, 20);
});

test('what is passed changes neither depth nor answer nor query', () => {
  const passed = {
    start_date: '2026-01-01',
    query: 'other',
    search_depth: 'advanced',
    include_answer: 'advanced',
    max_results: 500,
    topic: 'finance',
  };
  const { body } = sent('web_search', {}, { passed });
  assert.deepEqual(body, { ...plain, start_date: '2026-01-01' });
});

test('days are of news alone, and no name that is not listed is taken', () => {
  assert.equal(tavilyFamily.takes?.('engine_news', 'days', 3), true);
  assert.equal(tavilyFamily.takes?.('web_search', 'days', 3), false);
  assert.equal(tavilyFamily.takes?.('web_search', 'start_date', '2026-01-01'), true);
  assert.equal(tavilyFamily.takes?.('web_search', 'auto_parameters', true), false);
  assert.equal(tavilyFamily.takes?.('web_search', 'toString', true), false);
});
