// Every family on every surface against the simulator. The outcome says what its provider does, and
// what is found is valid by the schema of its kind.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { type RunningSim, startSim } from '../../../../bench/sim/server.ts';
import { createSearchClient } from '../../../../media/providers/search/call.ts';
import { simulatedSearchProviders } from '../../../../media/providers/search/simulated.ts';
import type { SearchAsk, SearchOutcome } from '../../../../media/search/contract.ts';
import { readQuery } from '../../../../media/search/parameters.ts';
import { factsOf, type ServedSurface } from '../../../../media/search/surfaces.ts';
import { sampled } from '../../../harness/sample.ts';
import { itemSchemas } from '../../../harness/search-items.ts';
import { testSeed } from '../../../harness/seed.ts';
import { targetOf } from './ask.ts';

type State = SearchOutcome['state'];

const key = 'key-of-the-provider';
const client = createSearchClient({ connectionsMax: 8 });
let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key, seed: 1 });
});
after(async () => {
  await client.close();
  sim.close();
});

const pairs = simulatedSearchProviders.flatMap(({ family, basePath, surfaces }) =>
  surfaces.map((surface) => ({ family, basePath, surface })),
);

function askOf(surface: ServedSurface): SearchAsk {
  const rest: Partial<Record<ServedSurface, object>> = {
    engine_routes: { origin: 'Zurich', destination: 'Bern' },
    engine_flights: { departure_id: 'ZRH', arrival_id: 'JFK' },
  };
  const read = readQuery(surface, { query: 'alps', rest: rest[surface] ?? {} }, Date.now());
  assert.ok(read.ok);
  return read.ask;
}

async function arm(family: string, directive: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${sim.port}/sim/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: family, directive }),
  });
  assert.equal(response.status, 200);
}

async function search(
  { family, basePath, surface }: (typeof pairs)[number],
  directive: string,
  deadlineMs = 5_000,
  apiKey = key,
): Promise<SearchOutcome> {
  await arm(family, directive);
  const target = targetOf(family, `http://127.0.0.1:${sim.port}${basePath}`, apiKey);
  const { signal } = new AbortController();
  const outcome = await client.search(target, askOf(surface), { deadlineMs, signal });
  const told = JSON.stringify('detail' in outcome ? outcome.detail : outcome.dataJson);
  assert.equal(told.includes(apiKey) || told.includes(`:${sim.port}`), false, told);
  if ('items' in outcome) {
    const { kind } = factsOf(surface);
    for (const item of outcome.items) v.parse(itemSchemas[kind], item);
    JSON.parse(outcome.dataJson);
  }
  return outcome;
}

for (const directive of ['', 'unknown=1 html=1 relative_dates=1 results=30']) {
  test(`every surface is found: ${directive}`, async () => {
    for (const pair of pairs) {
      const outcome = await search(pair, directive);
      const what = `${pair.family} ${pair.surface}: ${JSON.stringify(outcome)}`;
      assert.ok(outcome.state === 'found', what);
      assert.ok(outcome.items.length > 0 && outcome.items.length <= 10, what);
    }
  });
}

const failures: [directive: string, states: State[]][] = [
  ['empty=1', ['empty']],
  ['partial=1', ['found', 'partial']],
  ['bytes=1000000', ['found']],
  ['exhausted=1', ['exhausted']],
  ['status=400', ['refused']],
  ['status=429 retry_after=7', ['busy']],
  ['status=500', ['failed']],
  ['fault=garbage', ['failed']],
  ['fault=cut', ['failed']],
  ['fault=cut at=1', ['failed']],
  ['results=3 bad_items=3', ['failed']],
  ['bytes=3000000', ['failed']],
];

/** What a family has no words for, or has beside its list. */
function isOtherwise({ family, surface }: (typeof pairs)[number], directive: string): boolean {
  // Engines that refuse their server are silent ones: nothing came.
  if (family === 'searxng') return directive === 'exhausted=1';
  // A direct answer has its own page.
  return family === 'serper' && directive.includes('bad_items') && factsOf(surface).kind === 'web';
}

for (const [directive, states] of failures) {
  test(`${directive} has its outcome on a sample of surfaces (seed ${testSeed})`, async () => {
    const told = pairs.filter((pair) => !isOtherwise(pair, directive));
    for (const pair of sampled(told, 12, testSeed + directive.length)) {
      const outcome = await search(pair, directive);
      const what = `${pair.family} ${pair.surface}: ${JSON.stringify(outcome)}`;
      assert.ok(states.includes(outcome.state), what);
      if (outcome.state === 'busy') assert.equal(outcome.retryAfterMs, 7_000, what);
    }
  });
}

test('a provider that stalls is late, and one with another key refuses ours', async () => {
  for (const pair of sampled(pairs, 4)) {
    assert.equal((await search(pair, 'fault=stall', 60)).state, 'timeout');
  }
  for (const { family } of simulatedSearchProviders.filter((each) => each.family !== 'searxng')) {
    const pair = pairs.find((each) => each.family === family);
    assert.ok(pair !== undefined);
    const outcome = await search(pair, '', 5_000, 'another-key-of-theirs');
    assert.equal(outcome.state, 'credential', family);
  }
});
