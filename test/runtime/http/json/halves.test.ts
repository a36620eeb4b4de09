// Halves of surrogate pairs in JSON bodies: found by their escapes, replaced wherever they stand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  mayHoldHalf,
  mayHoldHalfInTurns,
  withoutHalves,
  withoutHalvesInTurns,
} from '../../../../runtime/http/json/halves.ts';
import { testSeed as seed } from '../../../harness/seed.ts';

test('bodies without halves are told from those with', async () => {
  const cases: [text: string, may: boolean][] = [
    ['{"a":"plain"}', false],
    ['{"a":"\\u0416\\ud83d\\ude00"}', false],
    ['{"a":"\\uD83D\\uDE00\\ud83d\\ude00"}', false],
    ['{"a":"😀"}', false],
    ['{"a":"\\ud83d"}', true],
    ['{"a":"\\ude00"}', true],
    ['{"a":"\\ud83d\\ud83d\\ude00"}', true],
    ['{"a":"\\ud83d\\ude00\\ude00"}', true],
    ['{"\\ud800":1}', true],
  ];
  for (const [text, may] of cases) {
    assert.equal(mayHoldHalf(Buffer.from(text)), may, text);
    assert.equal(await mayHoldHalfInTurns(Buffer.from(text)), may, text);
  }
  const long = Buffer.from(`{"a":"${'x'.repeat(65_534)}\\ud800"}`);
  assert.equal(await mayHoldHalfInTurns(long), true, 'across the end of a window');
});

test('after it no half is left, what was whole is the same, and both ways agree', async () => {
  process.stdout.write(`seed ${seed}\n`);
  const unit = fc.string({ unit: fc.constantFrom('a', '\ud800', '\udc00', '😀'), maxLength: 6 });
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      unit,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(unit, tie('any'), { maxKeys: 4 }),
    ),
  })).any;
  await fc.assert(
    fc.asyncProperty(value, async (made) => {
      const text = JSON.stringify(made);
      const wanted = JSON.stringify(mended(made));
      const bytes = Buffer.from(text);
      if (!mayHoldHalf(bytes)) {
        assert.equal(wanted, text);
        return;
      }
      assert.equal(sorted(withoutHalves(JSON.parse(text))), sorted(JSON.parse(wanted)));
      const later: unknown = await withoutHalvesInTurns(JSON.parse(text));
      assert.equal(sorted(later), sorted(JSON.parse(wanted)));
    }),
    { seed, numRuns: 300 },
  );
});

/** The definition, on a copy. The last of two keys that become one counts. */
function mended(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(mended);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const whole = entries.filter(([name]) => name.isWellFormed());
  const halves = entries.filter(([name]) => !name.isWellFormed());
  const all = [...whole, ...halves].map(([name, each]) => [name.toWellFormed(), mended(each)]);
  return Object.fromEntries(all);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
