// Refresh tokens on a real database: the first use decides, and the row tells everybody after it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { tokenHash } from '../../../actors/credentials/token.ts';
import { createOAuthLimits } from '../../../actors/oauth/limits.ts';
import { newPair, pairHashes, type TokenPair } from '../../../actors/oauth/pair.ts';
import { challengeOf } from '../../../actors/oauth/pkce.ts';
import { endAuthorizations, findAccessToken } from '../../../db/authorizations.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { redeemCode } from '../../../db/oauth/codes.ts';
import { type Rotation, readRefresh, rotateRefresh } from '../../../db/oauth/refresh.ts';
import { findToken, revokeAccessToken } from '../../../db/oauth/revocation.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newAuditId, newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { addAccount, allScopes, approveCode } from '../../harness/oauth.ts';

let database: TestDatabase;
let sql: Sql;
let accountId: string;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 8);
  accountId = await addAccount(sql);
  await createWallet(sql, { id: newId('wal', 0), accountId, type: 'personal' });
});
after(() => database.close());

const lives = createOAuthLimits({ mode: 'production' });
const { refreshesPerMinute } = lives;

interface Issued {
  authorizationId: string;
  pair: TokenPair;
}

async function issue(account = accountId): Promise<Issued> {
  const { code, verifier, redirectUri } = await approveCode(sql, account);
  const challenge = challengeOf(verifier) ?? '';
  const pair = newPair();
  const shown = { codeHash: tokenHash(code), client: 'svc-cli', redirectUri, challenge };
  const authorizationId = newId('auth', 0);
  const grant = { authorizationId, auditId: newAuditId(0), pair: pairHashes(pair) };
  assert.ok(await redeemCode(sql, shown, { ...grant, allowed: allScopes, lives }));
  return { authorizationId, pair };
}

function rotate(refresh: string, changed: Partial<Rotation> = {}) {
  const pair = newPair();
  const rotation: Rotation = {
    tokenHash: tokenHash(refresh),
    client: 'svc-cli',
    allowed: allScopes,
    wanted: null,
    pair: pairHashes(pair),
    sealedPair: Buffer.from(JSON.stringify(pair)),
    lives,
    refreshesPerMinute,
    ...changed,
  };
  return rotateRefresh(sql, rotation).then((granted) => ({ granted, pair }));
}

const read = (refresh: string) => readRefresh(sql, tokenHash(refresh), refreshesPerMinute);
const findAccess = (access: string) => findAccessToken(sql, tokenHash(access));

test('a refresh token is used once, and its row has what came of it', async () => {
  const { authorizationId, pair } = await issue();
  const unused = await read(pair.refresh);
  assert.equal(unused?.rotation, null);
  assert.ok(unused.isAuthorized && !unused.isExpired && !unused.isCrowded);
  const next = await rotate(pair.refresh);
  assert.deepEqual(next.granted, {
    authorizationId,
    accountId,
    scopes: [...allScopes],
    expiresInSeconds: 3_600,
    hasRefresh: true,
  });
  assert.equal((await rotate(pair.refresh)).granted, null);
  const used = (await read(pair.refresh))?.rotation;
  assert.ok(used && used.agoMs >= 0 && used.agoMs < 10_000);
  assert.equal(used.isSuccessorUsed, false);
  assert.deepEqual(JSON.parse(String(used.sealedPair)), next.pair);
  assert.deepEqual([used.scopes, used.expiresInSeconds], [[...allScopes], 3_600]);
  await rotate(next.pair.refresh);
  assert.equal((await read(pair.refresh))?.rotation?.isSuccessorUsed, true);
});

test('both access tokens of an authorization work until it ends', async () => {
  const { authorizationId, pair } = await issue();
  const next = await rotate(pair.refresh);
  for (const { access } of [pair, next.pair]) {
    assert.equal((await findAccess(access))?.authorizationId, authorizationId);
  }
  await endAuthorizations(sql, { id: authorizationId }, 'reuse');
  for (const { access } of [pair, next.pair]) assert.equal(await findAccess(access), null);
  assert.equal((await rotate(next.pair.refresh)).granted, null);
  assert.equal((await read(next.pair.refresh))?.isAuthorized, false);
});

test('an app may ask for less, of this access token alone', async () => {
  const { pair } = await issue();
  const less = await rotate(pair.refresh, { wanted: ['app'] });
  assert.deepEqual(less.granted?.scopes, ['app']);
  assert.deepEqual((await findAccess(less.pair.access))?.scopes, ['app']);
  assert.deepEqual((await read(pair.refresh))?.rotation?.scopes, ['app']);
  const all = await rotate(less.pair.refresh);
  assert.deepEqual(all.granted?.scopes, [...allScopes]);
});

