// Whatever parameters a caller sends, each family asks the same engine at the same place. It does
// so with the same credential, at the same price. Each name is used, or told as ignored. The seed
// is printed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortedExtra } from '../../../../media/providers/search/extra.ts';
import { searchFamily, searchFamilyNames } from '../../../../media/providers/search/families.ts';
import type { EncodedSearch } from '../../../../media/providers/search/family.ts';
import type { SearchAsk } from '../../../../media/search/contract.ts';
import { readQuery } from '../../../../media/search/parameters.ts';
import type { ServedSurface } from '../../../../media/search/surfaces.ts';
import { fc } from '../../../harness/properties.ts';
import { sampledRuns } from '../../../harness/sample.ts';
import { testSeed } from '../../../harness/seed.ts';
import { nowMs } from '../../search/asks.ts';
import { targetOf } from './ask.ts';

const runs = sampledRuns(10_000, 1_500);
const credential = 'credential-of-the-house';
const base = 'https://provider.example/api';

const known = [
  ...['limit', 'num', 'max_results', 'page', 'gl', 'hl', 'location', 'safe', 'time_range', 'll'],
  ...['include_domains', 'exclude_domains', 'departure_id', 'arrival_id', 'outbound_date', 'trip'],
  ...['return_date', 'adults', 'children', 'travel_class', 'stops', 'max_price', 'currency'],
  ...['check_in_date', 'check_out_date', 'children_ages', 'min_price', 'sort_by', 'origin'],
  ...['destination', 'mode', 'depart_at', 'arrive_by', 'avoid'],
];
/** What providers read as another account, engine, form, page or price. */
const dangerous = [
  ...['api_key', 'apikey', 'key', 'token', 'access_token', 'authorization', 'x_api_key', 'engine'],
  ...['engines', 'format', 'output', 'async', 'no_cache', 'zero_trace', 'source', 'callback'],
  ...['webhook', 'url', 'json_restrictor', 'search_depth', 'auto_parameters', 'include_usage'],
  ...['include_answer', 'include_raw_content', 'deep_search', 'chunks_per_source', 'topic'],
  ...['categories', 'pageno', 'safesearch', 'q', 'query', 'search_query', 'type', 'start', 'ijn'],
  ...['next_page_token', 'departure_token', 'booking_token', 'property_token', 'data_id', 'sp'],
  ...['theme', 'plugins', 'enabled_engines', 'host', 'base_url', 'headers', 'method', 'timeout'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'],
];
const passable = searchFamilyNames.flatMap((name) => Object.keys(searchFamily(name)?.passes ?? {}));

const inAnyCase = (names: readonly string[]) =>
  fc.tuple(fc.constantFrom(...names), fc.nat(5)).map(([name, form]) => {
    if (form === 1) return name.toUpperCase();
    if (form === 2) return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (form === 3) return name.replaceAll('_', '');
    if (form === 4) return name.replaceAll('_', '-');
    return form === 5 ? `${name}_` : name;
  });
const name = fc.oneof(
  inAnyCase(dangerous),
  inAnyCase(passable),
  fc.constantFrom(...known),
  fc.string({ maxLength: 66, unit: 'binary' }),
);
const scalar = fc.oneof(
  fc.constantFrom(...['10', 'de', 'a.com', '46.9,7.4', 'USD', 'day', 'off', '2026-12-24', 'true']),
  fc.constantFrom('&api_key=mine&engine=x', '\r\nx-api-key: mine', '{"api_key":"mine"}', '../..'),
  fc.constantFrom(
    '!!g x',
    '!bing',
    ':de',
    '?key=mine',
    '@evil.example',
    '//evil.example/',
    '\ud800',
  ),
  fc.string({ maxLength: 30, unit: 'binary' }),
  fc.integer({ min: -5, max: 3_000 }),
  fc.double(),
  fc.boolean(),
);
const value = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 21 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(null, [['mine']], { api_key: 'mine' }, [{ engine: 'x' }]),
  },
);
const members = fc.array(fc.tuple(name, value), { maxLength: 15 }).map((entries) => {
  const object = {};
  for (const [each, given] of entries) {
    const how = { value: given, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, each, how);
  }
  return object;
});
const query = fc.oneof(
  fc.constantFrom('ZRH JFK', 'Bern to Basel'),
  scalar.map((text) => `x ${String(text)}`),
);

const pairs = searchFamilyNames.flatMap((family) => {
  const surfaces = Object.keys(searchFamily(family)?.endpoints ?? {}) as ServedSurface[];
  return surfaces.map((surface) => ({ family, surface }));
});

