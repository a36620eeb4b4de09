// An organization's wallet shows what all its members used of it, and a person's what its members'
// accounts did. Who sees its own part alone sees no more. Rows of others are not read.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { countUsage } from '../../../actors/usage/rounds.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { addMember, makeOrganization, type TestOrganization } from '../../harness/organization.ts';
import { beginAt, dayMs, limits, newOwner, request, shownCharge } from './world.ts';

let database: TestDatabase;
let sql: Sql;
let house: TestOrganization;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
  await beginAt(sql, Date.now() - 3 * dayMs);
});
after(() => database?.close());

interface Member {
  person: { accountId: string; walletId: string };
  accountId: string;
}

async function newMember(): Promise<Member> {
  const person = await newOwner(sql);
  house ??= await makeOrganization(sql, person.accountId);
  return { person, accountId: await addMember(sql, house, person.accountId, 'member') };
}

test('a wallet shows what it paid, for whomever it did', async () => {
  const [one, other] = [await newMember(), await newMember()];
  const { walletId } = house;
  const then = Date.now() - 5_000;
  const charge = (accountId: string, wallet: string, micros: number) =>
    request(sql, { accountId, walletId: wallet }, then, { charge: micros });
  await charge(one.accountId, walletId, 1);
  await charge(other.accountId, walletId, 20);
  await charge(house.accountId, walletId, 300);
  await charge(one.person.accountId, one.person.walletId, 4_000);
  await charge(one.accountId, one.person.walletId, 50_000);
  const shown = (accountId: string, wallet: string, isOwn = false) =>
    shownCharge(sql, { accountId, walletId: wallet, ...(isOwn ? { isOwn: true as const } : {}) });
  const assertShown = async () => {
    assert.equal(await shown(house.accountId, walletId), 321n);
    assert.equal(await shown(one.person.accountId, one.person.walletId), 54_000n);
    assert.equal(await shown(other.person.accountId, other.person.walletId), 0n);
    assert.equal(await shown(one.accountId, walletId, true), 1n);
    assert.equal(await shown(other.accountId, walletId, true), 20n);
    assert.equal(await shown(one.accountId, one.person.walletId, true), 50_000n);
  };
  await assertShown();
  await countUsage(sql, limits);
  const [counted] = await sql<{ sum: bigint }[]>`
    SELECT sum(charge_micros)::bigint AS sum FROM usage_quarters WHERE wallet_id = ${walletId}`;
  assert.equal(counted?.sum, 321n, 'it is counted now');
  await assertShown();
});

test('of others nothing is read', async () => {
  const stranger = await newOwner(sql);
  const nowMs = Date.now();
  await sql`INSERT INTO generations (id, account_id, wallet_id, route, fingerprint, model,
      instance_id, hold_id, status, finished_at, charge_micros)
    SELECT 'req_' || lpad(to_hex(${nowMs}::bigint), 12, '0') || 'ff' || lpad(to_hex(n), 10, '0'),
      ${stranger.accountId}, ${stranger.walletId}, 'r', 'f', 'm', 'i', ${newId('hold', 0)} || n,
      'completed', now(), 5 FROM generate_series(1, 20000) AS n`;
  await sql.unsafe('ANALYZE');
  const rowsRead = async () => {
    await sql`SELECT pg_stat_force_next_flush()`;
    const [row] = await sql<{ read: number }[]>`
      SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS read
      FROM pg_stat_user_tables WHERE relname = 'generations'`;
    return row?.read ?? 0;
  };
  // A plan for all parameters is made at the sixth time.
  for (let times = 1; times <= 7; times += 1) {
    const before = await rowsRead();
    assert.equal(await shownCharge(sql, house), 321n);
    const read = (await rowsRead()) - before;
    assert.ok(read < 500, `time ${times}: ${read} rows are read`);
  }
});
