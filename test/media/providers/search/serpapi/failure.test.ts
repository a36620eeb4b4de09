// Refusals of SerpApi: one status is a rate and a spent plan, and finding nothing is an error too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serpapiFamily } from '../../../../../media/providers/search/serpapi/family.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';

const rows: [number, string, string][] = [
  [400, 'Unsupported `Bern` location - location parameter.', 'refused'],
  [400, 'Missing query `q` parameter.', 'refused'],
  [400, "Google hasn't returned any results for this query.", 'empty'],
  [401, 'Invalid API key. Your API key should be here: https://serpapi.com/manage', 'credential'],
  [403, 'The account associated with this API key is suspended.', 'credential'],
  [404, "The resource doesn't exist.", 'failed'],
  [410, 'This search has expired.', 'failed'],
  [429, 'Your account has run out of searches.', 'exhausted'],
  [429, 'Your searches for the month have run out. You can upgrade plans.', 'exhausted'],
  [429, 'You have exceeded your hourly throughput limit.', 'busy'],
  [429, "You have exceeded your plan's hourly throughput limit.", 'busy'],
  [429, 'Too many requests.', 'busy'],
  [500, 'Internal error', 'failed'],
  [503, "We couldn't get valid results for this search. Please try again later.", 'failed'],
  [503, "Google hasn't returned any results for this query.", 'failed'],
];

test('status and words together are what it is', () => {
  for (const [status, error, failure] of rows) {
    assert.equal(serpapiFamily.readFailure(status, { error }), failure, `${status} ${error}`);
  }
  assert.equal(serpapiFamily.readFailure(429, undefined), 'busy');
});

test(`no body makes the reader throw (seed ${testSeed})`, () => {
  fc.assert(
    fc.property(fc.integer({ min: 300, max: 599 }), fc.jsonValue(), (status, value) => {
      serpapiFamily.readFailure(status, value);
      serpapiFamily.readFailure(status, { error: value });
    }),
  );
});
