// What SerpApi is asked: each surface is an engine with parameters of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serpapiFamily } from '../../../../../media/providers/search/serpapi/family.ts';
import type { ParameterValue, SearchParameters } from '../../../../../media/search/contract.ts';
import type { ServedSurface } from '../../../../../media/search/surfaces.ts';
import { askOf, targetOf } from '../ask.ts';
import { flight, journey, stay } from '../travel.ts';

const target = targetOf('serpapi', 'https://serpapi.example.com', 'secret-key');

function call(
  surface: ServedSurface,
  parameters: Partial<SearchParameters> = {},
  { query = 'swiss alps', passed = {} as Record<string, ParameterValue> } = {},
) {
  const encoded = serpapiFamily.endpoints[surface]?.encode(
    askOf(surface, query, parameters),
    target,
    passed,
  );
  assert.ok(encoded !== undefined);
  return encoded;
}

/** What stands in the URL, but the key. */
function sent(...given: Parameters<typeof call>): Record<string, string> {
  const { api_key: key, ...rest } = Object.fromEntries(new URL(call(...given).url).searchParams);
  assert.equal(key, 'secret-key');
  return rest;
}

test('a call is a GET whose key and query stand in the URL alone', () => {
  const { method, url, headers, body } = call('web_search');
  assert.equal(method, 'GET');
  assert.equal(body, null);
  assert.ok(url.startsWith('https://serpapi.example.com/search.json?'));
  assert.ok(!JSON.stringify(headers).includes('secret-key'));
  const bare = serpapiFamily.endpoints.web_search?.encode(
    askOf('web_search', 'x'),
    targetOf('serpapi', 'https://serpapi.example.com', null),
    {},
  );
  assert.ok(!bare?.url.includes('api_key'));
});

test('each surface is an engine', () => {
  const engines = Object.keys(serpapiFamily.endpoints).map((surface) => [
    surface,
    sent(surface as ServedSurface).engine,
  ]);
  assert.deepEqual(Object.fromEntries(engines), {
    web_search: 'google',
    engine_search: 'google',
    engine_images: 'google_images',
    engine_news: 'google_news',
    engine_maps: 'google_maps',
    engine_places: 'google_local',
    engine_routes: 'google_maps_directions',
    engine_shopping: 'google_shopping',
    engine_scholar: 'google_scholar',
    engine_videos: 'google_videos',
    engine_autocomplete: 'google_autocomplete',
    engine_flights: 'google_flights',
    engine_hotels: 'google_hotels',
  });
});

test('pages have times, hosts, places, languages and a page', () => {
  assert.deepEqual(sent('web_search'), { engine: 'google', q: 'swiss alps' });
  assert.deepEqual(
    sent('engine_search', {
      limit: 20,
      page: 3,
      timeRange: 'month',
      includeDomains: ['a.example', 'b.example'],
      excludeDomains: ['c.example'],
      gl: 'ch',
      hl: 'de',
      location: 'Zurich,Switzerland',
      safe: 'strict',
    }),
    {
      engine: 'google',
      q: 'swiss alps (site:a.example OR site:b.example) -site:c.example',
      num: '20',
      start: '40',
      location: 'Zurich,Switzerland',
      tbs: 'qdr:m',
      safe: 'active',
      gl: 'ch',
      hl: 'de',
    },
  );
  assert.equal(sent('web_search', { safe: 'off' }).safe, 'off');
});

test('images come by the hundred, so that ten pages of ten are one of theirs', () => {
  assert.equal(sent('engine_images', { page: 10 }).ijn, '0');
  assert.equal(sent('engine_images', { page: 3, limit: 50 }).ijn, '1');
});

test('news have no page and no parameter of time: it stands in the query', () => {
  assert.deepEqual(
    sent('engine_news', { page: 2, timeRange: 'week', location: 'Bern', gl: 'ch' }),
    {
      engine: 'google_news',
      q: 'swiss alps when:7d',
      gl: 'ch',
    },
  );
});

