// Codes on a real database: who shows one uses it up, once, and gets what it was made for.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { createOAuthLimits } from '../../../actors/oauth/limits.ts';
import { newPair, pairHashes } from '../../../actors/oauth/pair.ts';
import { challengeOf } from '../../../actors/oauth/pkce.ts';
import { endAuthorizations } from '../../../db/authorizations.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { findRedemption, redeemCode } from '../../../db/oauth/codes.ts';
import { findRemembered, issueCode, remember } from '../../../db/oauth.ts';
import { endSessionsBut } from '../../../db/sessions.ts';
import { newAuditId, newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import {
  addAccount,
  allScopes,
  approvalOf,
  approveCode,
  loopback,
  newVerifier,
} from '../../harness/oauth.ts';

let database: TestDatabase;
let sql: Sql;
let accountId: string;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 8);
  accountId = await addAccount(sql);
});
after(() => database.close());

const lives = createOAuthLimits({ mode: 'production' });

function newGrant(allowed: readonly string[] = allScopes) {
  return {
    authorizationId: newId('auth', 0),
    auditId: newAuditId(0),
    pair: pairHashes(newPair()),
    allowed,
    lives,
  };
}

type Approved = Awaited<ReturnType<typeof approveCode>>;

function shownOf({ code, verifier, redirectUri }: Approved, client = 'svc-cli') {
  const challenge = challengeOf(verifier) ?? '';
  return { codeHash: tokenHash(code), client, redirectUri, challenge };
}

test('a code is good once, for all that was approved, and the event tells of it', async () => {
  const approved = await approveCode(sql, accountId);
  const grant = newGrant();
  const granted = await redeemCode(sql, shownOf(approved), grant);
  const { authorizationId } = grant;
  assert.deepEqual(granted, {
    authorizationId,
    accountId,
    scopes: [...allScopes],
    expiresInSeconds: 3_600,
    hasRefresh: true,
  });
  assert.equal(await redeemCode(sql, shownOf(approved), newGrant()), null);
  const redemption = await findRedemption(sql, tokenHash(approved.code));
  assert.deepEqual(redemption, { authorizationId, accountId, client: 'svc-cli' });
  const [row] = await sql`
    SELECT round(extract(epoch FROM expires_at - approved_at)) AS life, method
    FROM oauth_authorizations WHERE id = ${authorizationId}`;
  assert.deepEqual({ ...row }, { life: '31536000', method: 'otp' });
  const events = await sql`
    SELECT actor, details FROM audit_events WHERE subject = ${`authorization:${authorizationId}`}`;
  assert.deepEqual(
    events.map((event) => ({ ...event })),
    [
      {
        actor: accountId,
        details: { client: 'svc-cli', grant: 'authorization_code', scopes: [...allScopes] },
      },
    ],
  );
});

test('whoever shows a code wrongly gets nothing, and nobody does after it', async () => {
  const wrong = [
    { client: 'svc-desktop' },
    { redirectUri: 'http://127.0.0.1:41235/callback' },
    { challenge: challengeOf('a'.repeat(43)) ?? '' },
    { challenge: '' },
  ];
  for (const change of wrong) {
    const approved = await approveCode(sql, accountId);
    const shown = shownOf(approved);
    assert.equal(await redeemCode(sql, { ...shown, ...change }, newGrant()), null);
    assert.equal(await redeemCode(sql, shown, newGrant()), null);
    assert.equal(await findRedemption(sql, shown.codeHash), null);
  }
});

test('a code that is over, or of an account that may not, is good for nothing', async () => {
  const late = await approveCode(sql, accountId);
  await sql`UPDATE oauth_codes SET expires_at = now() WHERE code_hash = ${tokenHash(late.code)}`;
  assert.equal(await redeemCode(sql, shownOf(late), newGrant()), null);
  for (const column of ['disabled_at', 'deleting_at']) {
    const other = await addAccount(sql);
    const approved = await approveCode(sql, other);
    await sql.unsafe(`UPDATE accounts SET ${column} = now() WHERE id = '${other}'`);
    assert.equal(await redeemCode(sql, shownOf(approved), newGrant()), null, column);
  }
});

