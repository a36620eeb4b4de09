// What a place keeps: no more than its bytes, the least recently used gone first, and nobody
// changes what others are told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failedResult, foundResult } from '../../../actors/search/conclusion.ts';
import type { SearchResult } from '../../../actors/search/contract.ts';
import { isKeepable, KeptResults } from '../../../actors/search/kept.ts';
import type { FoundOutcome } from '../../../media/search/contract.ts';
import { searchTarget } from '../../harness/search-surface.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { outcome } from './fakes.ts';

function resultOf(bytes: number, madeAtMs = 1_000): SearchResult {
  const found = { ...outcome('found'), dataJson: `"${'x'.repeat(bytes)}"` } as FoundOutcome;
  return foundResult([], searchTarget('one/web_search'), found, madeAtMs);
}

test('the least recently used goes when the bytes are too many', () => {
  const kept = new KeptResults(10_000);
  for (const key of ['a', 'b', 'c']) kept.put(key, resultOf(2_000));
  assert.ok(kept.take('a', 1_000, 1_000));
  kept.put('d', resultOf(2_000));
  assert.equal(kept.take('b', 1_000, 1_000), null);
  for (const key of ['a', 'c', 'd']) assert.ok(kept.take(key, 1_000, 1_000), key);
  kept.put('e', resultOf(7_000));
  assert.equal(kept.size, 1);
  kept.put('f', resultOf(20_000));
  assert.equal(kept.take('f', 1_000, 1_000), null, 'longer than all that is kept');
  assert.ok(kept.take('e', 1_000, 1_000));
});

test('whatever is kept in whatever order, the bytes are within their bound and counted', () => {
  const random = createRandom(testSeed);
  const kept = new KeptResults(50_000);
  for (let round = 0; round < 2_000; round += 1) {
    const key = String(Math.floor(random() * 40));
    if (random() < 0.5) kept.put(key, resultOf(Math.floor(random() * 9_000), round));
    else kept.take(key, 500, round);
    if (random() < 0.01) kept.sweep(200, round);
    assert.ok(kept.bytes <= 50_000, `${kept.bytes} bytes, seed ${testSeed}`);
  }
  kept.sweep(-1, 2_000);
  assert.deepEqual([kept.size, kept.bytes], [0, 0], `seed ${testSeed}`);
});

test('an answer is told up to its age, and one of a later clock never', () => {
  const kept = new KeptResults(10_000);
  kept.put('a', resultOf(1, 10_000));
  assert.ok(kept.take('a', 5_000, 15_000));
  assert.equal(kept.take('a', 5_000, 15_001), null);
  assert.equal(kept.take('a', 5_000, 9_999), null, 'the clock was set back');
  assert.ok(kept.take('a', 9_000, 15_001), 'another caller takes older ones');
});

test('what is told is a copy with all that was kept', () => {
  const kept = new KeptResults(10_000);
  const answer = { text: 'A [1].', citations: [], grounded: true, model: 'm', removed: 1 };
  const result = { ...resultOf(3), costMicros: 2n ** 62n, answer };
  kept.put('a', result);
  const one = kept.take('a', 1_000, 1_000);
  assert.deepEqual(one, result);
  one?.items.splice(0);
  assert.deepEqual(kept.take('a', 1_000, 1_000), result);
});

test('what failed, is empty, in parts or not answered is not kept', () => {
  const found = resultOf(1);
  assert.equal(isKeepable(found), true);
  for (const state of ['empty', 'partial', 'failed'] as const) {
    assert.equal(isKeepable({ ...found, state }), false, state);
  }
  assert.equal(isKeepable({ ...found, answer: null }), false);
  assert.equal(isKeepable(failedResult([], 'busy', null, true)), false);
});
