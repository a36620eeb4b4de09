// The four families of search providers of the simulator. One query finds the same pages through
// all. Each directive does to each family what it says, in the words of that provider.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { eventually, post } from './probe.ts';
import { type Reply, replyOf, searchFamilies } from './searches.ts';

let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
});
after(() => sim.close());

interface Counters {
  started: number;
  finished: number;
  aborted: number;
  open: number;
}

async function countersOf(model: string): Promise<Counters> {
  const reply = await fetch(`http://127.0.0.1:${sim.port}/sim/stats`);
  const { models } = (await reply.json()) as { models: Record<string, Counters> };
  return models[model] ?? { started: 0, finished: 0, aborted: 0, open: 0 };
}

async function pages(query: string, name: string) {
  const family = searchFamilies.find((one) => one.name === name) ?? assert.fail(name);
  const reply = await family.ask(sim, query);
  assert.equal(reply.status, 200, name);
  return family.pagesOf(await replyOf(reply));
}

for (const { name, model, ask, pagesOf } of searchFamilies) {
  test(`${name} finds the pages that all families find`, async () => {
    const wanted = (await pages('emperor penguins', 'serper')).map(({ url }) => url);
    assert.equal(wanted.length, 10);
    const { started } = await countersOf(model);
    const found = await pages('emperor penguins [[sim tokens=3]]', name);
    assert.deepEqual(
      found.map(({ url }) => url),
      wanted,
    );
    assert.equal((await countersOf(model)).started, started + 1);
    const bound = await pages('emperor penguins site:one.example.com', name);
    assert.ok(bound.every(({ url }) => String(url).startsWith('https://one.example.com/')));
    const unwanted = new URL(String(wanted[0])).host;
    const others = await pages(`emperor penguins -site:${unwanted}`, name);
    assert.ok(others.every(({ url }) => new URL(String(url)).host !== unwanted));
    assert.equal(others.length, 10);
  });

  test(`${name} gives as many items and bytes as it is told`, async () => {
    assert.equal((await pages('coffee [[search results=37]]', name)).length, 37);
    assert.equal((await pages('coffee [[search results=0]]', name)).length, 0);
    for (const bytes of [20_000, 1_048_576]) {
      const text = await (await ask(sim, `coffee [[search bytes=${bytes}]]`)).text();
      assert.equal(Buffer.byteLength(text), bytes);
      assert.equal(pagesOf(JSON.parse(text) as Reply).length, 10);
    }
  });

  test(`${name} has bad items, markup and dates in words where they are asked for`, async () => {
    const bad = await pages('coffee [[search bad_items=2]]', name);
    assert.deepEqual(
      bad.map(({ url }) => url === undefined),
      [true, true, ...Array<boolean>(8).fill(false)],
    );
    const [marked] = await pages('coffee [[search html=1]]', name);
    assert.match(String(marked?.title), /<b>.*coffee<\/b> &amp; more/);
    assert.match(String(marked?.snippet), /<em>.*<\/em>.*&#39;/);
    const dated = (await pages('coffee [[search relative_dates=1]]', name)).filter(
      ({ date }) => typeof date === 'string',
    );
    assert.ok(dated.length > 0);
    for (const { date } of dated) assert.match(String(date), /^\d+ days ago$/);
    const plain = await pages('coffee', name);
    for (const { date } of plain) assert.doesNotMatch(String(date), /ago/);
  });

  test(`${name} fails as it is told, in no answer or in half of one`, async () => {
    await assert.rejects((await ask(sim, 'coffee [[search fault=garbage]]')).json());
    await assert.rejects(ask(sim, 'coffee [[search fault=cut]]'));
    const half = await ask(sim, 'coffee [[search fault=cut at=1]]');
    assert.equal(half.status, 200);
    await assert.rejects(half.text());
    const { aborted } = await countersOf(model);
    await assert.rejects(ask(sim, 'coffee [[search fault=stall]]', AbortSignal.timeout(100)));
    await eventually(async () => (await countersOf(model)).aborted === aborted + 1);
    const startMs = performance.now();
    await (await ask(sim, 'coffee [[search first_ms=60]]')).arrayBuffer();
    assert.ok(performance.now() - startMs >= 50);
    const strange = await replyOf(await ask(sim, 'coffee [[search unknown=1]]'));
    assert.ok('sim_unknown' in strange);
    assert.equal(pagesOf(strange).length, 10);
  });

  test(`${name} obeys a directive for it alone, and as often as it may`, async () => {
    const other = name === 'serper' ? 'tavily' : 'serper';
    assert.equal((await pages(`tea [[search only=${name} empty=1]]`, name)).length, 0);
    assert.equal((await pages(`tea [[search only=${other} empty=1]]`, name)).length, 10);
    const both = `tea [[search only=${name} results=3]] [[search only=${other} status=500]]`;
    assert.equal((await pages(both, name)).length, 3);
    const once = 'tea [[search empty=1 times=1]]';
    assert.equal((await pages(once, name)).length, 0);
    assert.equal((await pages(once, name)).length, 10);
    const own = 'tea [[search results=2]] [[sim status=500]]';
    assert.equal((await pages(own, name)).length, 2);
  });

  test(`${name} has outages by family, by endpoint and for all`, async () => {
    const outage = (status: unknown, target?: string) =>
      post(sim, '/sim/outage', { status, for_ms: 60_000, ...(target ? { model: target } : {}) });
    for (const target of [name, model, undefined]) {
      await outage(500, target);
      assert.equal((await ask(sim, 'coffee')).status, 500, target);
      await outage('stall', target);
      const { aborted } = await countersOf(model);
      await assert.rejects(ask(sim, 'coffee', AbortSignal.timeout(60)));
      await eventually(async () => (await countersOf(model)).aborted === aborted + 1);
      await outage(0, target);
      assert.equal((await ask(sim, 'coffee')).status, 200, target);
    }
    await outage(500, name === 'serper' ? 'tavily' : 'serper');
    assert.equal((await ask(sim, 'coffee')).status, 200);
    await post(sim, '/sim/reset', {});
  });
}

interface Refused {
  status: number;
  retryAfter: string | null;
  text: string;
}

async function refused(name: string, directive: string): Promise<Refused> {
  const family = searchFamilies.find((one) => one.name === name) ?? assert.fail(name);
  const reply = await family.ask(sim, `coffee [[search ${directive}]]`);
  const text = await reply.text();
  return { status: reply.status, retryAfter: reply.headers.get('retry-after'), text };
}

const refusals: [string, string, number, RegExp][] = [
  ['serper', 'status=400', 400, /^\{"message":"Invalid request","statusCode":400\}$/],
  ['serper', 'status=403', 403, /"Unauthorized\."/],
  ['serper', 'status=429 retry_after=9', 429, /"Rate limit exceeded\."/],
  ['serper', 'exhausted=1', 400, /"Not enough credits"/],
  ['serper', 'status=unpaid', 400, /"Not enough credits"/],
  ['serper', 'status=500', 500, /"Internal server error"/],
  ['searxng', 'status=400', 400, /^\{"error":"Invalid value/],
  ['searxng', 'status=403', 403, /^<!doctype html>[\s\S]*Forbidden/],
  ['searxng', 'status=429 retry_after=9', 429, /^<!doctype html>[\s\S]*Too Many/],
  ['searxng', 'exhausted=1', 200, /"results":\[\][\s\S]*"unresponsive_engines":\[\["/],
  ['searxng', 'status=500', 500, /^\{"error":"search error"\}$/],
  ['tavily', 'status=400', 400, /^\{"detail":\{"error":"/],
  ['tavily', 'status=401', 401, /^\{"detail":\{"error":"Unauthorized: /],
  ['tavily', 'status=429 retry_after=9', 429, /excessive requests/],
  ['tavily', 'exhausted=1', 432, /your plan's set usage limit/],
  ['tavily', 'status=unpaid', 433, /pay-as-you-go limit/],
  ['tavily', 'status=500', 500, /^\{"detail":\{"error":"Internal Server Error"\}\}$/],
  ['serpapi', 'status=400', 400, /^\{"error":"Unsupported/],
  ['serpapi', 'status=401', 401, /^\{"error":"Invalid API key/],
  ['serpapi', 'status=429 retry_after=9', 429, /hourly throughput limit/],
  ['serpapi', 'exhausted=1', 429, /run out of searches/],
  ['serpapi', 'status=unpaid', 429, /searches for the month have run out/],
  ['serpapi', 'status=503', 503, /"status":"Error"[\s\S]*"error":"/],
];

test('refuses with the status and the words of each provider', async () => {
  for (const [name, directive, status, words] of refusals) {
    const seen = await refused(name, directive);
    assert.equal(seen.status, status, `${name} ${directive}`);
    assert.match(seen.text, words, `${name} ${directive}`);
    if (directive.includes('retry_after')) assert.equal(seen.retryAfter, '9', name);
  }
});

test('is empty and partial as each provider is', async () => {
  const bodies = async (directive: string) =>
    Object.fromEntries(
      await Promise.all(
        searchFamilies.map(async ({ name, ask }): Promise<[string, Reply]> => {
          const reply = await ask(sim, `coffee [[search ${directive}]]`);
          assert.equal(reply.status, 200);
          return [name, await replyOf(reply)];
        }),
      ),
    );
  const empty = await bodies('empty=1');
  assert.deepEqual(empty.serper?.organic, []);
  assert.deepEqual([empty.searxng?.results, empty.searxng?.unresponsive_engines], [[], []]);
  assert.deepEqual(empty.tavily?.results, []);
  const { search_metadata, search_information, error, organic_results } = empty.serpapi ?? {};
  assert.equal((search_metadata as Reply).status, 'Success');
  assert.deepEqual(search_information, { organic_results_state: 'Fully empty' });
  assert.match(String(error), /hasn't returned any results/);
  assert.equal(organic_results, undefined);
  const partial = await bodies('partial=1');
  const { unresponsive_engines: silent, results } = partial.searxng ?? {};
  assert.deepEqual([(silent as unknown[]).length, (results as unknown[]).length], [2, 10]);
  assert.equal(partial.serper?.organic, undefined);
  assert.ok('answerBox' in (partial.serper ?? {}));
  assert.equal(partial.serpapi?.related_searches, undefined);
  assert.equal(partial.tavily?.images, undefined);
});

test('a directive waits for calls whose query is nowhere', async () => {
  const parameters = new URLSearchParams({
    engine: 'google_flights',
    departure_id: 'ZRH',
    arrival_id: 'JFK',
    outbound_date: '2026-12-24',
    type: '2',
    api_key: 'right',
  });
  const ask = () => fetch(`http://127.0.0.1:${sim.port}/serpapi/search.json?${parameters}`);
  const model = 'serpapi-google_flights';
  const armed = await post(sim, '/sim/search', { model, directive: 'status=500 times=1' });
  assert.equal(armed.status, 200);
  assert.equal((await ask()).status, 500);
  assert.equal((await ask()).status, 200);
  await post(sim, '/sim/search', { model: 'serpapi', directive: 'empty=1' });
  assert.equal((await replyOf(await ask())).best_flights, undefined);
  await post(sim, '/sim/search', { model: 'serpapi', directive: '' });
  assert.ok(Array.isArray((await replyOf(await ask())).best_flights));
  assert.equal((await post(sim, '/sim/search', {})).status, 400);
});