test('nothing is used up for another client, more scopes, or none that is allowed', async () => {
  const { pair } = await issue();
  const refused: Partial<Rotation>[] = [
    { client: 'svc-desktop' },
    { wanted: ['app', 'admin'] },
    { wanted: ['app'], allowed: ['profile'] },
    { allowed: [] },
  ];
  for (const changed of refused) {
    assert.equal((await rotate(pair.refresh, changed)).granted, null, JSON.stringify(changed));
  }
  assert.equal((await read(pair.refresh))?.rotation, null);
  const narrowed = await rotate(pair.refresh, { allowed: ['profile'] });
  assert.deepEqual(narrowed.granted?.scopes, ['profile']);
});

test('an access token is no refresh token, and a stranger none at all', async () => {
  const { pair } = await issue();
  assert.equal((await rotate(pair.access)).granted, null);
  assert.equal(await read(pair.access), null);
  assert.equal(await read('svc_rt_unknown'), null);
});

test('idle tokens, ended authorizations, and accounts that may not get nothing', async () => {
  const idle = await issue();
  await sql`UPDATE oauth_tokens SET expires_at = now()
    WHERE token_hash = ${tokenHash(idle.pair.refresh)}`;
  assert.equal((await rotate(idle.pair.refresh)).granted, null);
  assert.equal((await read(idle.pair.refresh))?.isExpired, true);

  const over = await issue();
  await sql`UPDATE oauth_authorizations SET expires_at = now() WHERE id = ${over.authorizationId}`;
  assert.equal((await rotate(over.pair.refresh)).granted, null);

  const other = await addAccount(sql);
  const disabled = await issue(other);
  await sql`UPDATE accounts SET disabled_at = now() WHERE id = ${other}`;
  assert.equal((await rotate(disabled.pair.refresh)).granted, null);
  assert.equal((await read(disabled.pair.refresh))?.isAuthorized, false);
});

test('no token outlives its authorization', async () => {
  const { authorizationId, pair } = await issue();
  await sql`UPDATE oauth_authorizations SET expires_at = now() + interval '90 seconds'
    WHERE id = ${authorizationId}`;
  const next = await rotate(pair.refresh);
  assert.ok((next.granted?.expiresInSeconds ?? 0) <= 90);
  const [row] = await sql`
    SELECT count(*)::integer AS late FROM oauth_tokens t
    JOIN oauth_authorizations o ON o.id = t.authorization_id
    WHERE t.token_hash = ${tokenHash(next.pair.refresh)} AND t.expires_at > o.expires_at`;
  assert.equal(row?.late, 0);
});

test('an authorization gets so many tokens a minute and no more', async () => {
  const { pair } = await issue();
  const few = { refreshesPerMinute: 2 };
  const second = await rotate(pair.refresh, few);
  assert.ok(second.granted);
  assert.equal((await rotate(second.pair.refresh, few)).granted, null);
  assert.equal((await readRefresh(sql, tokenHash(second.pair.refresh), 2))?.isCrowded, true);
  await sql`UPDATE oauth_tokens SET created_at = created_at - interval '1 minute'
    WHERE token_hash IN (${tokenHash(pair.access)}, ${tokenHash(pair.refresh)})`;
  assert.ok((await rotate(second.pair.refresh, few)).granted);
});

test('of fifty at once one is the first, and the row has its pair for all others', async () => {
  const { pair } = await issue();
  const all = await Promise.all(Array.from({ length: 50 }, () => rotate(pair.refresh)));
  const first = all.filter(({ granted }) => granted !== null);
  assert.equal(first.length, 1);
  const sealed = (await read(pair.refresh))?.rotation?.sealedPair;
  assert.deepEqual(JSON.parse(String(sealed)), first[0]?.pair);
  const others = all.filter(({ granted }) => granted === null);
  for (const { pair: unused } of others) assert.equal(await findAccess(unused.access), null);
});

test('one access token is revoked by itself', async () => {
  const { authorizationId, pair } = await issue();
  const next = await rotate(pair.refresh);
  const found = { kind: 'access', authorizationId, accountId, client: 'svc-cli' };
  assert.deepEqual(await findToken(sql, tokenHash(pair.access)), found);
  await revokeAccessToken(sql, tokenHash(pair.access));
  assert.equal(await findAccess(pair.access), null);
  assert.ok(await findAccess(next.pair.access));
  assert.ok((await rotate(next.pair.refresh)).granted);
  assert.equal((await findToken(sql, tokenHash(pair.refresh)))?.kind, 'refresh');
  assert.equal(await findToken(sql, tokenHash('svc_at_unknown')), null);
});