test('videos of one site are asked of that site, which calls the query otherwise', () => {
  assert.deepEqual(sent('engine_videos', { page: 2, timeRange: 'day' }), {
    engine: 'google_videos',
    q: 'swiss alps',
    start: '10',
    tbs: 'qdr:d',
  });
  assert.deepEqual(
    sent('engine_videos', { includeDomains: ['www.youtube.com'], timeRange: 'day', gl: 'us' }),
    { engine: 'youtube', search_query: 'swiss alps', sp: 'EgIIAg==', gl: 'us' },
  );
  const both = { includeDomains: ['youtube.com', 'vimeo.com'] };
  assert.equal(sent('engine_videos', both).engine, 'google_videos');
});

test('maps have a point with a zoom within its bounds, and local results a location', () => {
  const ll = { latitude: 47.3769, longitude: 8.5417, zoom: null };
  assert.deepEqual(sent('engine_maps', { ll, page: 3 }), {
    engine: 'google_maps',
    type: 'search',
    q: 'swiss alps',
    ll: '@47.3769,8.5417,14z',
    start: '20',
  });
  assert.equal(sent('engine_maps', { ll: { ...ll, zoom: 30 } }).ll, '@47.3769,8.5417,21z');
  assert.equal(
    sent('engine_maps', { ll: { latitude: 1e-9, longitude: -0.0000004, zoom: 15.5 } }).ll,
    '@0,0,15.5z',
  );
  assert.equal(sent('engine_maps', { location: 'Bern' }).q, 'swiss alps Bern');
  assert.deepEqual(sent('engine_places', { location: 'Bern', page: 2, limit: 20 }), {
    engine: 'google_local',
    q: 'swiss alps',
    location: 'Bern',
    start: '20',
  });
  assert.equal(sent('engine_places', { ll }).engine, 'google_maps');
});

test('directions have ends, a mode, a time and what is avoided', () => {
  const routes = { ...journey, departAt: 1_800_000_000, avoid: ['tolls', 'ferries'] as const };
  assert.deepEqual(sent('engine_routes', { routes }), {
    engine: 'google_maps_directions',
    start_addr: 'Zürich HB',
    end_addr: 'Bern',
    travel_mode: '0',
    distance_unit: '0',
    avoid: 'tolls,ferries',
    time: 'depart_at:1800000000',
  });
  const modes = (['cycling', 'walking', 'transit'] as const).map(
    (mode) => sent('engine_routes', { routes: { ...journey, mode } }).travel_mode,
  );
  assert.deepEqual(modes, ['1', '2', '3']);
  const points = { ...journey, origin: '47.37, 8.54', arriveBy: 1_800_000_000 };
  const asked = sent('engine_routes', { routes: points });
  assert.equal(asked.start_coords, '47.37,8.54');
  assert.equal(asked.time, 'arrive_by:1800000000');
  assert.ok(!Object.hasOwn(asked, 'start_addr'));
});

test('flights have numbers for trip, class and stops', () => {
  assert.deepEqual(sent('engine_flights', { flights: flight, gl: 'us', hl: 'en' }), {
    engine: 'google_flights',
    departure_id: 'ZRH',
    arrival_id: 'JFK',
    type: '1',
    outbound_date: '2026-12-12',
    return_date: '2026-12-20',
    adults: '2',
    currency: 'USD',
    gl: 'us',
    hl: 'en',
  });
  const oneWay = {
    ...flight,
    trip: 'one_way',
    returnDate: null,
    children: 1,
    maxPrice: 900,
  } as const;
  const asked = sent('engine_flights', {
    flights: { ...oneWay, travelClass: 'business', stopsMax: 0 },
  });
  assert.equal(asked.type, '2');
  assert.ok(!Object.hasOwn(asked, 'return_date'));
  assert.deepEqual(
    [asked.travel_class, asked.stops, asked.children, asked.max_price],
    ['3', '1', '1', '900'],
  );
  const stopsOf = (stopsMax: number) =>
    sent('engine_flights', { flights: { ...oneWay, stopsMax } }).stops;
  assert.deepEqual([1, 2, 3].map(stopsOf), ['2', '3', undefined]);
});