test('without offline_access there is no refresh token, and all ends in an hour', async () => {
  const online = await approveCode(sql, accountId, { scopes: ['profile', 'app'] });
  const grant = newGrant();
  const granted = await redeemCode(sql, shownOf(online), grant);
  assert.equal(granted?.hasRefresh, false);
  const rows = await sql`
    SELECT t.kind, t.expires_at = o.expires_at AS same FROM oauth_tokens t
    JOIN oauth_authorizations o ON o.id = t.authorization_id WHERE o.id = ${grant.authorizationId}`;
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [{ kind: 'access', same: true }],
  );
});

test('a client that may have less now gets tokens for less', async () => {
  const approved = await approveCode(sql, accountId);
  const granted = await redeemCode(sql, shownOf(approved), newGrant(['email', 'profile']));
  assert.deepEqual(granted?.scopes, ['profile', 'email']);
  const none = await approveCode(sql, accountId, { scopes: ['app'] });
  assert.equal(await redeemCode(sql, shownOf(none), newGrant(['profile'])), null);
});

test('of fifty at once one gets something', async () => {
  const approved = await approveCode(sql, accountId);
  const all = Array.from({ length: 50 }, () => redeemCode(sql, shownOf(approved), newGrant()));
  const granted = (await Promise.all(all)).filter((each) => each !== null);
  assert.equal(granted.length, 1);
});

test('what an account approved is void when its authorizations end', async () => {
  const other = await addAccount(sql);
  const approved = await approveCode(sql, other);
  await remember(sql, other, 'svc-cli', ['profile']);
  await remember(sql, other, 'svc-cli', ['app', 'profile']);
  await remember(sql, accountId, 'svc-cli', ['profile']);
  assert.deepEqual(await findRemembered(sql, other, 'svc-cli'), ['app', 'profile']);
  await endAuthorizations(sql, { accountId: other, client: 'svc-desktop' }, 'user');
  assert.notEqual(await findRemembered(sql, other, 'svc-cli'), null);
  await endAuthorizations(sql, { accountId: other }, 'account');
  assert.equal(await redeemCode(sql, shownOf(approved), newGrant()), null);
  assert.equal(await findRemembered(sql, other, 'svc-cli'), null);
  assert.deepEqual(await findRemembered(sql, accountId, 'svc-cli'), ['profile']);
});

test('whoever redeems while the authorizations end gets none that stays', async () => {
  for (let round = 0; round < 20; round += 1) {
    const other = await addAccount(sql);
    const codes = await Promise.all([1, 2, 3].map(() => approveCode(sql, other)));
    const ending = endAuthorizations(sql, { accountId: other }, 'account');
    const redeeming = codes.map((code) => redeemCode(sql, shownOf(code), newGrant()));
    await Promise.all([ending, ...redeeming]);
    const left = await sql`
      SELECT id FROM oauth_authorizations WHERE account_id = ${other} AND revoked_at IS NULL`;
    assert.equal(left.length, 0, `round ${round}`);
  }
});

test('a redemption that began before the authorizations ended gets nothing after', async () => {
  const other = await addAccount(sql);
  const approved = await approveCode(sql, other);
  const granted = await sql.begin(async (transaction) => {
    await transaction`SELECT now()`;
    await endAuthorizations(sql, { accountId: other }, 'account');
    return { pair: await redeemCode(transaction, shownOf(approved), newGrant()) };
  });
  assert.equal(granted.pair, null);
});

test('what a session approves while it ends is void with the rest', async () => {
  for (let round = 0; round < 20; round += 1) {
    const other = await addAccount(sql);
    const verifier = newVerifier();
    const approval = await approvalOf(sql, other);
    const code = newToken('code');
    const issuing = issueCode(sql, {
      codeHash: tokenHash(code),
      approval,
      redirectUri: loopback,
      challenge: challengeOf(verifier) ?? '',
      expiresAt: new Date(Date.now() + 60_000),
    });
    const ending = sql.begin(async (transaction) => {
      await endSessionsBut(transaction, other, null);
      await endAuthorizations(transaction, { accountId: other }, 'account');
    });
    await Promise.all([issuing, ending]);
    const shown = shownOf({ code, verifier, redirectUri: loopback });
    assert.equal(await redeemCode(sql, shown, newGrant()), null, `round ${round}`);
  }
});
