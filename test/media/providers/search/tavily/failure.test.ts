// Refusals of Tavily: a spent plan has two statuses of its own, and its words are of three forms.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tavilyFamily } from '../../../../../media/providers/search/tavily/family.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';

const limit = "This request exceeds your plan's set usage limit. Please upgrade your plan.";

test('each status is what it stands for', () => {
  const rows: [number, string, string][] = [
    [400, 'Query is too long. Max query length is 400 characters.', 'refused'],
    [401, 'Unauthorized: missing or invalid API key.', 'credential'],
    [403, 'This URL is not supported.', 'credential'],
    [403, limit, 'exhausted'],
    [422, 'Invalid country', 'refused'],
    [429, 'Your request has been blocked due to excessive requests.', 'busy'],
    [429, limit, 'exhausted'],
    [432, limit, 'exhausted'],
    [433, 'This request exceeds the pay-as-you-go limit.', 'exhausted'],
    [500, 'Internal Server Error', 'failed'],
    [503, limit, 'failed'],
  ];
  for (const [status, words, failure] of rows) {
    for (const detail of [{ error: words }, words, [{ msg: words }]]) {
      assert.equal(tavilyFamily.readFailure(status, { detail }), failure, `${status} ${words}`);
    }
  }
});

test('the words of a refused request are not believed: they may be the caller’s', () => {
  assert.equal(tavilyFamily.readFailure(400, { detail: { error: limit } }), 'refused');
});

test(`no body makes the reader throw (seed ${testSeed})`, () => {
  fc.assert(
    fc.property(fc.integer({ min: 300, max: 599 }), fc.jsonValue(), (status, detail) => {
      tavilyFamily.readFailure(status, detail);
      tavilyFamily.readFailure(status, { detail });
      tavilyFamily.readFailure(status, { error: detail });
    }),
  );
  assert.equal(tavilyFamily.readFailure(502, undefined), 'failed');
});
