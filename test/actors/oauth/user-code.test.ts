// Codes that people type: their letters, and what is made of what was typed.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { newUserCode, readUserCode, userCodeDigest } from '../../../actors/oauth/user-code.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { fc } from '../../harness/properties.ts';

const form = /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/;

test('a code has eight consonants and a dash', () => {
  const codes = Array.from({ length: 200 }, newUserCode);
  for (const code of codes) assert.match(code, form);
  assert.equal(new Set(codes).size, codes.length);
  assert.equal(new Set(codes.join('').replaceAll('-', '')).size, 20);
});

test('a code is read whatever its case, dash and spaces', () => {
  for (const typed of ['BCDF-GHJK', 'bcdfghjk', ' bcdf ghjk ', 'BCDF–GHJK', 'b c d f-g h j k']) {
    assert.equal(readUserCode(typed), 'BCDF-GHJK', typed);
  }
});

test('what is no code is none', () => {
  for (const typed of ['', 'BCDF-GHJ', 'BCDF-GHJKL', 'ABCD-FGHJ', 'BCDF-GH0K', ' '.repeat(1_000)]) {
    assert.equal(readUserCode(typed), null, typed);
  }
  fc.assert(
    fc.property(fc.string(), (typed) => {
      const code = readUserCode(typed);
      assert.ok(code === null || form.test(code));
    }),
  );
});

test('a digest tells codes apart, and is nothing without the key', () => {
  const sealers = ['a', 'b'].map((letter) =>
    createSealer(Buffer.alloc(32, letter).toString('base64url')),
  );
  const [first, second] = sealers.map((sealer) => userCodeDigest(sealer, 'BCDF-GHJK'));
  assert.notEqual(first, second);
  assert.equal(sealers[0] && userCodeDigest(sealers[0], 'BCDF-GHJK'), first);
});
