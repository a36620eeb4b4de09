// Pieces of JSON: joined they are what `JSON.stringify` gives, whatever is cut where.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonInTurns, jsonPieces } from '../../../runtime/http/json-pieces.ts';
import { fc } from '../../harness/properties.ts';
import { countTurns } from '../../harness/turns.ts';

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary', maxLength: 60 }),
    // Halves of surrogate pairs, whole ones, and what JSON escapes.
    fc.array(fc.constantFrom('\ud83e', '\udded', '🧭', '"', '\n', 'x')).map((all) => all.join('')),
    fc.double(),
    fc.constantFrom(null, true, undefined, -0, ''),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.string({ maxLength: 5 }), tie('value'), { maxKeys: 5 }),
  ),
}));

test('joined pieces are the JSON of the value', () => {
  const containers = fc.oneof(fc.array(value), fc.dictionary(fc.string(), value));
  const property = fc.property(containers, fc.integer({ min: 2, max: 40 }), (whole, size) => {
    const pieces = [...jsonPieces(whole, size)];
    assert.equal(pieces.join(''), JSON.stringify(whole));
    assert.ok(!pieces.some((piece) => /\p{Surrogate}/u.test(piece)));
  });
  fc.assert(property, { numRuns: 1_000 });
});

test('a long value hands the loop on while it is written', async () => {
  const text = 'Wärme — 漢字 🧭 '.repeat(1_000);
  const long = Array.from({ length: 1_000 }, () => ({ role: 'user', content: text }));
  const { result, turns } = await countTurns(() => jsonInTurns(long));
  assert.ok(result === JSON.stringify(long));
  const short = await countTurns(() => jsonInTurns([]));
  assert.ok(turns > short.turns + 2, `${turns} turns, a short one ${short.turns}`);
});
