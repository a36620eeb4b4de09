// Keys that name prototypes in a body: refused with their path, or kept as one more name where a
// route takes any.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../../runtime/http/json.ts';
import { Problem } from '../../../runtime/problem.ts';

const bodies = [
  '{"a":{"__proto__":{"b":1}}}',
  '{"a":[{"__proto__":null}]}',
  '{"a":{"constructor":{"prototype":{"b":1}}}}',
  '{"a":{"\\u005f_proto__":1}}',
];

test('a key that reaches a prototype is a fault with its path', () => {
  for (const text of bodies) {
    assert.throws(
      () => parseJson(Buffer.from(text)),
      (error) => error instanceof Problem && error.param?.startsWith('a') === true,
      text,
    );
  }
});

test('where names are free it is one more of them, and reaches nothing', () => {
  for (const text of bodies) {
    const value = parseJson(Buffer.from(text), 'spaced');
    assert.match(JSON.stringify(value), /"(__proto__|constructor) ":/, text);
    assert.equal(({} as { b?: number }).b, undefined);
  }
  const named = '{"constructor":"x","prototype":[1],"other":2}';
  assert.deepEqual(parseJson(Buffer.from(named), 'spaced'), {
    'constructor ': 'x',
    'prototype ': [1],
    other: 2,
  });
});
