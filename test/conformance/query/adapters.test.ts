// The product's own adapters against the simulator: each family on every surface that development
// mode has it for, found and in each way of failing. Items are checked by the schema of their kind.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { resultOf } from '../../../bench/sim/results.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { createSearchClient } from '../../../media/providers/search/call.ts';
import { servesSurface } from '../../../media/providers/search/families.ts';
import { simulatedSearchProviders } from '../../../media/providers/search/simulated.ts';
import type {
  SearchItem,
  SearchOutcome,
  SearchParameters,
} from '../../../media/search/contract.ts';
import { factsOf, type ServedSurface } from '../../../media/search/surfaces.ts';
import { itemSchemas } from '../../harness/search-items.ts';
import { askOf, targetOf } from '../../media/providers/search/ask.ts';

const client = createSearchClient({ connectionsMax: 4 });
let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
});
after(async () => {
  await client.close();
  sim.close();
});

/** What travel is asked with; the query of the others is all. */
const travel: Partial<Record<ServedSurface, Partial<SearchParameters>>> = {
  engine_flights: {
    flights: {
      departureId: 'ZRH',
      arrivalId: 'JFK',
      outboundDate: '2026-12-24',
      returnDate: null,
      trip: 'one_way',
      adults: 1,
      children: 0,
      travelClass: null,
      stopsMax: null,
      maxPrice: null,
      currency: 'USD',
    },
  },
  engine_hotels: {
    hotels: {
      checkInDate: '2026-12-24',
      checkOutDate: '2026-12-26',
      adults: 2,
      children: 0,
      childrenAges: [],
      currency: 'USD',
      minPrice: null,
      maxPrice: null,
      sortBy: null,
    },
  },
  engine_routes: {
    routes: {
      origin: 'Zurich',
      destination: 'Bern',
      mode: 'driving',
      departAt: null,
      arriveBy: null,
      avoid: [],
    },
  },
};

type Provider = (typeof simulatedSearchProviders)[number];

interface Asked {
  directive?: string;
  deadlineMs?: number;
  key?: string;
}

/** The directive waits, as the query is not in every request. */
async function find(
  { family, basePath }: Provider,
  surface: ServedSurface,
  { directive = '', deadlineMs = 10_000, key = 'right' }: Asked = {},
): Promise<SearchOutcome> {
  const simulatorUrl = `http://127.0.0.1:${sim.port}`;
  const body = JSON.stringify({ model: family, directive });
  assert.equal((await fetch(`${simulatorUrl}/sim/search`, { method: 'POST', body })).status, 200);
  const target = targetOf(family, simulatorUrl + basePath, key);
  const options = { deadlineMs, signal: new AbortController().signal };
  return client.search(target, askOf(surface, 'coffee', travel[surface] ?? {}), options);
}

function itemsOf(outcome: SearchOutcome, surface: ServedSurface): SearchItem[] {
  assert.ok('items' in outcome, `${surface}: ${JSON.stringify(outcome)}`);
  const schema = v.array(itemSchemas[factsOf(surface).kind] as v.GenericSchema);
  const checked = v.safeParse(schema, outcome.items);
  assert.ok(checked.success, JSON.stringify(checked.issues?.[0]?.path));
  return outcome.items;
}

/** Items of these kinds are pages of their own. */
const linked = new Set(['web', 'news', 'videos', 'papers']);

for (const provider of simulatedSearchProviders) {
  const { family, surfaces } = provider;
  const isKeyless = family === 'searxng';

  test(`${family} finds items on each of its surfaces`, async () => {
    for (const surface of surfaces) {
      assert.ok(servesSurface(family, surface), surface);
      const outcome = await find(provider, surface);
      assert.equal(outcome.state, 'found', `${surface}: ${JSON.stringify(outcome)}`);
      const items = itemsOf(outcome, surface);
      assert.ok(items.length >= 3, surface);
      if (linked.has(factsOf(surface).kind)) {
        assert.equal(items[0]?.url, resultOf('coffee', 1).link, surface);
      }
      assert.doesNotMatch('dataJson' in outcome ? outcome.dataJson : '', /serpapi\.com/);
    }
  });

  test(`${family} is empty, and survives what is strange`, async () => {
    for (const surface of surfaces) {
      const empty = await find(provider, surface, { directive: 'empty=1' });
      assert.equal(empty.state, 'empty', surface);
      const bad = await find(provider, surface, { directive: 'bad_items=1 results=3' });
      assert.equal(itemsOf(bad, surface).length, 2, `${surface}, a bad item`);
      const none = await find(provider, surface, { directive: 'bad_items=3 results=3' });
      assert.equal(none.state, 'failed', `${surface}, bad items alone`);
      for (const directive of ['html=1', 'relative_dates=1', 'unknown=1', 'partial=1']) {
        const items = itemsOf(await find(provider, surface, { directive }), surface);
        assert.ok(items.length > 0, `${surface}, ${directive}`);
        for (const item of items) assert.doesNotMatch(JSON.stringify(item), /<em>|<b>|&#39;|sim_/);
      }
    }
  });

  const failures: [string, string][] = [
    ['status=400', 'refused'],
    ['status=429', 'busy'],
    ['exhausted=1', isKeyless ? 'failed' : 'exhausted'],
    ['status=unpaid', isKeyless ? 'failed' : 'exhausted'],
    ['status=403', 'credential'],
    ['status=500', 'failed'],
    ['status=503', 'failed'],
    ['fault=garbage', 'failed'],
    ['fault=cut', 'failed'],
    ['fault=cut at=1', 'failed'],
  ];

  // Every surface in every state is in `test/media/providers/search/`.
  test(`${family} fails in our words`, async () => {
    const [surface = 'web_search'] = surfaces;
    for (const [directive, state] of failures) {
      const outcome = await find(provider, surface, { directive });
      assert.equal(outcome.state, state, `${directive}: ${JSON.stringify(outcome)}`);
    }
    const partial = await find(provider, surface, { directive: 'partial=1' });
    // The other two tell nothing that would be missed.
    const isTold = family === 'serper' || family === 'searxng';
    assert.equal(partial.state, isTold ? 'partial' : 'found');
    const long = await find(provider, surface, { directive: 'bytes=5000000' });
    assert.equal(long.state, 'failed');
    const stalled = await find(provider, surface, { directive: 'fault=stall', deadlineMs: 150 });
    assert.equal(stalled.state, 'timeout');
    const wrong = await find(provider, surface, { key: 'wrong' });
    assert.equal(wrong.state, isKeyless ? 'found' : 'credential');
  });
}
