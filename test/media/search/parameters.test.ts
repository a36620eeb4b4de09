// What a caller may ask for: known parameters and their bounds, what is assumed, what is ignored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchParameters } from '../../../media/search/contract.ts';
import { readQuery } from '../../../media/search/parameters.ts';
import { type ServedSurface, surfaceNames } from '../../../media/search/surfaces.ts';
import { askOf, nowMs, read } from './asks.ts';

const web = 'web_search';
const flights = 'engine_flights';
const hotels = 'engine_hotels';
const routes = 'engine_routes';

function parametersOf(surface: ServedSurface, params: object, query?: string): SearchParameters {
  const found = read(surface, params, query);
  assert.ok(found.ok, JSON.stringify([found, params]));
  return found.ask.parameters;
}

function faultOf(surface: ServedSurface, params: object, query?: string): string | null {
  const found = read(surface, params, query);
  if (found.ok) return null;
  assert.ok(found.message.length > 10 && found.message.length < 200);
  return found.path;
}

test('a query is trimmed, composed, and counted in code points', () => {
  const query = (text: string, surface: ServedSurface = web) => {
    const found = read(surface, {}, text);
    return found.ok ? found.ask.query : found.path;
  };
  assert.equal(query('  Zu\u0308rich '), 'Zürich');
  assert.equal(query(''), 'query');
  assert.equal(query(' \n '), 'query');
  assert.equal(query('😀'.repeat(2_000)), '😀'.repeat(2_000));
  assert.equal(query('😀'.repeat(2_001)), 'query');
  assert.equal(query('x'.repeat(200), 'engine_autocomplete'), 'x'.repeat(200));
  assert.equal(query('x'.repeat(201), 'engine_autocomplete'), 'query');
  assert.equal(query('half \ud800'), 'half \ufffd');
});

test('every surface has its defaults, which are told', () => {
  const all = { limit: 10, page: 1, safe: 'moderate' };
  const own: Record<string, object> = {
    engine_flights: {
      ...{ outbound_date: '2026-12-12', trip: 'one_way', adults: 1, children: 0, currency: 'USD' },
    },
    engine_hotels: {
      ...{ check_in_date: '2026-12-12', check_out_date: '2026-12-13', adults: 2, children: 0 },
      currency: 'USD',
    },
    engine_routes: { mode: 'driving' },
  };
  for (const surface of surfaceNames) {
    const found = read(surface);
    assert.ok(found.ok, surface);
    assert.deepEqual(found.assumed, { ...all, ...own[surface] }, surface);
    assert.deepEqual(found.ignored, []);
    assert.equal(found.ask.surface, surface === 'web_answer' ? 'web_search' : surface);
  }
});

test('known parameters of all surfaces and of lists of pages are read', () => {
  assert.deepEqual(
    parametersOf(web, {
      ...{ num: '25', page: 2, gl: 'CH', hl: 'de-CH', location: ' Bern ', safe: 'Strict' },
      ...{
        time_range: 'week',
        include_domains: ['Example.com', '*.bücher.example', 'example.com'],
      },
      exclude_domains: 'a.com, b.com',
    }),
    {
      ...{ limit: 25, page: 2, gl: 'ch', hl: 'de', location: 'Bern', safe: 'strict' },
      ...{ timeRange: 'week', includeDomains: ['example.com', 'xn--bcher-kva.example'] },
      ...{
        excludeDomains: ['a.com', 'b.com'],
        ll: null,
        flights: null,
        hotels: null,
        routes: null,
      },
    },
  );
  assert.equal(parametersOf(web, { max_results: 3 }).limit, 3);
  assert.equal(parametersOf(web, { max_results: 3, num: 4, limit: 5 }).limit, 5);
});

test('a member of the body is over the one of params, and is named without params', () => {
  const found = read(web, { limit: 5, page: 3 }, 'x', { limit: 7 });
  assert.ok(found.ok);
  assert.deepEqual([found.ask.parameters.limit, found.ask.parameters.page], [7, 3]);
  const fault = read(web, { limit: 5 }, 'x', { limit: 70 });
  assert.deepEqual(fault.ok ? null : fault.path, 'limit');
});

