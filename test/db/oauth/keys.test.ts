// Keys that apps make end with what the app was let do, also those that are just being made.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { displayPrefix, newKeyToken, tokenHash } from '../../../actors/credentials/token.ts';
import { endAuthorizations, holdAuthorization } from '../../../db/authorizations.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { createKeyWithin, findKeyByHash } from '../../../db/keys.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { addAccount } from '../../harness/oauth.ts';

let database: TestDatabase;
let sql: Sql;
let accountId: string;
const walletId = newId('wal', 0);
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 8);
  accountId = await addAccount(sql);
  await createWallet(sql, { id: walletId, accountId, type: 'personal' });
});
after(() => database.close());

async function addAuthorization(): Promise<string> {
  const id = newId('auth', 0);
  await sql`
    INSERT INTO oauth_authorizations (id, account_id, client, scopes, method, authenticated_at,
      expires_at)
    VALUES (${id}, ${accountId}, 'svc-cli', '{app}', 'otp', now(), now() + interval '1 day')`;
  return id;
}

/** Makes a key as an app does; its hash, or null: the app may not any more. */
async function makeKey(authorizationId: string): Promise<Buffer | null> {
  const token = newKeyToken('live');
  const key = {
    id: newId('key', 0),
    accountId,
    walletId,
    label: 'made by an app',
    environment: 'live',
    scopes: ['models:read'],
    tokenHash: tokenHash(token),
    prefix: displayPrefix(token),
    requestsPerMinute: 600,
    concurrencyMax: 64,
    authorizationId,
  } as const;
  const made = await sql
    .begin(async (transaction) => {
      await createKeyWithin(transaction, { ...key, scopes: [...key.scopes] }, 1_000);
      if (!(await holdAuthorization(transaction, authorizationId))) throw new Error('ended');
      return { hash: key.tokenHash };
    })
    .catch(() => ({ hash: null }));
  return made.hash;
}

test('a key of an app ends with the authorization, and none is made after it', async () => {
  const id = await addAuthorization();
  const hash = await makeKey(id);
  assert.ok(hash !== null);
  const ended = await sql.begin(async (transaction) => ({
    ids: await endAuthorizations(transaction, { id }, 'user'),
  }));
  const key = await findKeyByHash(sql, hash);
  assert.equal(key?.status, 'revoked');
  assert.deepEqual(ended.ids, [id, key.id]);
  assert.equal(await makeKey(id), null);
});

test('a key that is made while the authorization ends does not stay', async () => {
  for (let round = 0; round < 20; round += 1) {
    const id = await addAuthorization();
    const making = [1, 2, 3, 4].map(() => makeKey(id));
    const ending = sql.begin((transaction) => endAuthorizations(transaction, { id }, 'user'));
    await Promise.all([...making, ending]);
    const left = await sql`
      SELECT 1 FROM api_keys WHERE authorization_id = ${id} AND status = 'active'`;
    assert.equal(left.length, 0, `round ${round}`);
  }
});
