// What is searched for: the end of the last question, in whole characters.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planSearch } from '../../../../actors/generation/plan/search-plan.ts';
import { neutralRequest, userMessage } from '../../../harness/request.ts';

function queryFor(text: string): string | null | undefined {
  const request = neutralRequest({ messages: [userMessage(text)] });
  const controls = { ...request.controls, webSearch: true };
  return planSearch({ ...request, controls }, { search: null }, false)?.query;
}

/** Whether it has no half of a surrogate pair. */
function isWhole(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

test('the end of a long question is searched for, from a word on', () => {
  const query = queryFor(`${'pasted '.repeat(1_000)}what is new?`) ?? '';
  assert.ok(query.length <= 300 && query.length > 290, String(query.length));
  assert.match(query, /^pasted .* what is new\?$/);
});

test('a question without spaces is not cut in the middle of a character', () => {
  // One unit more or less: one of the two cuts falls into a pair, behind either bound.
  for (const text of ['😀'.repeat(151), 'a😀'.repeat(500), `${'😀'.repeat(700)}.`]) {
    const query = queryFor(text) ?? '';
    assert.ok(isWhole(query), JSON.stringify(query.slice(0, 4)));
    assert.ok(query.length >= 299 && query.length <= 300, String(query.length));
  }
  const spaced = queryFor(`${'😀'.repeat(50)}${' '.repeat(1_149)}${'x'.repeat(50)}`) ?? '';
  assert.ok(isWhole(spaced), JSON.stringify(spaced.slice(0, 4)));
});
