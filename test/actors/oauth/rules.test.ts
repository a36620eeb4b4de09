// The rules of the token endpoint, one by one: PKCE, scopes, devices, refresh tokens, pairs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newToken } from '../../../actors/credentials/token.ts';
import type { OAuthClient } from '../../../actors/oauth/client.ts';
import { answerPoll } from '../../../actors/oauth/device-poll.ts';
import { newPair, openPair, sealPair } from '../../../actors/oauth/pair.ts';
import { challengeOf, isChallenge } from '../../../actors/oauth/pkce.ts';
import { judgeRefresh } from '../../../actors/oauth/refresh.ts';
import { grantableScopes, readScopes } from '../../../actors/oauth/scopes.ts';
import type { StoredRefresh } from '../../../db/oauth/refresh.ts';
import { createSealer } from '../../../runtime/seal.ts';

test('a verifier has the challenge of RFC 7636, appendix B', () => {
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  assert.equal(challengeOf(verifier), challenge);
  assert.ok(isChallenge(challenge));
  for (const text of ['', 'a'.repeat(42), 'a'.repeat(129), `${verifier}+`, `${verifier}\n`]) {
    assert.equal(challengeOf(text), null, text);
  }
  for (const text of ['', challenge.slice(1), `${challenge}=`, `${challenge}A`]) {
    assert.ok(!isChallenge(text), text);
  }
});

test('scopes are words, each once', () => {
  assert.deepEqual(readScopes('app profile app'), ['app', 'profile']);
  for (const text of ['', ' app', 'app  profile', 'app\tprofile', '"', 'a\\', 'a'.repeat(1_025)]) {
    assert.equal(readScopes(text), null, JSON.stringify(text));
  }
});

test('unknown scopes and those of others are dropped', () => {
  const client: Pick<OAuthClient, 'scopes' | 'grants'> = {
    scopes: ['profile', 'offline_access'],
    grants: ['authorization_code', 'refresh_token'],
  };
  assert.deepEqual(grantableScopes(undefined, client), ['profile']);
  const left = grantableScopes('offline_access openid profile app', client);
  assert.deepEqual(left, ['profile', 'offline_access']);
  assert.equal(grantableScopes('app', client), null);
  assert.equal(grantableScopes('', client), null);
  const online = { ...client, grants: ['authorization_code' as const] };
  assert.deepEqual(grantableScopes('offline_access profile', online), ['profile']);
});

test('a device is told what has become of it', () => {
  const answers = (['pending', 'approved', 'denied', 'redeemed', 'expired'] as const).map(
    (status) => [false, true].map((isEarly) => answerPoll({ status, isEarly })),
  );
  assert.deepEqual(answers, [
    ['authorization_pending', 'slow_down'],
    ['redeem', 'redeem'],
    ['access_denied', 'access_denied'],
    ['invalid_grant', 'invalid_grant'],
    ['expired_token', 'expired_token'],
  ]);
  assert.equal(answerPoll(null), 'invalid_grant');
});

const client: Pick<OAuthClient, 'id' | 'scopes' | 'refreshGraceSeconds'> = {
  id: 'svc-cli',
  scopes: ['profile', 'app'],
  refreshGraceSeconds: 10,
};
const token: StoredRefresh = {
  authorizationId: 'auth_1',
  accountId: 'acc_1',
  client: 'svc-cli',
  scopes: ['profile', 'app', 'offline_access'],
  isAuthorized: true,
  isExpired: false,
  isCrowded: false,
  rotation: null,
};
const rotation = {
  agoMs: 9_999,
  isSuccessorUsed: false,
  sealedPair: Buffer.from('sealed'),
  scopes: [],
  expiresInSeconds: 3_600,
};

test('a refresh token that was not used is refused for what it is, its app or its wish', () => {
  assert.equal(judgeRefresh(token, client, null), 'again');
  assert.equal(judgeRefresh(token, client, ['app']), 'again');
  assert.equal(judgeRefresh(null, client, null), 'invalid');
  assert.equal(judgeRefresh({ ...token, client: 'other' }, client, null), 'invalid');
  assert.equal(judgeRefresh({ ...token, isAuthorized: false }, client, null), 'invalid');
  assert.equal(judgeRefresh({ ...token, isExpired: true }, client, null), 'invalid');
  assert.equal(judgeRefresh(token, client, ['app', 'email']), 'scope');
  assert.equal(judgeRefresh(token, client, ['offline_access']), 'scope');
  assert.equal(judgeRefresh({ ...token, isCrowded: true }, client, null), 'crowded');
});

test('a used one is repeated within its grace, while what came of it is unused', () => {
  const used = (changed: Partial<typeof rotation>): StoredRefresh => ({
    ...token,
    rotation: { ...rotation, ...changed },
  });
  assert.equal(judgeRefresh(used({}), client, null), 'repeat');
  assert.equal(judgeRefresh({ ...used({}), isExpired: true }, client, null), 'repeat');
  assert.equal(judgeRefresh(used({ agoMs: 10_000 }), client, null), 'reuse');
  assert.equal(judgeRefresh(used({ isSuccessorUsed: true }), client, null), 'reuse');
  const graceless = { ...client, refreshGraceSeconds: 0 };
  assert.equal(judgeRefresh(used({ agoMs: 0 }), graceless, null), 'reuse');
  assert.equal(judgeRefresh({ ...used({}), client: 'other' }, client, null), 'invalid');
  assert.equal(judgeRefresh({ ...used({}), isAuthorized: false }, client, null), 'invalid');
});

test('a pair is opened with the token before it alone, by who has the master key', () => {
  const sealer = createSealer(Buffer.alloc(32, 1).toString('base64url'));
  const other = createSealer(Buffer.alloc(32, 2).toString('base64url'));
  const before = newToken('refresh');
  const pair = newPair();
  const sealed = sealPair(sealer, before, pair);
  assert.deepEqual(openPair(sealer, before, sealed), pair);
  assert.throws(() => openPair(sealer, newToken('refresh'), sealed));
  assert.throws(() => openPair(other, before, sealed));
  for (const text of Object.values(pair)) assert.ok(!sealed.includes(text));
});
