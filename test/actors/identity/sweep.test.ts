// What goes by itself: codes after a day, places after 180, and accounts that never verified after
// a week.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { createIdentityLimits } from '../../../actors/identity/limits.ts';
import { sweepIdentity } from '../../../actors/identity/sweep.ts';
import { setPassword } from '../../../db/accounts/passwords.ts';
import { createPerson, findPerson, proveAddress } from '../../../db/accounts/person.ts';
import { createKey } from '../../../db/keys.ts';
import { createSession } from '../../../db/sessions.ts';
import { newId } from '../../../runtime/ids.ts';
import { type CodeStage, openStage, pass } from './stage.ts';

let stage: CodeStage;
before(async () => {
  stage = await openStage();
});
after(() => stage.close());

const limits = createIdentityLimits({ mode: 'production' });
const sweep = () => sweepIdentity(stage.sql, limits, 0);

/** An account as an app registers it, so many days old. */
async function registered(email: string, days: number) {
  const { sql } = stage;
  const accountId = newId('acc', 0);
  const walletId = newId('wal', 0);
  await sql.begin(async (transaction) => {
    const facts = { id: accountId, walletId, email, address: 'typed', fullName: null } as const;
    await createPerson(transaction, facts);
    await setPassword(transaction, accountId, 'a hash');
    await createSession(transaction, {
      tokenHash: tokenHash(newToken('app')),
      accountId,
      expiresAt: new Date(Date.now() + 86_400_000),
      kind: 'app',
    });
    await createKey(transaction, {
      id: newId('key', 0),
      accountId,
      walletId,
      label: 'k',
      environment: 'live',
      scopes: ['models:read'],
      tokenHash: tokenHash(newToken('access')),
      prefix: 'svc_live_',
      requestsPerMinute: 1,
      concurrencyMax: 1,
    });
  });
  await sql`UPDATE accounts SET created_at = now() - make_interval(days => ${days}::integer)
    WHERE id = ${accountId}`;
  return { accountId, walletId };
}

/** How many rows there are of the account in each table that has some. */
async function rowsOf(accountId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of ['account_passwords', 'api_keys', 'sessions', 'wallets', 'challenges']) {
    const rows = await stage.sql`
      SELECT 1 FROM ${stage.sql(table)} WHERE account_id = ${accountId}`;
    if (rows.length > 0) counts[table] = rows.length;
  }
  return counts;
}

test('an account that never verified is gone after seven days, with all that it has', async () => {
  const old = await registered('old@example.com', 8);
  const young = await registered('young@example.com', 6);
  const proved = await registered('proved@example.com', 30);
  await stage.sql.begin((transaction) =>
    proveAddress(transaction, proved.accountId, 'proved@example.com'),
  );
  await stage.ask('old@example.com', { aim: 'verify', accountId: old.accountId });
  const { removedAccounts } = await sweep();
  assert.deepEqual(removedAccounts, [old.accountId]);
  assert.equal(await findPerson(stage.sql, old.accountId), null);
  assert.deepEqual(await rowsOf(old.accountId), {});
  for (const kept of [young, proved]) {
    assert.ok((await findPerson(stage.sql, kept.accountId)) !== null);
    assert.equal((await rowsOf(kept.accountId)).sessions, 1);
  }
  const [event] = await stage.sql`
    SELECT actor, action FROM audit_events WHERE account_id = ${old.accountId}`;
  assert.deepEqual({ ...event }, { actor: 'sweep', action: 'account.remove' });
  assert.deepEqual((await sweep()).removedAccounts, []);
});

test('one that money went through is to be erased instead, and its books stay', async () => {
  const used = await registered('used@example.com', 8);
  await stage.sql`UPDATE wallets SET version = 1 WHERE id = ${used.walletId}`;
  assert.deepEqual((await sweep()).removedAccounts, [used.accountId]);
  assert.equal((await findPerson(stage.sql, used.accountId))?.status, 'deleting');
  assert.deepEqual(await rowsOf(used.accountId), { api_keys: 1, wallets: 1 });
  assert.deepEqual((await sweep()).removedAccounts, []);
});

test('an account of an administrator never goes by itself', async () => {
  const { sql } = stage;
  const given = newId('acc', 0);
  const bare = newId('acc', 0);
  await sql.begin((transaction) =>
    createPerson(transaction, {
      id: given,
      walletId: newId('wal', 0),
      email: 'given@example.com',
      address: 'given',
      fullName: null,
    }),
  );
  await sql`INSERT INTO accounts (id) VALUES (${bare})`;
  await sql`UPDATE accounts SET created_at = now() - interval '1 year'
    WHERE id IN (${given}, ${bare})`;
  assert.deepEqual((await sweep()).removedAccounts, []);
});

test('codes and guesses are kept for a day, and counted for as long', async () => {
  const address = 'kept@example.com';
  await stage.ask(address);
  await stage.signIn(address, null, '000000');
  await pass(stage.sql, 86_400);
  await sweep();
  const left = async () => {
    const [row] = await stage.sql<{ codes: bigint; guesses: bigint; challenges: bigint }[]>`
      SELECT (SELECT count(*) FROM codes WHERE address = ${address}) AS codes,
        (SELECT count(*) FROM code_guesses WHERE address = ${address}) AS guesses,
        (SELECT count(*) FROM challenges WHERE address = ${address}) AS challenges`;
    return { ...row };
  };
  assert.equal((await left()).codes, 1n, 'ten minutes short of a day past its end');
  await pass(stage.sql, 601);
  await sweep();
  assert.deepEqual(await left(), { codes: 0n, guesses: 0n, challenges: 0n });
});

test('a place is forgotten 180 days after it was last seen', async () => {
  const id = await stage.owner('places@example.com', ['here']);
  await pass(stage.sql, 179 * 86_400);
  assert.equal((await sweep()).placesForgotten, 0);
  await pass(stage.sql, 2 * 86_400);
  assert.equal((await sweep()).placesForgotten, 1);
  const rows = await stage.sql`SELECT 1 FROM known_places WHERE account_id = ${id}`;
  assert.equal(rows.length, 0);
});
