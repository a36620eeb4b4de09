// The request that an approval page carries: whose it is, how long, and that nobody changes it.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { approvalLimits } from '../../../actors/oauth/limits.ts';
import type { Asked } from '../../../actors/oauth/request.ts';
import { openRequest, sealRequest } from '../../../actors/oauth/sealed-request.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { fc } from '../../harness/properties.ts';

const sealer = createSealer(randomBytes(32).toString('base64url'));
const reader = { accountId: 'acc_1', sessionId: 'ses_1' };
const asked: Asked = {
  clientId: 'svc-cli',
  redirectUri: 'http://127.0.0.1:1/callback',
  state: 'of the app',
  challenge: 'c'.repeat(43),
  scopes: ['profile', 'app'],
};
const nowMs = 1_000_000;
const { requestMs, requestCharactersMax } = approvalLimits;

test('what was sealed is opened by whom it was shown to, for ten minutes', () => {
  const sealed = sealRequest(sealer, asked, reader, nowMs);
  const opened = openRequest(sealer, sealed, reader, nowMs + requestMs - 1);
  assert.deepEqual(opened?.asked, asked);
  assert.equal(opened?.expiresAtMs, nowMs + requestMs);
  assert.equal(requestMs, 600_000);
  assert.equal(openRequest(sealer, sealed, reader, nowMs + requestMs), null);
  for (const other of [
    { ...reader, sessionId: 'ses_2' },
    { ...reader, accountId: 'acc_2' },
    { accountId: 'acc_1 ses_1', sessionId: '' },
  ]) {
    assert.equal(openRequest(sealer, sealed, other, nowMs), null);
  }
  const stranger = createSealer(randomBytes(32).toString('base64url'));
  assert.equal(openRequest(stranger, sealed, reader, nowMs), null);
});

test('two pages of one request are decided apart', () => {
  const ids = [1, 2].map(() => {
    return openRequest(sealer, sealRequest(sealer, asked, reader, nowMs), reader, nowMs)?.id;
  });
  assert.notEqual(ids[0], ids[1]);
});

test('the longest request fits, and what is longer is not read', () => {
  const longest = {
    ...asked,
    clientId: `https://${'c'.repeat(approvalLimits.clientIdCharactersMax - 8)}`,
    redirectUri: `https://${'r'.repeat(492)}`,
    state: '\u0001'.repeat(approvalLimits.stateCharactersMax),
  };
  const sealed = sealRequest(sealer, longest, reader, nowMs);
  assert.ok(sealed.length < requestCharactersMax, `${sealed.length}`);
  assert.deepEqual(openRequest(sealer, sealed, reader, nowMs)?.asked, longest);
  assert.equal(
    openRequest(sealer, `${sealed}${'A'.repeat(requestCharactersMax)}`, reader, 0),
    null,
  );
});

test('a changed request is none', () => {
  const sealed = sealRequest(sealer, asked, reader, nowMs);
  fc.assert(
    fc.property(fc.nat(sealed.length - 2), fc.constantFrom('A', 'z', '_'), (at, letter) => {
      const changed = sealed.slice(0, at) + letter + sealed.slice(at + 1);
      fc.pre(changed !== sealed);
      assert.equal(openRequest(sealer, changed, reader, nowMs), null);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(openRequest(sealer, text, reader, nowMs), null);
    }),
  );
});
