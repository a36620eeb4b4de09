// What the page /search says and sends, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf, curlOf } from '../../../../routes/pages/search/browser/request.ts';
import {
  chargeText,
  creditsText,
  distanceText,
  durationText,
  outcomeText,
} from '../../../../routes/pages/search/browser/text.ts';
import type { Normalized, Reply } from '../../../../routes/pages/search/browser/wire.ts';

test('the body has parameters and an age only where they are given', () => {
  assert.equal(bodyOf('web_search', 'a', {}), '{"surface":"web_search","query":"a"}');
  const asked = JSON.parse(bodyOf('engine_news', 'a', { limit: 3, max_age_seconds: 0 }));
  assert.deepEqual(asked, {
    surface: 'engine_news',
    query: 'a',
    params: { limit: 3 },
    max_age_seconds: 0,
  });
});

test('a shell reads the same body, whatever quotes are in it', () => {
  const body = bodyOf('web_search', `it's "$HOME" \\ \n`, {});
  const call = curlOf('http://127.0.0.1:1', body);
  const quoted = /-d '(.*)'$/s.exec(call)?.[1] ?? '';
  assert.equal(quoted.replaceAll("'\\''", "'"), body);
  assert.ok(!call.includes('svc_live_'), 'no key is in it');
});

test('figures read as people read them', () => {
  assert.equal(creditsText(1_000_000), '1 credit');
  assert.equal(creditsText(1), '0.000001 credits');
  assert.equal(creditsText(2_500_000), '2.5 credits');
  assert.equal(durationText(59), '59 s');
  assert.equal(durationText(5_400), '1 h 30 min');
  assert.equal(distanceText(999), '999 m');
  assert.equal(distanceText(1_250), '1.3 km');
});

const normalized = (members: Partial<Normalized>): Normalized => ({
  kind: 'web',
  items: [],
  empty: false,
  partial: false,
  truncated: false,
  engines: [],
  cache: { hit: false, age_seconds: 0, max_age_seconds: 300 },
  ignored: [],
  assumed: {},
  ...members,
});

test('what came of a search, and what it cost, is one line each', () => {
  assert.match(outcomeText(normalized({ empty: true })), /Nothing was charged/);
  const items = [{ position: 1, title: 'a' }];
  assert.equal(outcomeText(normalized({ items })), '1 result');
  const cache = { hit: true, age_seconds: 61, max_age_seconds: 300 };
  assert.match(outcomeText(normalized({ items, cache })), /^1 result · kept for 1 min/);
  const reply = { charge_microcredits: 0, remaining_microcredits: 0, replayed: false } as Reply;
  assert.match(chargeText(reply), /^Free/);
  assert.match(chargeText({ ...reply, charge_microcredits: 1_000_000 }), /^1 credit charged/);
  assert.match(chargeText({ ...reply, replayed: true }), /^A repetition/);
});
