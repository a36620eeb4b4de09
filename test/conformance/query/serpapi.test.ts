// SerpApi's own client against the simulator: every engine that a surface uses, found, empty and
// failing. It knows no other host than its own, so the agent that it takes leads its calls here.
import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { getJson } from 'serpapi';
import { resultOf } from '../../../bench/sim/results.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';

/** Plain text, to the simulator. */
function agentTo(port: number): Agent {
  const agent = new Agent({ keepAlive: false });
  agent.createConnection = () => connect(port, '127.0.0.1');
  return agent;
}

type Row = Record<string, unknown>;
type Reply = Record<string, Row[]> & Row;

let sim: RunningSim;
let agent: Agent;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
  agent = agentTo(sim.port);
});
after(() => {
  agent.destroy();
  sim.close();
});

async function ask(engine: string, parameters: Row, key = 'right'): Promise<Reply> {
  const requestOptions = { agent };
  return (await getJson({ engine, api_key: key, requestOptions, ...parameters })) as Reply;
}

/** What an engine is asked with, its list, and what each entry of it has. */
interface EngineCase {
  engine: string;
  /** The query as this engine takes it. */
  asked(query: string): Row;
  list: string;
  state: string;
  members: string[];
  /** The page of an entry, where it has one. */
  linkOf?(row: Row): unknown;
}

const byQuery = (q: string): Row => ({ q });
const linked = ({ link }: Row) => link;

const engines: EngineCase[] = [
  {
    engine: 'google',
    asked: byQuery,
    list: 'organic_results',
    state: 'organic',
    members: ['position', 'title', 'link', 'displayed_link', 'snippet', 'source'],
    linkOf: linked,
  },
  {
    engine: 'google_images',
    asked: byQuery,
    list: 'images_results',
    state: 'images',
    members: ['thumbnail', 'original', 'original_width', 'original_height', 'title', 'source'],
    linkOf: linked,
  },
  {
    engine: 'google_news',
    asked: byQuery,
    list: 'news_results',
    state: 'news',
    members: ['position', 'title'],
    linkOf: linked,
  },
  {
    engine: 'google_local',
    asked: byQuery,
    list: 'local_results',
    state: 'local',
    members: ['title', 'rating', 'reviews', 'type', 'address', 'place_id', 'gps_coordinates'],
  },
  {
    engine: 'google_maps',
    asked: (q) => ({ q, type: 'search', ll: '@47.37,8.54,14z' }),
    list: 'local_results',
    state: 'local',
    members: ['title', 'place_id', 'data_cid', 'gps_coordinates', 'types', 'operating_hours'],
  },
  {
    engine: 'google_shopping',
    asked: byQuery,
    list: 'shopping_results',
    state: 'shopping',
    members: ['title', 'product_id', 'product_link', 'source', 'price', 'extracted_price'],
    linkOf: linked,
  },
  {
    engine: 'google_scholar',
    asked: byQuery,
    list: 'organic_results',
    state: 'organic',
    members: ['title', 'result_id', 'snippet', 'publication_info', 'inline_links'],
    linkOf: linked,
  },
  {
    engine: 'google_videos',
    asked: byQuery,
    list: 'video_results',
    state: 'video',
    members: ['title', 'thumbnail', 'source', 'duration'],
    linkOf: linked,
  },
  {
    engine: 'youtube',
    asked: (query) => ({ search_query: query }),
    list: 'video_results',
    state: 'video',
    members: ['title', 'channel', 'published_date', 'views', 'description', 'thumbnail'],
    linkOf: linked,
  },
  {
    engine: 'google_autocomplete',
    asked: byQuery,
    list: 'suggestions',
    state: 'suggestions',
    members: ['value', 'relevance', 'type'],
  },
  {
    engine: 'google_maps_directions',
    asked: (query) => ({ start_addr: 'Zurich', end_addr: query, travel_mode: 0 }),
    list: 'directions',
    state: 'directions',
    members: ['travel_mode', 'distance', 'duration', 'formatted_distance', 'trips'],
  },
  {
    engine: 'google_hotels',
    asked: (q) => ({ q, check_in_date: '2026-12-24', check_out_date: '2026-12-26' }),
    list: 'properties',
    state: 'hotels',
    members: ['name', 'link', 'gps_coordinates', 'overall_rating', 'hotel_class', 'amenities'],
    linkOf: linked,
  },
];

