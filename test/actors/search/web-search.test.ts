// What generations and voice sessions ask of the desk, and what they are given and pay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failedResult, foundResult } from '../../../actors/search/conclusion.ts';
import type { Found, SearchOrder } from '../../../actors/search/contract.ts';
import { createWebSearch } from '../../../actors/search/web-search.ts';
import type { FoundOutcome, SearchItem } from '../../../media/search/contract.ts';
import { deskOf, searchSurface, searchTarget } from '../../harness/search-surface.ts';
import { fakeClient, outcome, type State } from './fakes.ts';

const target = searchTarget('one/web_search');
const surface = searchSurface([target]);
const { signal } = new AbortController();
const page = (position: number, members: Partial<SearchItem> = {}): SearchItem => ({
  position,
  title: `T${position}`,
  url: `https://a.example/${position}`,
  ...members,
});

function webOf(items: SearchItem[], hit = false, state: State = 'found') {
  const orders: SearchOrder[] = [];
  const made = { ...outcome(state), items } as FoundOutcome;
  const found: Found = {
    result: foundResult([], target, made, 1),
    cache: { hit, ageSeconds: 0 },
  };
  const find = async (order: SearchOrder) => {
    orders.push(order);
    return found;
  };
  return { orders, web: createWebSearch({ look: async () => null, find }) };
}

test('the locale is language and country of the search', async () => {
  const cases: [string | null, string | null, string | null][] = [
    ['de-CH', 'de', 'ch'],
    ['pt_BR', 'pt', 'br'],
    ['EN', 'en', null],
    ['zh-Hans-CN', 'zh', 'cn'],
    ['zh-Hant', 'zh', null],
    ['fil-PH', null, null],
    ['', null, null],
    ['?', null, null],
    [null, null, null],
  ];
  const { orders, web } = webOf([]);
  const place = { surface, accountId: 'acc_1', hitsMax: 8 };
  for (const [locale, hl, gl] of cases) {
    await web.search(place, { query: 'e\u0301', locale }, signal);
    const { ask, accountId, answer } = orders.at(-1) as SearchOrder;
    assert.deepEqual([ask.parameters.hl, ask.parameters.gl], [hl, gl], String(locale));
    assert.deepEqual([ask.surface, ask.query, ask.parameters.limit], ['web_search', 'é', 8]);
    assert.deepEqual([accountId, answer], ['acc_1', null]);
  }
});

test('a surface that is not offered for queries is asked anew each time', async () => {
  const { orders, web } = webOf([]);
  for (const priceMicros of [1n, null]) {
    const place = { surface: { ...surface, priceMicros }, accountId: 'acc_1', hitsMax: 6 };
    await web.search(place, { query: 'q', locale: null }, signal);
  }
  assert.deepEqual(
    orders.map(({ maxAgeSeconds }) => maxAgeSeconds),
    [300, 0],
  );
});

test('hits are items that fit into a prompt, as many as are wanted', async () => {
  const items = [
    page(1, { title: '😀'.repeat(150), snippet: 's'.repeat(1_001), published_at: '2026-01-02' }),
    page(2, { published_at: '2026-01-02', published_text: 'yesterday' }),
    page(3, { published_text: `${'x'.repeat(99)}😀` }),
    page(4, { url: `https://a.example/${'x'.repeat(2_048)}` }),
    page(5),
  ];
  const { web } = webOf(items);
  const place = { surface, accountId: 'acc_1', hitsMax: 4 };
  const found = await web.search(place, { query: 'q', locale: null }, signal);
  assert.deepEqual(found, [
    {
      title: '😀'.repeat(100),
      url: 'https://a.example/1',
      snippet: 's'.repeat(1_000),
      date: '2026-01-02',
    },
    { title: 'T2', url: 'https://a.example/2', snippet: '', date: '2026-01-02' },
    { title: 'T3', url: 'https://a.example/3', snippet: '', date: 'x'.repeat(99) },
  ]);
});

test('a search that nobody could answer is none', async () => {
  const found = {
    result: failedResult([], 'timeout', null, true),
    cache: { hit: false, ageSeconds: 0 },
  };
  const web = createWebSearch({ look: async () => null, find: async () => found });
  const place = { surface, accountId: 'acc_1', hitsMax: 8 };
  assert.equal(await web.search(place, { query: 'q', locale: null }, signal), null);
});

test('what a generation found is no free answer of a query: it may be left unpaid', async () => {
  for (const isShared of [false, true]) {
    const client = fakeClient(() => outcome('found'));
    const { desk, stop } = deskOf({ client });
    const own = searchSurface([target], { isShared });
    const orders: SearchOrder[] = [];
    const seen = {
      look: desk.look,
      find: async (order: SearchOrder) => {
        orders.push(order);
        return await desk.find(order, signal);
      },
    };
    const place = { surface: own, accountId: 'acc_1', hitsMax: 8 };
    const asked = { query: 'penguins', locale: null };
    const first = await createWebSearch(seen).search(place, asked, signal);
    assert.equal(first?.length, 1);
    const [{ isPaidLater: _later, ...query } = assert.fail('it was asked for')] = orders;
    // What all accounts share costs its price, whoever it was asked for.
    assert.equal((await desk.look(query, signal)) !== null, isShared);
    await desk.find(query, signal);
    assert.equal(client.asked.length, isShared ? 1 : 2);
    const last = await createWebSearch(desk).search(place, asked, signal);
    assert.deepEqual(last, first);
    assert.equal(client.asked.length, isShared ? 1 : 2);
    await stop();
  }
});