const faults: readonly [ServedSurface, object, string][] = [
  [web, { limit: 0 }, 'params.limit'],
  [web, { limit: 51 }, 'params.limit'],
  [web, { limit: 1.5 }, 'params.limit'],
  [web, { limit: 'ten' }, 'params.limit'],
  [web, { limit: true }, 'params.limit'],
  [web, { limit: [10] }, 'params.limit'],
  [web, { num: 100 }, 'params.num'],
  [web, { max_results: -1 }, 'params.max_results'],
  [web, { page: 11 }, 'params.page'],
  [web, { gl: 'che' }, 'params.gl'],
  [web, { hl: 'german' }, 'params.hl'],
  [web, { location: '' }, 'params.location'],
  [web, { location: 'x'.repeat(501) }, 'params.location'],
  [web, { safe: 'never' }, 'params.safe'],
  [web, { safe: 'constructor' }, 'params.safe'],
  [web, { time_range: 'hour' }, 'params.time_range'],
  [web, { include_domains: ['a.com', 'http://b.com'] }, 'params.include_domains[1]'],
  [web, { include_domains: ['localhost'] }, 'params.include_domains[0]'],
  [web, { include_domains: ['a.com OR site:b.com'] }, 'params.include_domains[0]'],
  [web, { exclude_domains: [5] }, 'params.exclude_domains[0]'],
  [
    web,
    { exclude_domains: Array.from({ length: 21 }, (_, at) => `${at}.com`) },
    'params.exclude_domains',
  ],
  ['engine_maps', { ll: '91,0' }, 'params.ll'],
  ['engine_maps', { ll: '46.9' }, 'params.ll'],
  ['engine_maps', { ll: '46.9,7.4,99' }, 'params.ll'],
  ['engine_maps', { ll: '46.9,7.4,9,9' }, 'params.ll'],
  ['engine_places', { ll: 'Bern' }, 'params.ll'],
  [flights, { departure_id: 'ZURICH', arrival_id: 'JFK' }, 'params.departure_id'],
  [flights, { arrival_id: '/m/02' }, 'params.arrival_id'],
  [flights, { arrival_id: 'ZRH' }, 'params.arrival_id'],
  [flights, { outbound_date: '2026-11-26' }, 'params.outbound_date'],
  [flights, { outbound_date: '2028-01-03' }, 'params.outbound_date'],
  [flights, { outbound_date: '2027-02-30' }, 'params.outbound_date'],
  [flights, { outbound_date: '12/12/2026' }, 'params.outbound_date'],
  [flights, { outbound_date: 20_261_212 }, 'params.outbound_date'],
  [flights, { outbound_date: '2026-12-12', return_date: '2026-12-11' }, 'params.return_date'],
  [flights, { trip: 'round' }, 'params.return_date'],
  [flights, { trip: 'multi' }, 'params.trip'],
  [flights, { adults: 0 }, 'params.adults'],
  [flights, { children: 9 }, 'params.children'],
  [flights, { travel_class: 'cargo' }, 'params.travel_class'],
  [flights, { stops: 3 }, 'params.stops'],
  [flights, { max_price: 0 }, 'params.max_price'],
  [flights, { currency: 'XQQ' }, 'params.currency'],
  [hotels, { check_in_date: '2026-11-26' }, 'params.check_in_date'],
  [hotels, { check_out_date: '2026-12-12' }, 'params.check_out_date'],
  [hotels, { check_in_date: '2026-12-01', check_out_date: '2027-01-01' }, 'params.check_out_date'],
  [hotels, { children_ages: [18] }, 'params.children_ages'],
  [hotels, { children_ages: [true] }, 'params.children_ages'],
  [hotels, { children: 1, children_ages: [5, 8] }, 'params.children_ages'],
  [hotels, { min_price: 200, max_price: 100 }, 'params.max_price'],
  [hotels, { sort_by: 'stars' }, 'params.sort_by'],
  [routes, { mode: 'flying' }, 'params.mode'],
  [routes, { avoid: ['hills'] }, 'params.avoid'],
  [routes, { depart_at: 'tomorrow' }, 'params.depart_at'],
  [routes, { depart_at: '2026-11-26T08:00:00Z' }, 'params.depart_at'],
  [routes, { depart_at: '2027-02-30T08:00:00Z' }, 'params.depart_at'],
  [routes, { depart_at: '2026-12-01T08:00Z', arrive_by: '2026-12-01T09:00Z' }, 'params.arrive_by'],
  [routes, { origin: ' ' }, 'params.origin'],
];

test('a known parameter out of its bounds is refused where it stands', () => {
  for (const [surface, params, path] of faults) {
    assert.equal(faultOf(surface, params), path, JSON.stringify(params));
  }
});

