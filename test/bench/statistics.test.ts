// Order statistics against values worked out by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, medianInterval, percentile, rounded } from '../../bench/statistics.ts';

test('the median is the middle value, or the mean of the two in the middle', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([4, 1, 2, 10]), 3);
  assert.ok(Number.isNaN(median([])));
});

test('the interval of a median leaves out on either side what a fair coin does', () => {
  const ranks = (count: number) => Array.from({ length: count }, (_, index) => count - index);
  // Published tables of the sign test: 2 and 9 of ten at 90 %, 18 and 31 of 48.
  assert.deepEqual(medianInterval(ranks(10)), [2, 9]);
  assert.deepEqual(medianInterval(ranks(48)), [18, 31]);
  assert.deepEqual(medianInterval(ranks(5)), [1, 5]);
  assert.deepEqual(medianInterval(ranks(4)), [Number.NaN, Number.NaN]);
});

test('a percentile is a value that was measured', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  assert.equal(percentile(values, 0.5), 50);
  assert.equal(percentile(values, 0.99), 99);
  assert.equal(percentile(values, 1), 100);
  assert.equal(percentile([7], 0.99), 7);
});

test('figures are rounded to what a reader can use, and a missing one says so', () => {
  assert.deepEqual([1234.5, 45.67, 1.234, Number.NaN].map(rounded), [
    '1,235',
    '45.7',
    '1.23',
    'n/a',
  ]);
});
