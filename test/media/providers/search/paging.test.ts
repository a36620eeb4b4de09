// Queries are cut at words, and pages of callers fall into pages of providers without a gap.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutQuery } from '../../../../media/providers/search/cut-query.ts';
import { providerPage } from '../../../../media/providers/search/paging.ts';
import { fc } from '../../../harness/properties.ts';
import { testSeed } from '../../../harness/seed.ts';

test('a query that is short enough is left as it is', () => {
  assert.equal(cutQuery('one two', 7), 'one two');
  assert.equal(cutQuery('', 7), '');
});

test('a longer one ends at a word', () => {
  assert.equal(cutQuery('one two three', 10), 'one two');
  assert.equal(cutQuery('one two three', 7), 'one two');
  assert.equal(cutQuery('one two  three', 8), 'one two');
});

test('a word that takes most of it is cut at a character', () => {
  assert.equal(cutQuery('a verylongword', 10), 'a verylong');
  assert.equal(cutQuery('山'.repeat(500), 400), '山'.repeat(400));
  assert.equal(cutQuery('🏔🏔🏔', 2), '🏔🏔');
});

test('characters may cost more than one', () => {
  const bytes = (character: string) => Buffer.byteLength(character);
  assert.equal(cutQuery('ééé', 4, bytes), 'éé');
});

test(`what is kept is a beginning and costs no more, whatever is asked (seed ${testSeed})`, () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 50 }), (query, max) => {
      const kept = cutQuery(query, max);
      assert.ok(query.startsWith(kept));
      assert.ok([...kept].length <= max);
    }),
  );
});

const all = `pages of any length over pages of any size tell each result once (seed ${testSeed})`;
test(all, () => {
  const count = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(count, count, (limit, size) => {
      const told: number[] = [];
      for (let page = 1; page <= 30; page += 1) {
        const { index, skipped } = providerPage({ limit, page }, size);
        assert.ok(skipped < size);
        for (let at = skipped; at < Math.min(skipped + limit, size); at += 1) {
          told.push(index * size + at);
        }
      }
      assert.deepEqual(told, [...told.keys()]);
    }),
  );
});
