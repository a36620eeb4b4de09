// The journal of a wallet as it is listed: every entry once, and no look without a bound.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../db/accounts.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { findWallet, type JournalPlace, listEntries } from '../../db/journal.ts';
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

/** However busy the machine is: no look takes any time. */
const noTime = () => 0;

/** Every page of a wallet's journal. */
async function pagesOf(wallet: Awaited<ReturnType<typeof walletOf>>, limit: number) {
  const pages: string[][] = [];
  let place: JournalPlace | null = null;
  do {
    const page = await listEntries(sql, wallet, limit, place, noTime);
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

test('a look does not go further back than a statement can read in time', async () => {
  const wallet = await walletOf('wal_large', 100, [20]);
  /** A clock by which each look takes that long. */
  const slow = (lookMs: number) => {
    let nowMs = 0;
    return () => {
      nowMs += lookMs;
      return nowMs;
    };
  };
  const daysBack = async (lookMs: number) => {
    const { entries, next } = await listEntries(sql, wallet, 10, null, slow(lookMs));
    const micros = BigInt(Date.now()) * 1_000n - (next?.atMicros ?? 0n);
    return [entries.length, Math.round(Number(micros) / 86_400e6)];
  };
  assert.deepEqual(await daysBack(200), [2, 30]);
  assert.deepEqual(await daysBack(400), [0, 1], 'a week would take 2.8 s');
  let place: JournalPlace | null = null;
  const found: string[] = [];
  for (let pages = 0; pages < 21; pages += 1) {
    const page = await listEntries(sql, wallet, 10, place, slow(400));
    found.push(...page.entries.map(({ operationId }) => operationId));
    place = page.next;
  }
  assert.deepEqual(found, ['wal_large.0b', 'wal_large.0a'], 'a day a page, none left out');
});

test('nothing is looked for before the wallet was made', async () => {
  // Cannot be, but would be found.
  const wallet = await walletOf('wal_new', 0.001, [0.5]);
  assert.deepEqual(await pagesOf(wallet, 10), [[]]);
});
