// What is forgotten of codes, devices, tokens and authorizations, and what is kept.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createOAuthLimits } from '../../../actors/oauth/limits.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import {
  sweepAuthorizations,
  sweepCodes,
  sweepDevices,
  sweepTokens,
} from '../../../db/oauth/sweep.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { addAccount, approveCode, askDevice } from '../../harness/oauth.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
});
after(() => database.close());

const { codesKeptSeconds, tokensKeptSeconds } = createOAuthLimits({ mode: 'production' });
const day = 86_400;

async function addAuthorization(endedAgo: number, revokedAgo: number | null): Promise<string> {
  const id = newId('auth', 0);
  await sql`
    INSERT INTO oauth_authorizations (id, account_id, client, scopes, method, authenticated_at,
      expires_at, revoked_at, revoked_reason)
    VALUES (${id}, 'acc_1', 'svc-cli', '{app}', 'otp', now(),
      now() - make_interval(secs => ${endedAgo}),
      now() - make_interval(secs => ${revokedAgo}),
      CASE WHEN ${revokedAgo}::float8 IS NOT NULL THEN 'user' END)`;
  return id;
}

async function addToken(authorizationId: string, endedAgo: number): Promise<void> {
  await sql`
    INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at)
    VALUES (${randomBytes(32)}, ${authorizationId}, 'access',
      now() - make_interval(secs => ${endedAgo}))`;
}

test('codes and devices go a day after their end, a page at a time', async () => {
  const accountId = await addAccount(sql);
  for (let count = 0; count < 4; count += 1) {
    await approveCode(sql, accountId);
    await askDevice(sql);
  }
  assert.equal(await sweepCodes(sql, codesKeptSeconds, 10), 0);
  assert.equal(await sweepDevices(sql, codesKeptSeconds, 10), 0);
  for (const table of ['oauth_codes', 'oauth_devices']) {
    await sql.unsafe(`
      UPDATE ${table} SET expires_at = now() - interval '25 hours'
      WHERE ctid IN (SELECT ctid FROM ${table} LIMIT 3)`);
  }
  for (const sweep of [sweepCodes, sweepDevices]) {
    const counts = [];
    for (let page = 0; page < 3; page += 1) counts.push(await sweep(sql, codesKeptSeconds, 2));
    assert.deepEqual(counts, [2, 1, 0]);
  }
});

test('tokens go seven days after their end', async () => {
  const id = await addAuthorization(-day, null);
  await addToken(id, 8 * day);
  await addToken(id, 6 * day);
  await addToken(id, -day);
  assert.equal(await sweepTokens(sql, tokensKeptSeconds, 10), 1);
  assert.equal(await sweepTokens(sql, tokensKeptSeconds, 10), 0);
});

test('authorizations go with their tokens, and stay while a key of theirs is good', async () => {
  await sql`DELETE FROM oauth_authorizations`;
  const expired = await addAuthorization(8 * day, null);
  const revoked = await addAuthorization(-day, 8 * day);
  const kept = [
    await addAuthorization(-day, null),
    await addAuthorization(6 * day, null),
    await addAuthorization(-day, 6 * day),
    await addAuthorization(8 * day, null),
  ];
  await addToken(revoked, -day);
  await addToken(expired, -day);
  const accountId = await addAccount(sql);
  const walletId = newId('wal', 0);
  await createWallet(sql, { id: walletId, accountId, type: 'personal' });
  await sql`
    INSERT INTO api_keys (id, account_id, wallet_id, label, environment, scopes, token_hash,
      prefix, requests_per_minute, concurrency_max, authorization_id)
    VALUES ('key_1', ${accountId}, ${walletId}, 'made by an app', 'live', '{}',
      ${randomBytes(32)}, 'svc_live_1', 1, 1, ${kept[3] ?? null})`;
  await sql`DELETE FROM oauth_tokens WHERE authorization_id NOT IN (${revoked}, ${expired})`;
  assert.equal(await sweepAuthorizations(sql, tokensKeptSeconds, 10), 2);
  const left = await sql<{ id: string }[]>`SELECT id FROM oauth_authorizations ORDER BY id`;
  assert.deepEqual(
    left.map(({ id }) => id),
    kept.toSorted(),
  );
  assert.deepEqual([...(await sql`SELECT 1 FROM oauth_tokens`)], []);
  await sql`UPDATE api_keys SET status = 'revoked', revoked_at = now()`;
  assert.equal(await sweepAuthorizations(sql, tokensKeptSeconds, 10), 1);
});