/** With these a request can be read, whatever its query is. */
const whole: Readonly<Partial<Record<ServedSurface, object>>> = {
  engine_flights: { departure_id: 'ZRH', arrival_id: 'JFK' },
  engine_routes: { origin: 'Bern', destination: 'Basel' },
};

function encoded(family: string, ask: SearchAsk): { call: EncodedSearch; ignored: string[] } {
  const found = searchFamily(family);
  const endpoint = found?.endpoints[ask.surface];
  assert.ok(found && endpoint);
  const { passed, ignored } = sortedExtra(found, ask);
  return { call: endpoint.encode(ask, targetOf(family, base, credential), passed), ignored };
}

/** What is sent, member by member. */
function sentBy({ url, headers, body }: EncodedSearch): [string, unknown][] {
  if (body === null) return [...new URL(url).searchParams];
  return headers['content-type'] === 'application/json'
    ? Object.entries(JSON.parse(body) as object)
    : [...new URLSearchParams(body)];
}

const engines: Readonly<Partial<Record<ServedSurface, readonly string[]>>> = {
  web_search: ['google'],
  engine_search: ['google'],
  engine_videos: ['google_videos', 'youtube'],
  engine_maps: ['google_maps'],
  engine_places: ['google_local', 'google_maps'],
  engine_routes: ['google_maps_directions'],
};

/** What the price and the engine go by. */
function assertPrice(family: string, surface: ServedSurface, sent: [string, unknown][]): void {
  const names = sent.map(([each]) => each);
  assert.equal(new Set(names).size, names.length, 'no member twice');
  const of = (each: string) => sent.find(([found]) => found === each)?.[1];
  switch (family) {
    case 'serper':
      assert.ok(of('num') === undefined || of('num') === 10);
      break;
    case 'tavily': {
      const [depth, answer, topic] = ['search_depth', 'include_answer', 'topic'].map(of);
      assert.deepEqual([depth, answer], ['basic', false]);
      assert.equal(topic, surface === 'engine_news' ? 'news' : 'general');
      assert.ok(Number(of('max_results')) <= 20);
      break;
    }
    case 'serpapi': {
      const allowed = engines[surface] ?? [surface.replace('engine', 'google')];
      assert.ok(allowed.includes(String(of('engine'))), String(of('engine')));
      assert.equal(of('api_key'), credential);
      break;
    }
    default: {
      if (surface === 'engine_autocomplete') break;
      assert.equal(of('format'), 'json');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: as Python parts words
      const words = String(of('q')).split(/[\s\u001c-\u001f\u0085]+/);
      for (const word of words) assert.doesNotMatch(word, /^[!:<?]/);
    }
  }
  const others = ['api_key', 'engine', 'format', 'search_depth', 'include_answer', 'topic'];
  const own = [...others, 'q', 'query', 'search_query', 'type', 'start', 'ijn', 'categories', 'sp'];
  const mine = [...own, 'pageno', 'safesearch', 'source'];
  for (const each of dangerous) if (!mine.includes(each)) assert.ok(!names.includes(each), each);
}

test('no parameter changes key, place, engine or price; each is used or named', (context) => {
  context.diagnostic(`seed ${testSeed}, ${runs} runs`);
  let good = 0;
  fc.assert(
    fc.property(fc.constantFrom(...pairs), query, members, members, (pair, text, params, rest) => {
      const { family, surface } = pair;
      const given = { ...whole[surface] };
      const read = readQuery(surface, { query: text, params, rest: { ...rest, ...given } }, nowMs);
      if (!read.ok) return;
      good += 1;
      const { call, ignored } = encoded(family, read.ask);
      const plain = readQuery(surface, { query: 'plain', params: given, rest: {} }, nowMs);
      assert.ok(plain.ok);
      const usual = encoded(family, plain.ask).call;
      const [to, usually] = [new URL(call.url), new URL(usual.url)];
      assert.equal(`${to.origin}${to.pathname}`, `${usually.origin}${usually.pathname}`);
      assert.equal(to.username + to.hash, '');
      assert.deepEqual([call.method, call.headers], [usual.method, usual.headers]);
      const sent = sentBy(call);
      assertPrice(family, surface, sent);
      const told = new Set([...read.ignored, ...ignored]);
      const passed = new Set(sent.map(([each]) => each));
      for (const each of [...Object.keys(params), ...Object.keys(rest)]) {
        const isShown = /^[\x21-\x7e]{1,64}$/.test(each);
        if (!isShown || known.includes(each)) continue;
        assert.ok(told.has(each) || passed.has(each), each);
      }
    }),
    { numRuns: runs },
  );
  assert.ok(good > runs / 20, `${good} of ${runs} were good`);
});
