// Sealing: what is sealed opens again, and nothing else does.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSealer } from '../../runtime/seal.ts';

const key = () => randomBytes(32).toString('base64url');

test('a sealed text opens under the same key and purpose only', () => {
  const sealer = createSealer(key());
  const sealed = sealer.seal('sk-secret ✓', 'provider:a');
  assert.equal(sealer.open(sealed, 'provider:a'), 'sk-secret ✓');
  assert.throws(() => sealer.open(sealed, 'provider:b'));
  assert.throws(() => createSealer(key()).open(sealed, 'provider:a'));
  assert.equal(sealed.includes('sk-secret'), false);
});

test('every changed byte is noticed', () => {
  const sealer = createSealer(key());
  const sealed = sealer.seal('text', 'p');
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    assert.throws(() => sealer.open(changed, 'p'), `byte ${index}`);
  }
});

test('key ids differ and a short key is refused', () => {
  assert.notEqual(createSealer(key()).keyId, createSealer(key()).keyId);
  assert.throws(() => createSealer('c2hvcnQ'));
});

test('a digest tells the same text under the same key and purpose, and nothing else', () => {
  const [first, second] = [key(), key()];
  const digest = createSealer(first).digest('sk-secret', 'provider:a');
  assert.match(digest, /^[0-9a-f]{64}$/);
  assert.equal(createSealer(first).digest('sk-secret', 'provider:a'), digest);
  assert.notEqual(createSealer(first).digest('sk-secreT', 'provider:a'), digest);
  assert.notEqual(createSealer(first).digest('sk-secret', 'provider:b'), digest);
  assert.notEqual(createSealer(second).digest('sk-secret', 'provider:a'), digest);
});

test('what is sealed for an owner opens for that owner, and is the same whoever seals it', () => {
  const master = key();
  const owner = createSealer(master).bind('owner:a');
  const sealed = owner.seal('thought ✓');
  assert.equal(createSealer(master).bind('owner:a').open(sealed), 'thought ✓');
  assert.deepEqual(createSealer(master).bind('owner:a').seal('thought ✓'), sealed);
  assert.notDeepEqual(owner.seal('thought').subarray(0, 12), sealed.subarray(0, 12));
  assert.throws(() => createSealer(master).bind('owner:b').open(sealed));
  assert.throws(() => createSealer(key()).bind('owner:a').open(sealed));
  assert.throws(() => createSealer(master).open(sealed, 'owner:a'), 'it has a key of its own');
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    assert.throws(() => owner.open(changed), `byte ${index}`);
  }
  assert.throws(() => owner.open(sealed.subarray(0, 20)));
});
