// kill -9 between the commit of a refresh and its reply: the app that asks again gets that pair. A
// code whose reply was lost is redeemed anew by nobody, and nothing usable is left of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tokenHash } from '../../../actors/credentials/token.ts';
import type { Sql, Transaction } from '../../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { type Gateway, startGateway } from '../../harness/gateway.ts';
import { addAccount, approveCode } from '../../harness/oauth.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../../harness/proxy.ts';
import { codeForm, type OAuthCalls, openOAuthCalls, postForm, refusalOf } from './calls.ts';

// slow: It kills and restarts real processes.

let database: TestDatabase;
let proxy: DatabaseProxy;
let gateway: Gateway;
let sql: Sql;
let calls: OAuthCalls;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 3);
  proxy = await openDatabaseProxy(database.url);
  const env = { DATABASE_URL: proxy.url, TOLLGATE_MODE: 'dev', TOLLGATE_LOG_LEVEL: 'warn' };
  gateway = await startGateway({ env, shards: 1 });
  calls = await openOAuthCalls(gateway.url);
  // A restart takes longer than 10 s on a busy machine.
  await sql`UPDATE oauth_clients SET revision = revision + 1,
    definition = jsonb_set(definition, '{refresh_grace_seconds}', '60') WHERE name = 'svc-cli'`;
  await gateway.killMain();
});
after(async () => {
  await gateway?.close();
  proxy?.close();
  await database?.close();
});

/**
 * Sends the form while the row is locked, silences the way back, and lets the row go. The statement
 * commits, nobody hears of it, and the process is killed.
 */
async function killAfterCommit(
  form: Record<string, string>,
  lock: (transaction: Transaction) => Promise<unknown>,
  isWritten: () => Promise<boolean>,
): Promise<void> {
  const sent = { client_id: 'svc-cli', ...form };
  const { lost } = await sql.begin(async (transaction) => {
    await lock(transaction);
    const asked = postForm(`${gateway.url}/oauth/token`, sent).then(
      ({ status }) => status,
      () => 'lost',
    );
    await until(isWaiting);
    proxy.setMode('silent');
    return { lost: asked };
  });
  await until(isWritten);
  const killed = gateway.killMain();
  assert.equal(await lost, 'lost');
  proxy.cut();
  proxy.setMode('pass');
  await killed;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, 'it is not so after 20 s');
    await sleep(5);
  }
}

/** Whether a statement waits for a row. */
async function isWaiting(): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock' AND query LIKE '%oauth_%'`;
  return rows.length > 0;
}

test('a refresh whose reply was lost gives the same pair after a restart', async () => {
  const { refresh_token: token } = await calls.signIn(sql, await addAccount(sql));
  const find = async () => {
    const [row] = await sql<{ successor_hash: Buffer | null }[]>`
      SELECT successor_hash FROM oauth_tokens WHERE token_hash = ${tokenHash(token)}`;
    return row?.successor_hash ?? null;
  };
  const form = { grant_type: 'refresh_token', refresh_token: token };
  const hash = tokenHash(token);
  const lock = (transaction: Transaction) =>
    transaction`SELECT 1 FROM oauth_tokens WHERE token_hash = ${hash} FOR UPDATE`;
  await killAfterCommit(form, lock, async () => (await find()) !== null);
  const replies = [await calls.refresh(token), await calls.refresh(token)];
  assert.equal(replies[0]?.text, replies[1]?.text);
  assert.equal(replies[0]?.status, 200, replies[0]?.text);
  const next = String(replies[0]?.json.refresh_token);
  assert.deepEqual(tokenHash(next), await find());
  assert.equal((await calls.refresh(next)).status, 200);
  assert.deepEqual(refusalOf(await calls.refresh(token)), [400, 'invalid_grant']);
});

test('of a code whose reply was lost nothing usable is left', async () => {
  const approved = await approveCode(sql, await addAccount(sql));
  const find = async () => {
    const [row] = await sql<{ authorization_id: string | null }[]>`
      SELECT authorization_id FROM oauth_codes WHERE code_hash = ${tokenHash(approved.code)}`;
    return row?.authorization_id ?? null;
  };
  const form = codeForm(approved);
  const hash = tokenHash(approved.code);
  const lock = (transaction: Transaction) =>
    transaction`SELECT 1 FROM oauth_codes WHERE code_hash = ${hash} FOR UPDATE`;
  await killAfterCommit(form, lock, async () => (await find()) !== null);
  const again = await calls.post('/oauth/token', { client_id: 'svc-cli', ...form });
  assert.deepEqual(refusalOf(again), [400, 'invalid_grant']);
  const rows = await sql`
    SELECT revoked_reason FROM oauth_authorizations WHERE id = ${await find()}`;
  assert.deepEqual(
    rows.map((row) => row.revoked_reason),
    ['code_replay'],
  );
});