for (const { engine, asked, list, state, members, linkOf } of engines) {
  test(`${engine} finds, finds nothing and fails`, async () => {
    const reply = await ask(engine, asked('coffee'));
    const { status, id } = reply.search_metadata as unknown as Row;
    assert.equal(status, 'Success');
    assert.ok(typeof id === 'string');
    assert.equal((reply.search_parameters as unknown as Row).engine, engine);
    assert.equal('api_key' in (reply.search_parameters as unknown as Row), false);
    const rows = reply[list] ?? assert.fail(list);
    assert.ok(rows.length > 0);
    for (const name of members) assert.notEqual(rows[0]?.[name], undefined, name);
    if (linkOf !== undefined) assert.equal(linkOf(rows[0] ?? {}), resultOf('coffee', 1).link);
    const empty = await ask(engine, asked('coffee [[search empty=1]]'));
    assert.match(String(empty.error), /hasn't returned any results/);
    assert.equal(empty[list], undefined);
    assert.deepEqual(empty.search_information, { [`${state}_results_state`]: 'Fully empty' });
    // The client throws what a refusal says, as it came.
    const failed = await ask(engine, asked('coffee [[search status=503]]')).catch(String);
    const told = JSON.parse(String(failed)) as Reply;
    assert.equal((told.search_metadata as unknown as Row).status, 'Error');
    assert.equal(typeof told.error, 'string');
  });
}

test('google_flights finds journeys, with stops and without', async () => {
  const asked = { departure_id: 'ZRH', arrival_id: 'JFK', outbound_date: '2026-12-24', type: 2 };
  const reply = await ask('google_flights', asked);
  const journeys = [...(reply.best_flights ?? []), ...(reply.other_flights ?? [])];
  assert.equal(journeys.length, 10);
  const lengths = journeys.map(({ flights, layovers }) => {
    const legs = flights as Record<string, Row>[];
    const times = legs.flatMap((leg) => [leg.departure_airport?.time, leg.arrival_airport?.time]);
    assert.deepEqual(times, [...times].sort());
    assert.match(String(times[0]), /^2026-12-24 \d\d:\d\d$/);
    assert.equal(legs[0]?.departure_airport?.id, 'ZRH');
    assert.equal(legs.at(-1)?.arrival_airport?.id, 'JFK');
    assert.equal(layovers === undefined ? 1 : 2, legs.length);
    return legs.length;
  });
  assert.deepEqual([...new Set(lengths)].sort(), [1, 2]);
  assert.deepEqual(await ask('google_flights', asked).then((again) => again.best_flights), [
    ...(reply.best_flights ?? []),
  ]);
  const control = { method: 'POST', body: '{"model":"serpapi","directive":"empty=1 times=1"}' };
  await fetch(`http://127.0.0.1:${sim.port}/sim/search`, control);
  const empty = await ask('google_flights', asked);
  assert.deepEqual([empty.best_flights, empty.other_flights], [undefined, undefined]);
});

test('one exact hit on a map is an object of another name', async () => {
  const reply = await ask('google_maps', { q: 'coffee [[search results=1]]', type: 'search' });
  assert.equal(reply.local_results, undefined);
  assert.equal((reply.place_results as unknown as Row).title, resultOf('coffee', 1).title);
});

test('the next page goes on where the first has ended', async () => {
  const second = await ask('google', { q: 'coffee', start: 10 });
  assert.equal(second.organic_results?.[0]?.link, resultOf('coffee', 11).link);
  const pictures = await ask('google_images', { q: 'coffee', ijn: 1 });
  assert.equal(pictures.images_results?.[0]?.link, resultOf('coffee', 101).link);
});

test('refuses with the words of each refusal', async () => {
  const refusals: [string, Row, RegExp][] = [
    ['nothing_at_all', { q: 'coffee' }, /Unsupported `nothing_at_all` search engine/],
    ['google', {}, /Missing query `q` parameter/],
    ['google_maps', { q: 'coffee' }, /Missing query `type` parameter/],
    ['google_flights', { departure_id: 'ZRH' }, /Missing query `arrival_id` parameter/],
    ['google_hotels', { q: 'Oslo' }, /Missing query `check_in_date` parameter/],
    ['google', { q: 'coffee [[search exhausted=1]]' }, /run out of searches/],
    ['google', { q: 'coffee [[search status=unpaid]]' }, /for the month have run out/],
    ['google', { q: 'coffee [[search status=429]]' }, /hourly throughput limit/],
  ];
  for (const [engine, parameters, words] of refusals) {
    const thrown = await ask(engine, parameters).catch((text: unknown) => text);
    assert.match(String((JSON.parse(String(thrown)) as Row).error), words);
  }
  const wrong = await ask('google', { q: 'coffee' }, 'wrong').catch((text: unknown) => text);
  assert.match(String(wrong), /Invalid API key/);
  await assert.rejects(ask('google', { q: 'coffee [[search fault=cut]]' }));
  const slow = ask('google', { q: 'coffee [[search fault=stall]]', timeout: 100 });
  await assert.rejects(slow, /timed out/);
});
