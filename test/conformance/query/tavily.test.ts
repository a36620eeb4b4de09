// Tavily's own client against the simulator: every kind of search that it knows, found, empty and
// failing. What it takes for a good reply, the product may take for one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TavilyClient, tavily } from '@tavily/core';
import { resultOf } from '../../../bench/sim/results.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';

let sim: RunningSim;
let client: TavilyClient;

function clientWith(apiKey: string): TavilyClient {
  return tavily({ apiKey, apiBaseURL: `http://127.0.0.1:${sim.port}/tavily` });
}

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
  client = clientWith('right');
});
after(() => sim.close());

test('finds scored pages, with their favicons, pictures and whole texts', async () => {
  const plain = await client.search('emperor penguins');
  assert.equal(plain.results.length, 5);
  for (const [index, result] of plain.results.entries()) {
    assert.equal(result.url, resultOf('emperor penguins', index + 1).link);
    assert.ok(result.score > 0 && result.score < 1);
    assert.ok(result.content.includes('emperor penguins'));
    assert.equal(result.rawContent, null);
  }
  assert.deepEqual(plain.images, []);
  assert.ok(plain.responseTime > 0 && plain.requestId.length > 0);
  const rich = await client.search('emperor penguins', {
    maxResults: 12,
    includeImages: true,
    includeFavicon: true,
    includeRawContent: 'markdown',
    includeAnswer: 'basic',
    includeUsage: true,
  });
  assert.equal(rich.results.length, 12);
  assert.match(rich.images[0]?.url ?? '', /^https:.*\.jpg$/);
  assert.match(rich.results[0]?.favicon ?? '', /favicon/);
  assert.match(rich.results[0]?.rawContent ?? '', /^# /);
  assert.ok((rich.answer ?? '').includes('emperor penguins'));
  assert.equal(rich.usage?.credits, 1);
  const scores = rich.results.map(({ score }) => score);
  assert.deepEqual(scores, [...scores].sort().reverse());
});

test('tells what costs twice as much', async () => {
  const deep = await client.search('coffee', { searchDepth: 'advanced', includeUsage: true });
  assert.equal(deep.usage?.credits, 2);
  const automatic = await client.search('coffee', { autoParameters: true, includeUsage: true });
  assert.equal(automatic.usage?.credits, 2);
  assert.equal(automatic.autoParameters?.searchDepth, 'advanced');
});

test('finds news with their dates, and pages of the sites that are wanted', async () => {
  const news = await client.search('coffee', { topic: 'news', timeRange: 'week' });
  for (const { publishedDate } of news.results) assert.ok(Date.parse(publishedDate) > 0);
  const bound = await client.search('coffee', { includeDomains: ['one.example.com'] });
  assert.ok(bound.results.every(({ url }) => url.startsWith('https://one.example.com/')));
});

test('answers with texts alone where they are asked for', async (t) => {
  // Both warn of their age.
  t.mock.method(console, 'warn', () => undefined);
  assert.match(await client.searchQNA('coffee', {}), /says \d+ things about coffee/);
  const context = JSON.parse(await client.searchContext('coffee', {})) as string;
  assert.equal((JSON.parse(context) as { url: string }[])[0]?.url, resultOf('coffee', 1).link);
});

test('finds nothing without an error', async () => {
  assert.deepEqual((await client.search('coffee [[search empty=1]]')).results, []);
});

test('fails with the words of each refusal', async () => {
  const failures: [string, RegExp][] = [
    ['status=400', /Invalid request/],
    ['status=429', /excessive requests/],
    ['exhausted=1', /your plan's set usage limit/],
    ['status=433', /pay-as-you-go limit/],
    ['status=500', /Internal Server Error/],
    ['fault=cut', /unexpected error/],
  ];
  for (const [directive, words] of failures) {
    await assert.rejects(client.search(`coffee [[search ${directive}]]`), words, directive);
  }
  await assert.rejects(clientWith('wrong').search('coffee'), /missing or invalid API key/);
  await assert.rejects(client.search('x'.repeat(401)), /Max query length is 400/);
  await assert.rejects(client.search('coffee', { maxResults: 21 }), /max_results/);
  await assert.rejects(
    client.search('coffee', { topic: 'news', country: 'france' }),
    /general topic/,
  );
  const slow = client.search('coffee [[search fault=stall]]', { timeout: 0.1 });
  await assert.rejects(slow, /timed out/);
});