test('dates reach from yesterday to 400 days ahead', () => {
  for (const day of ['2026-11-27', '2026-11-28', '2028-01-02']) {
    assert.equal(parametersOf(flights, { outbound_date: day }).flights?.outboundDate, day);
  }
});

test('two airports are read from a query or from parameters', () => {
  const pair = (query: string, params: object = {}) => {
    const found = parametersOf(flights, params, query).flights;
    return `${found?.departureId} ${found?.arrivalId}`;
  };
  for (const query of [
    'ZRH JFK',
    'ZRH-JFK',
    'ZRH to JFK',
    'zrh  TO jfk',
    'ZRH - JFK',
    'ZRH -> JFK',
  ]) {
    assert.equal(pair(query), 'ZRH JFK', query);
  }
  const both = { departure_id: 'CDG, ory', arrival_id: ['LHR', 'LGW'] };
  assert.equal(pair('Paris to London', both), 'CDG,ORY LHR,LGW');
  assert.equal(pair('ZRH JFK', { arrival_id: 'EWR' }), 'ZRH EWR');
  for (const query of ['Zurich to New York', 'ZRH', 'ZRHJFK', 'ZRH JFK LAX', 'ZRH ZRH']) {
    assert.equal(faultOf(flights, {}, query), 'query', query);
  }
  assert.equal(faultOf(flights, { departure_id: 'ZRH' }, 'to New York'), 'params.arrival_id');
});

test('a trip is a round one where it has a return', () => {
  const found = parametersOf(flights, {
    ...{ outbound_date: '2026-12-20', return_date: '2027-01-03', adults: '2', children: 1 },
    ...{ travel_class: 'Premium Economy', stops: 0, max_price: 900, currency: 'chf' },
  });
  assert.deepEqual(found.flights, {
    ...{ departureId: 'ZRH', arrivalId: 'JFK', outboundDate: '2026-12-20' },
    ...{ returnDate: '2027-01-03', trip: 'round', adults: 2, children: 1 },
    ...{ travelClass: 'premium_economy', stopsMax: 0, maxPrice: 900, currency: 'CHF' },
  });
  const single = read(flights, { trip: 'one-way', return_date: '2027-01-03' });
  assert.ok(single.ok);
  assert.equal(single.ask.parameters.flights?.returnDate, null);
  assert.deepEqual(single.ignored, ['return_date']);
});

test('hotels have 1 to 30 nights and as many children as ages', () => {
  const found = parametersOf(hotels, {
    ...{ check_in_date: '2026-12-01', check_out_date: '2026-12-31', children_ages: '5, 8' },
    ...{ adults: 1, min_price: 50, max_price: 100, sort_by: 'price', currency: 'EUR' },
  });
  assert.deepEqual(found.hotels, {
    ...{ checkInDate: '2026-12-01', checkOutDate: '2026-12-31', adults: 1, children: 2 },
    ...{ childrenAges: [5, 8], currency: 'EUR', minPrice: 50, maxPrice: 100, sortBy: 'price' },
  });
  const next = parametersOf(hotels, { check_in_date: '2026-12-31' }).hotels;
  assert.equal(next?.checkOutDate, '2027-01-01');
});

test('two places are read from a query or from parameters', () => {
  const places = (query: string, params: object = {}) => {
    const found = parametersOf(routes, params, query).routes;
    return `${found?.origin} | ${found?.destination}`;
  };
  assert.equal(places('Bern to Basel'), 'Bern | Basel');
  assert.equal(places('from Bern TO Basel SBB'), 'Bern | Basel SBB');
  assert.equal(places('Way to go->Basel'), 'Way to go | Basel');
  assert.equal(places('Bern → Basel'), 'Bern | Basel');
  assert.equal(places('x', { origin: 'A', destination: 'B' }), 'A | B');
  assert.equal(places('Bern to Basel', { destination: 'Genf' }), 'Bern | Genf');
  for (const query of [
    'Bern',
    'Bern to',
    'to Basel',
    'A to B to C',
    '-> B',
    'Toronto',
    'A -> B -> C',
  ]) {
    assert.equal(faultOf(routes, {}, query), 'query', query);
  }
  assert.equal(faultOf(routes, { origin: 'Bern' }, 'the way'), 'params.destination');
  const rest = { mode: 'Transit', arrive_by: '2026-12-01T09:00:00+01:00', avoid: 'tolls,Ferries' };
  const found = parametersOf(routes, rest).routes;
  assert.equal(found?.arriveBy, Date.UTC(2026, 11, 1, 8) / 1_000);
  assert.deepEqual([found?.mode, found?.avoid], ['transit', ['tolls', 'ferries']]);
});

