// The sample of a matrix: the same for a seed, another for another, everything in the long run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampled, sampledRuns } from './sample.ts';

const all = Array.from({ length: 50 }, (_, at) => at);

test('a sample has so many of them, in their order, each once', () => {
  const kept = sampled(all, 10, 7, false);
  assert.equal(kept.length, 10);
  assert.deepEqual(
    kept,
    [...new Set(kept)].sort((left, right) => left - right),
  );
  assert.deepEqual(sampled(all, 80, 7, false), all);
});

test('the seed chooses, and repeats what it chose', () => {
  assert.deepEqual(sampled(all, 10, 7, false), sampled(all, 10, 7, false));
  const everything = new Set(all.flatMap((seed) => sampled(all, 10, seed, false)));
  assert.equal(everything.size, all.length, 'no place is left out by every seed');
});

test('the long run takes all', () => {
  assert.deepEqual(sampled(all, 10, 7, true), all);
  assert.equal(sampledRuns(400, 100, true), 400);
  assert.equal(sampledRuns(400, 100, false), 100);
});