test('hotels have days, guests, prices and an order', () => {
  assert.deepEqual(sent('engine_hotels', { hotels: stay }, { query: 'Bern' }), {
    engine: 'google_hotels',
    q: 'Bern',
    check_in_date: '2026-12-12',
    check_out_date: '2026-12-14',
    adults: '2',
    currency: 'EUR',
  });
  const asked = sent('engine_hotels', {
    hotels: {
      ...stay,
      children: 2,
      childrenAges: [5, 8],
      minPrice: 50,
      maxPrice: 200,
      sortBy: 'price',
    },
  });
  assert.deepEqual(
    [asked.children, asked.children_ages, asked.min_price, asked.max_price, asked.sort_by],
    ['2', '5,8', '50', '200', '3'],
  );
  // As many ages as children, or it refuses them.
  const untold = sent('engine_hotels', { hotels: { ...stay, children: 2 } });
  assert.deepEqual([untold.children, untold.children_ages], ['2', '10,10']);
});

test('products know American places alone, papers no country, suggestions no page', () => {
  assert.deepEqual(sent('engine_shopping', { location: 'Bern', gl: 'ch', page: 7 }), {
    engine: 'google_shopping',
    q: 'swiss alps',
    start: '60',
    gl: 'ch',
  });
  assert.equal(sent('engine_shopping', { location: 'Austin, Texas' }).location, 'Austin, Texas');
  assert.deepEqual(sent('engine_scholar', { gl: 'ch', hl: 'de', limit: 50, page: 2 }), {
    engine: 'google_scholar',
    q: 'swiss alps',
    num: '20',
    start: '20',
    hl: 'de',
  });
  assert.deepEqual(sent('engine_autocomplete', { page: 3, hl: 'de' }), {
    engine: 'google_autocomplete',
    q: 'swiss alps',
    hl: 'de',
  });
});

test('a query is cut to what fits into a URL, whatever it is written in', () => {
  for (const query of ['alps '.repeat(400), '山'.repeat(2_000), '🏔 '.repeat(1_000)]) {
    for (const surface of ['web_search', 'engine_maps', 'engine_hotels'] as const) {
      const { url } = call(surface, {}, { query });
      assert.ok(url.length < 2_300, `${surface}: ${url.length}`);
      assert.ok(query.startsWith(new URL(url).searchParams.get('q') ?? '-'));
    }
  }
});

test('half a surrogate pair and control characters do not stop a search', () => {
  const { url } = call('web_search', {}, { query: 'a\ud800b\u0000c&engine=x#' });
  assert.equal(new URL(url).searchParams.get('engine'), 'google');
});

test('what is passed never reaches another engine, account or page', () => {
  const passed = { lr: 'lang_de|lang_fr', tbs: 'qdr:h', device: 'mobile', nfpr: true };
  const asked = sent('web_search', {}, { passed });
  assert.deepEqual(asked, {
    engine: 'google',
    q: 'swiss alps',
    lr: 'lang_de|lang_fr',
    tbs: 'qdr:h',
    device: 'mobile',
    nfpr: 'true',
  });
  assert.equal(sent('web_search', { timeRange: 'day' }, { passed }).tbs, 'qdr:d');
  const evil = { engine: 'google_play', api_key: 'theirs', q: 'other', start: 900 };
  assert.deepEqual(sent('web_search', { page: 2 }, { passed: evil }), {
    engine: 'google',
    q: 'swiss alps',
    start: '10',
  });
  assert.equal(
    sent('engine_flights', { flights: flight }, { passed: { include_airlines: ['LX', 'LH'] } })
      .include_airlines,
    'LX,LH',
  );
});

test('a parameter passes on its own surfaces, and none of the denied ones is listed', () => {
  const { takes, passes } = serpapiFamily;
  assert.equal(takes?.('engine_hotels', 'rating', 8), true);
  assert.equal(takes?.('engine_flights', 'rating', 8), false);
  assert.equal(takes?.('engine_scholar', 'as_ylo', 2020), true);
  assert.equal(takes?.('web_search', 'constructor', 1), false);
  const denied = 'api_key key token engine output async no_cache zero_trace source deep_search';
  for (const name of denied.split(' ')) assert.ok(!Object.hasOwn(passes, name), name);
  for (const [name, reason] of Object.entries(passes)) {
    assert.doesNotMatch(name, /token|url|async|json/);
    assert.ok(reason.length > 3, name);
  }
});
