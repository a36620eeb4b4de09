// Which patterns each reader compiles. What Python says of them was asked of Python 3.11 once, with
// 60,000 patterns by chance: none was called taken that it refuses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compiles,
  type PatternDialect,
} from '../../../../../media/providers/generation/fitting/patterns.ts';

const dialects: readonly PatternDialect[] = ['ecma', 'python', 'strict', 're2', 'grammar'];
const all = 'ecma python strict re2 grammar';

const cases: readonly (readonly [pattern: string, takers: string])[] = [
  ['^[a-z]+$', all],
  ['^\\d{4}-\\d{2}-\\d{2}$', all],
  ['^(?:a|b)(c|d)?$', all],
  ['^[\\w.-]{1,40}$', all],
  ['^$', all],
  ['[a-z]+', 'ecma python strict re2'],
  ['^https?:\\/\\/', 'ecma python strict re2'],
  ['^a\\$', 'ecma python strict re2'],
  ['\\bword\\b', 'ecma python strict re2'],
  ['^(?!__.*__$)[^\\p{Cc}\\p{Cf}"]{1,200}$', 'ecma'],
  ['^[\\p{L}\\p{N}]+$', 'ecma re2'],
  ['^(?!__.*__$)[\\w-]+$', 'ecma python'],
  ['^(?<=a)b$', 'ecma'],
  ['^(?<year>\\d{4})$', 'ecma'],
  ['^\\u{1F600}$', 'ecma'],
  ['^\\u00e9$', 'ecma python strict grammar'],
  ['^(a)\\1$', 'ecma'],
  ['^.*?$', 'ecma python strict re2'],
  ['^a{2000}$', 'ecma python strict'],
  ['^[^]$', 'ecma'],
  // A range that ends in a class is one for JavaScript alone, and without the flag `u`.
  ['^[\\w-.]+$', ''],
  ['\\Aword\\Z', 'python strict'],
  ['(?P<n>a)', 'python strict re2'],
  ['(', ''],
  ['a)', ''],
  ['[z-a]', ''],
  ['*', ''],
  ['^[a-z$', ''],
  ['a\\', ''],
  ['x'.repeat(5_000), ''],
];

for (const [pattern, takers] of cases) {
  test(`${pattern.slice(0, 40)} is compiled by ${takers || 'nobody'}`, () => {
    const found = dialects.filter((dialect) => compiles(pattern, dialect));
    assert.equal(found.join(' '), takers);
    // And the same when it is asked again.
    assert.deepEqual(
      dialects.filter((dialect) => compiles(pattern, dialect)),
      found,
    );
  });
}
