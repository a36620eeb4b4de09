// API key tokens: every mistyped one is refused without a look at the database.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  displayPrefix,
  isKeyToken,
  newKeyToken,
  tokenHash,
} from '../../../actors/credentials/token.ts';

test('a new token is well-formed and says its environment', () => {
  for (const environment of ['live', 'test'] as const) {
    const token = newKeyToken(environment);
    assert.match(token, new RegExp(`^svc_${environment}_[0-9A-Za-z]{49}$`));
    assert.equal(isKeyToken(token), true);
    assert.equal(tokenHash(token).length, 32);
    assert.ok(token.startsWith(displayPrefix(token)));
    assert.ok(displayPrefix(token).length <= 15, 'a prefix gives little away');
  }
});

test('any one changed character is noticed', () => {
  const token = newKeyToken('live');
  for (let index = 9; index < token.length; index += 1) {
    const other = token[index] === 'A' ? 'B' : 'A';
    const mistyped = token.slice(0, index) + other + token.slice(index + 1);
    assert.equal(isKeyToken(mistyped), false, `character ${index}`);
  }
});

test('two swapped neighbours and a changed environment are noticed', () => {
  const token = newKeyToken('live');
  for (let index = 9; index + 1 < token.length; index += 1) {
    if (token[index] === token[index + 1]) continue;
    const pair = `${token[index + 1]}${token[index]}`;
    const swapped = token.slice(0, index) + pair + token.slice(index + 2);
    assert.equal(isKeyToken(swapped), false, `characters ${index}, ${index + 1}`);
  }
  assert.equal(isKeyToken(token.replace('svc_live_', 'svc_test_')), false);
  for (const text of ['', 'svc_live_', 'sk-123', `${token} `, `${token}A`]) {
    assert.equal(isKeyToken(text), false, text);
  }
});
