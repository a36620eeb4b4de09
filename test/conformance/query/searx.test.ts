// The adapter of SearXNG against a real searx 1.1 of Debian, whose one engine asks the simulator.
// The form that we send and the reply that we read are those of real software.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resultOf } from '../../../bench/sim/results.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { createSearchClient } from '../../../media/providers/search/call.ts';
import type { SearchOutcome } from '../../../media/search/contract.ts';
import type { ServedSurface } from '../../../media/search/surfaces.ts';
import { askOf, targetOf } from '../../media/providers/search/ask.ts';
import { type Searx, startSearx, withoutSearx } from './searx.ts';

const client = createSearchClient({ connectionsMax: 2 });
const skip = withoutSearx;
let sim: RunningSim;
let searx: Searx | null = null;

before(async () => {
  if (skip !== false) return;
  sim = await startSim({ port: 0, key: null, seed: 7 });
  searx = await startSearx(`http://127.0.0.1:${sim.port}`);
});
after(async () => {
  await client.close();
  if (searx === null) return;
  await searx.close();
  sim.close();
});

const url = () => searx?.url ?? assert.fail('it did not start');

function find(
  query: string,
  parameters: Parameters<typeof askOf>[2] = {},
  surface: ServedSurface = 'web_search',
): Promise<SearchOutcome> {
  const options = { deadlineMs: 20_000, signal: new AbortController().signal };
  return client.search(targetOf('searxng', url()), askOf(surface, query, parameters), options);
}

test('finds the pages of the simulator through it', { skip }, async () => {
  const outcome = await find('emperor penguins', { safe: 'strict', hl: 'en', limit: 5 });
  assert.ok('items' in outcome, JSON.stringify(outcome));
  assert.equal(outcome.state, 'found');
  assert.deepEqual(
    outcome.items.map((item) => [item.position, item.title, item.url, item.snippet]),
    [1, 2, 3, 4, 5].map((position) => {
      const { title, link, snippet } = resultOf('emperor penguins', position);
      return [position, title, link, snippet];
    }),
  );
  assert.deepEqual(outcome.related, ['emperor penguins meaning']);
  const second = await find('emperor penguins', { page: 2 });
  assert.ok('items' in second);
  assert.equal(second.items[0]?.url, resultOf('emperor penguins', 11).link);
});

test('its empty answer is empty, and an engine that failed is no answer', { skip }, async () => {
  assert.equal((await find('coffee [[search empty=1]]')).state, 'empty');
  assert.equal((await find('coffee [[search status=500]]')).state, 'failed');
  // Whether an engine that was banned for a millisecond is asked again is up to its clock.
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal((await find('coffee again')).state, 'found');
});

test('words that would command it are words that are searched for', { skip }, async () => {
  for (const query of ['!!g coffee', ':de coffee', '<9 coffee', '!sim coffee']) {
    const outcome = await find(query);
    assert.equal(outcome.state, 'found', query);
  }
});

test('refuses a form without a query, and reads no JSON', { skip }, async () => {
  const search = `${url()}/search`;
  const refused = await fetch(search, {
    method: 'POST',
    body: new URLSearchParams({ format: 'json' }),
  });
  assert.deepEqual([refused.status, await refused.json()], [400, { error: 'No query' }]);
  const json = await fetch(search, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ q: 'coffee', format: 'json' }),
  });
  assert.match(json.headers.get('content-type') ?? '', /text\/html/);
  await json.arrayBuffer();
});

test('completes nothing without a backend, which is empty', { skip }, async () => {
  assert.equal((await find('coff', {}, 'engine_autocomplete')).state, 'empty');
});
