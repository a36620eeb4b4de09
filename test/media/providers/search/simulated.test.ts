// Two families of providers through the one call against the simulator. Each surface gives items of
// its kind, each fault is what it stands for, and nobody is told the key.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { type RunningSim, startSim } from '../../../../bench/sim/server.ts';
import { createSearchClient } from '../../../../media/providers/search/call.ts';
import { searchFamily } from '../../../../media/providers/search/families.ts';
import type { SearchOutcome, SearchParameters } from '../../../../media/search/contract.ts';
import { factsOf, type ServedSurface } from '../../../../media/search/surfaces.ts';
import { itemSchemas } from '../../../harness/search-items.ts';
import { askOf, targetOf } from './ask.ts';
import { flight, journey, stay } from './travel.ts';

const key = 'marked-key-of-the-provider';
const client = createSearchClient({ connectionsMax: 8 });
let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key, seed: 7 });
});
after(async () => {
  await client.close();
  sim.close();
});

interface Asking {
  family: string;
  surface: ServedSurface;
  directive?: string;
  parameters?: Partial<SearchParameters>;
  apiKey?: string;
  deadlineMs?: number;
}

/** The directive stands where the surface has its text. */
async function search(asking: Asking): Promise<SearchOutcome> {
  const { family, surface, directive = '', apiKey = key, deadlineMs = 5_000 } = asking;
  const ask = askOf(surface, `alps ${directive}`, {
    flights: { ...flight, departureId: `ZRH${directive}` },
    hotels: stay,
    routes: { ...journey, origin: `Zurich ${directive}` },
    ...asking.parameters,
  });
  const target = targetOf(family, `http://127.0.0.1:${sim.port}/${family}`, apiKey);
  const { signal } = new AbortController();
  const outcome = await client.search(target, ask, { deadlineMs, signal });
  const told = JSON.stringify('detail' in outcome ? outcome : [outcome.dataJson, outcome.items]);
  for (const secret of [key, apiKey, `:${sim.port}`, 'serpapi.com', '_token']) {
    assert.equal(told.includes(secret), false, `${family} ${surface} tells ${secret}`);
  }
  return outcome;
}

const served = ['tavily', 'serpapi'].flatMap((family) =>
  Object.keys(searchFamily(family)?.endpoints ?? {}).map(
    (surface) => ({ family, surface: surface as ServedSurface }) as const,
  ),
);

for (const { family, surface } of served) {
  test(`${family} finds items of ${surface}`, async () => {
    const outcome = await search({ family, surface });
    assert.ok(outcome.state === 'found', JSON.stringify(outcome));
    assert.ok(outcome.items.length >= 3);
    const schema = itemSchemas[factsOf(surface).kind];
    for (const item of outcome.items) v.parse(schema, item);
    assert.ok(outcome.dataJson.length > 100);
  });

  test(`${family} tells what goes wrong with ${surface}`, async () => {
    const rows: [string, SearchOutcome['state']][] = [
      ['empty=1', 'empty'],
      // The identifier of an airport has the directive, which makes it none.
      ['partial=1', surface === 'engine_flights' ? 'failed' : 'found'],
      ['status=400', 'refused'],
      ['status=429 retry_after=7', 'busy'],
      ['exhausted=1', 'exhausted'],
      ['status=500', 'failed'],
      ['fault=cut', 'failed'],
      ['fault=garbage', 'failed'],
      ['bad_items=1000', 'failed'],
      ['bytes=5000000', 'failed'],
    ];
    for (const [directive, state] of rows) {
      const outcome = await search({ family, surface, directive: `[[search ${directive}]]` });
      assert.equal(outcome.state, state, `${directive}: ${JSON.stringify(outcome)}`);
    }
    const wrong = await search({ family, surface, apiKey: 'marked-wrong-key' });
    assert.equal(wrong.state, 'credential');
    const stalled = { directive: '[[search fault=stall]]', deadlineMs: 100 };
    assert.equal((await search({ family, surface, ...stalled })).state, 'timeout');
  });
}

test('a second page goes on where the first one ends, on every surface that has more', async () => {
  for (const { family, surface } of served) {
    const ll = { latitude: 47, longitude: 8, zoom: null };
    const pageOf = async (page: number) => {
      const outcome = await search({ family, surface, parameters: { limit: 3, page, ll } });
      assert.ok('items' in outcome, `${family} ${surface}`);
      return outcome.items.map(({ position: _, ...item }) => JSON.stringify(item));
    };
    const [first, second] = [await pageOf(1), await pageOf(2)];
    assert.equal(first.length, 3, `${family} ${surface}`);
    assert.ok(
      second.every((item) => !first.includes(item)),
      `${family} ${surface}`,
    );
  }
});

test('hosts, times, languages and long queries are read by both', async () => {
  for (const family of ['tavily', 'serpapi']) {
    const outcome = await search({
      family,
      surface: 'web_search',
      parameters: {
        includeDomains: ['one.example.com'],
        timeRange: 'month',
        gl: 'ch',
        hl: 'de',
        location: 'Zurich',
      },
      directive: 'long '.repeat(390),
    });
    assert.ok(outcome.state === 'found', JSON.stringify(outcome));
    for (const { url } of outcome.items) assert.ok(url?.startsWith('https://one.example.com/'));
  }
});
