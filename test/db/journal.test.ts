// The journal of a wallet as it is listed: every entry once, and no look without a bound.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../db/accounts.ts';
import { findWallet, type JournalPlace, listEntries } from '../../db/journal.ts';
import type { Sql } from '../../db/sql.ts';
import { createWallet } from '../../db/wallets.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

const accountId = 'acc_000000000000000000000001';
let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 1);
  await createAccount(sql, { id: accountId, role: 'user' });
});
after(() => database.close());

/** A wallet of that age, with entries of these ages; two of each moment. */
async function walletOf(id: string, ageDays: number, entryDays: readonly number[]) {
  await createWallet(sql, { id, accountId, type: 'personal' });
  await sql`UPDATE wallets SET created_at = now() - ${ageDays}::float8 * interval '1 day'
    WHERE id = ${id}`;
  for (const [index, days] of entryDays.entries()) {
    for (const twin of ['a', 'b']) {
      await sql`
        INSERT INTO ledger (operation_id, wallet_id, kind, wallet_micros, held_micros,
          revenue_micros, provider_cost_micros, promotion_micros, purchase_micros,
          shortfall_micros, at)
        VALUES (${`${id}.${index}${twin}`}, ${id}, 'grant', 0, 0, 0, 0, 0, 0, 0,
          now() - ${days}::float8 * interval '1 day')`;
    }
  }
  const wallet = await findWallet(sql, id);
  assert.ok(wallet !== null);
  return wallet;
}

/** Every page of a wallet's journal. */
async function pagesOf(wallet: Awaited<ReturnType<typeof walletOf>>, limit: number) {
  const pages: string[][] = [];
  let place: JournalPlace | null = null;
  do {
    const page = await listEntries(sql, wallet, limit, place);
    pages.push(page.entries.map(({ operationId }) => operationId.slice(wallet.id.length + 1)));
    place = page.next;
  } while (place !== null);
  return pages;
}

test('every entry is listed once, whatever pages and windows it falls in', async () => {
  const wallet = await walletOf('wal_many', 200, [0.01, 0.5, 3, 45, 45, 110, 199]);
  const inOrder = [
    '0b',
    '0a',
    '1b',
    '1a',
    '2b',
    '2a',
    '4b',
    '4a',
    '3b',
    '3a',
    '5b',
    '5a',
    '6b',
    '6a',
  ];
  for (const limit of [1, 3, 100]) {
    const listed = (await pagesOf(wallet, limit)).flat();
    assert.deepEqual([...listed].sort(), [...inOrder].sort());
    assert.deepEqual(listed.slice(0, 6), inOrder.slice(0, 6));
    assert.deepEqual(listed.slice(10), inOrder.slice(10));
  }
});

test('a look goes back 30 days and says that there may be more', async () => {
  const wallet = await walletOf('wal_old', 100, [70]);
  assert.deepEqual(await pagesOf(wallet, 10), [[], [], ['0b', '0a'], []]);
});

test('nothing is looked for before the wallet was made', async () => {
  // Cannot be, but would be found.
  const wallet = await walletOf('wal_new', 0.001, [0.5]);
  assert.deepEqual(await pagesOf(wallet, 10), [[]]);
});