test('a point of a map has a zoom or none', () => {
  const point = (ll: string) => parametersOf('engine_maps', { ll }).ll;
  assert.deepEqual(point('46.9, 7.4'), { latitude: 46.9, longitude: 7.4, zoom: null });
  assert.deepEqual(point('@46.9,-7.4,14z'), { latitude: 46.9, longitude: -7.4, zoom: 14 });
});

const denied = [
  ...['api_key', 'apikey', 'key', 'token', 'access_token', 'authorization', 'x_api_key', 'engine'],
  ...['engines', 'format', 'output', 'async', 'no_cache', 'zero_trace', 'source', 'callback'],
  ...['webhook', 'url', 'json_restrictor', 'search_depth', 'auto_parameters', 'include_usage'],
  ...['include_answer', 'include_raw_content', 'deep_search'],
];

test('denied names never pass, in any case and with any mark between their words', () => {
  const shapes = [
    (name: string) => name,
    (name: string) => name.toUpperCase(),
    (name: string) => name.replaceAll('_', '-'),
    (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    (name: string) => name[0]?.toUpperCase() + name.slice(1),
  ];
  for (const shape of shapes) {
    for (const place of ['params', 'rest']) {
      const name = (each: string) => shape(each);
      for (const each of denied) {
        const given = { [name(each)]: 'x' };
        const found = readQuery(
          web,
          place === 'rest' ? { query: 'x', rest: given } : { query: 'x', params: given, rest: {} },
          nowMs,
        );
        assert.ok(found.ok);
        assert.deepEqual(found.ask.extra, {}, name(each));
        assert.deepEqual(found.ignored, [name(each)]);
      }
    }
  }
});

test('unknown parameters of a good form are left for the providers, others are ignored', () => {
  const long = `x${'y'.repeat(80)}`;
  const found = read(web, {
    ...{ nfpr: 1, lr: 'lang_de', flag: true, list: ['a', 1, false], stops: 'any' },
    ...{
      'bad-name': 1,
      _x: 1,
      [long]: 1,
      '': 1,
      constructor: 'x',
      toString: 'x',
      hasOwnProperty: 1,
    },
    ...{ nested: { api_key: 'x' }, lists: [['a']], nothing: null, many: Array(21).fill(1) },
    ...{ text: 'x'.repeat(501), nan: Number.NaN, infinite: Number.POSITIVE_INFINITY },
    limit: { a: 1 },
  });
  assert.ok(found.ok);
  const extra = { nfpr: 1, lr: 'lang_de', flag: true, list: ['a', 1, false], stops: 'any' };
  assert.deepEqual(found.ask.extra, extra);
  assert.deepEqual(
    new Set(found.ignored),
    new Set([
      ...['bad-name', '_x', long.slice(0, 64), '', 'constructor', 'toString', 'hasOwnProperty'],
      ...['nested', 'lists', 'nothing', 'many', 'text', 'nan', 'infinite', 'limit'],
    ]),
  );
  assert.equal(found.ask.parameters.limit, 10);
});

test('a member that is called as a prototype is one more name', () => {
  const params: object = JSON.parse('{"__proto__": {"limit": 50}, "prototype": "x"}');
  const found = read(web, params);
  assert.ok(found.ok);
  assert.equal(found.ask.parameters.limit, 10);
  assert.deepEqual(found.ignored, ['__proto__']);
  assert.deepEqual(found.ask.extra, { prototype: 'x' });
  assert.equal(Object.getPrototypeOf(found.ask.extra), Object.prototype);
});

test('32 parameters and 8 KiB are the most', () => {
  const many = (count: number, value: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, value]));
  assert.equal(faultOf(web, many(32, 'x')), null);
  assert.equal(faultOf(web, many(33, 'x')), 'params');
  assert.equal(faultOf(web, many(16, 'x'.repeat(500))), null);
  assert.equal(faultOf(web, many(17, 'x'.repeat(500))), 'params');
});

test('what is asked is plain data', () => {
  for (const surface of surfaceNames) {
    if (surface === 'web_answer') continue;
    const ask = askOf(surface, { foo: ['a'] });
    assert.deepEqual(JSON.parse(JSON.stringify(ask)), ask, surface);
  }
});
