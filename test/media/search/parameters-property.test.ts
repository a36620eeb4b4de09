// Whatever a caller sends, each parameter is taken, left for the providers, or ignored and named.
// None that reaches an account or a price gets through. The seed is printed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readQuery } from '../../../media/search/parameters.ts';
import { surfaceNames } from '../../../media/search/surfaces.ts';
import { fc } from '../../harness/properties.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';
import { nowMs } from './asks.ts';

const runs = sampledRuns(10_000, 1_000);
/** Written apart from the product's list: a name that is missing there is found here. */
const denied = new Set([
  ...['apikey', 'xapikey', 'key', 'token', 'accesstoken', 'authorization', 'engine', 'engines'],
  ...['format', 'output', 'async', 'nocache', 'zerotrace', 'source', 'callback', 'webhook', 'url'],
  ...['jsonrestrictor', 'searchdepth', 'autoparameters', 'includeusage', 'includeanswer'],
  ...['includerawcontent', 'deepsearch'],
]);
const known = [
  ...['limit', 'num', 'max_results', 'page', 'gl', 'hl', 'location', 'safe', 'time_range', 'll'],
  ...['include_domains', 'exclude_domains', 'departure_id', 'arrival_id', 'outbound_date', 'trip'],
  ...['return_date', 'adults', 'children', 'travel_class', 'stops', 'max_price', 'currency'],
  ...['check_in_date', 'check_out_date', 'children_ages', 'min_price', 'sort_by', 'origin'],
  ...['destination', 'mode', 'depart_at', 'arrive_by', 'avoid'],
];
const hostile = [
  ...['api_key', 'API-KEY', 'apiKey', 'Api_Key', 'x-api-key', 'X_API_KEY', 'accessToken', 'engine'],
  ...['Engines', 'no-cache', 'noCache', 'async', 'url', 'deep_search', 'search-depth', 'token'],
  ...['__proto__', 'constructor', 'prototype', 'toString', '__defineGetter__', 'valueOf', ''],
];
const name = fc.oneof(
  fc.constantFrom(...known),
  fc.constantFrom(...hostile),
  fc.string({ maxLength: 70, unit: 'binary' }),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,12}$/),
);
const scalar = fc.oneof(
  fc.string({ maxLength: 20, unit: 'binary' }),
  fc.constantFrom(...['10', 'de', 'ZRH', '2026-12-24', 'Bern', 'off', 'a.com', '46.9,7.4', 'USD']),
  fc.constantFrom('x'.repeat(501), '', '\u0000', '\ud800'),
  fc.integer({ min: -5, max: 60 }),
  fc.double(),
  fc.boolean(),
);
const value = fc.oneof(
  { weight: 5, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 22 }) },
  { weight: 1, arbitrary: fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.dictionary(name, scalar, { maxKeys: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom(null, undefined, Number.NaN, -0) },
);
/** As `JSON.parse` makes it: `__proto__` is a member of its own. */
const members = fc.array(fc.tuple(name, value), { maxLength: 36 }).map((entries) => {
  const object = {};
  for (const [key, each] of entries) {
    Object.defineProperty(object, key, {
      ...{ value: each, enumerable: true, configurable: true, writable: true },
    });
  }
  return object;
});
const query = fc.oneof(
  fc.constantFrom('ZRH JFK', 'Bern to Basel', 'x', ''),
  fc.string({ maxLength: 300, unit: 'binary' }),
);

function isPlain(given: unknown): boolean {
  if (Array.isArray(given))
    return given.length <= 20 && given.every((each) => !Array.isArray(each) && isPlain(each));
  if (typeof given === 'string') return [...given].length <= 500;
  return typeof given === 'boolean' || (typeof given === 'number' && Number.isFinite(given));
}

test('a parameter is taken, passed, or ignored and named; none is denied and passed', (context) => {
  context.diagnostic(`seed ${testSeed}, ${runs} runs`);
  let good = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...surfaceNames),
      query,
      members,
      members,
      (surface, text, params, rest) => {
        const found = readQuery(surface, { query: text, params, rest }, nowMs);
        if (!found.ok) {
          assert.match(found.path, /^(query|params|(params\.)?[a-z_]+(\[\d+\])?)$/);
          assert.ok(found.message.length < 200);
          return;
        }
        good += 1;
        const { extra } = found.ask;
        for (const [each, given] of Object.entries(extra)) {
          assert.match(each, /^[A-Za-z][A-Za-z0-9_]{0,63}$/);
          assert.ok(!denied.has(each.toLowerCase().replace(/[_-]/g, '')), each);
          assert.ok(!(each in {}), each);
          assert.ok(isPlain(given), JSON.stringify(given));
        }
        for (const each of found.ignored) assert.ok([...each].length <= 64);
        // Every name that was given is accounted for.
        for (const each of [...Object.keys(params), ...Object.keys(rest)]) {
          const isShort = /^[\x20-\x7e]{1,64}$/.test(each) && each.trim() === each;
          if (!isShort || known.includes(each)) continue;
          assert.ok(Object.hasOwn(extra, each) || found.ignored.includes(each), each);
        }
        const { limit, page } = found.ask.parameters;
        assert.ok(limit >= 1 && limit <= 50 && page >= 1 && page <= 10);
        assert.equal(({} as Record<string, unknown>).limit, undefined);
      },
    ),
    { numRuns: runs },
  );
  assert.ok(good > runs / 20, `${good} of ${runs} were good`);
});
