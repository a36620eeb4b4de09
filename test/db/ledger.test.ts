// What the database itself refuses, whatever the program believes; and the migrations.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noLegs } from '../../actors/wallet/funds.ts';
import { createAccount } from '../../db/accounts.ts';
import { migrate } from '../../db/driver/migrate.ts';
import {
  classifyError,
  closePool,
  DeadlineError,
  openPool,
  parseDatabaseUrl,
  withDeadline,
} from '../../db/driver/sql.ts';
import { emptyWrite, type WalletWrite } from '../../db/ledger/write.ts';
import { createWallet, type Legs, loadWallets } from '../../db/wallets.ts';
import { openEmptyDatabase, openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { ledger } from '../harness/ledger.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
  const sql = database.pool('general', 1);
  await createAccount(sql, { id: 'acc_a', role: 'user' });
  for (const id of ['wal_a', 'wal_b', 'wal_c']) {
    await createWallet(sql, { id, accountId: 'acc_a', type: 'personal' });
  }
});
after(() => database.close());

function writeOf(walletId: string, version: bigint, legs: Partial<Legs>): WalletWrite {
  const balances = { ...noLegs(), ...legs };
  return {
    ...emptyWrite({ walletId, version, nextVersion: version + 1n, balances }),
    entries: [
      { operationId: `${walletId}.op${version}`, kind: 'grant', reason: null, legs: balances },
    ],
  };
}

async function failureOf(work: PromiseLike<unknown>): Promise<string> {
  try {
    await work;
    return 'nothing';
  } catch (error) {
    return classifyError(error);
  }
}

test('a balance below zero, and one that does not sum to zero, are refused', async () => {
  const sql = database.pool('ledger', 1);
  const negative = writeOf('wal_a', 0n, { walletMicros: -1n, revenueMicros: 1n });
  assert.equal(await failureOf(ledger.applyWrites(sql, [negative])), 'refused');
  const held = writeOf('wal_a', 0n, { heldMicros: -1n, revenueMicros: 1n });
  assert.equal(await failureOf(ledger.applyWrites(sql, [held])), 'refused');
  const unbalanced = writeOf('wal_a', 0n, { walletMicros: 5n });
  assert.equal(await failureOf(ledger.applyWrites(sql, [unbalanced])), 'refused');
  assert.equal((await loadWallets(sql, ['wal_a'])).get('wal_a')?.version, 0n);
});

test('a write on another version writes nothing, and its neighbours are written', async () => {
  const sql = database.pool('ledger', 1);
  const legs = { walletMicros: 5n, purchaseMicros: -5n };
  const writes = [
    writeOf('wal_a', 0n, legs),
    writeOf('wal_b', 7n, legs),
    writeOf('wal_c', 0n, legs),
  ];
  assert.deepEqual(await ledger.applyWrites(sql, writes), new Set(['wal_a', 'wal_c']));
  assert.deepEqual(await ledger.applyWrites(sql, writes), new Set());
  const rows = await sql`SELECT operation_id FROM ledger ORDER BY operation_id`;
  assert.deepEqual(
    rows.map((row) => row.operation_id),
    ['wal_a.op0', 'wal_c.op0'],
  );
});

test('an operation id exists once', async () => {
  const sql = database.pool('ledger', 1);
  const again = writeOf('wal_a', 1n, { walletMicros: 10n, purchaseMicros: -10n });
  const [entry] = again.entries;
  assert.ok(entry !== undefined);
  entry.operationId = 'wal_c.op0';
  assert.equal(await failureOf(ledger.applyWrites(sql, [again])), 'unique');
});

test('the ledger takes no update, no delete and no truncate', async () => {
  const sql = database.pool('general', 1);
  assert.equal(await failureOf(sql`UPDATE ledger SET reason = 'x'`), 'refused');
  assert.equal(await failureOf(sql`DELETE FROM ledger`), 'refused');
  assert.equal(await failureOf(sql`TRUNCATE ledger`), 'refused');
  const unbalanced = sql`INSERT INTO ledger (operation_id, wallet_id, kind, wallet_micros,
      held_micros, revenue_micros, provider_cost_micros, promotion_micros, purchase_micros,
      shortfall_micros) VALUES ('x', 'wal_a', 'grant', 1, 0, 0, 0, 0, 0, 0)`;
  assert.equal(await failureOf(unbalanced), 'refused');
});

test('concurrent writes of many wallets in any order do not deadlock', async () => {
  const sql = database.pool('ledger', 4);
  const ids = Array.from({ length: 40 }, (_, index) => `wal_many${index}`);
  const general = database.pool('general', 1);
  for (const id of ids) await createWallet(general, { id, accountId: 'acc_a', type: 'personal' });
  for (let version = 0n; version < 10n; version += 1n) {
    const writes = ids.map((id) => ({ ...writeOf(id, version, {}), entries: [] }));
    const groups = [writes, [...writes].reverse(), writes.slice(20), writes.slice(0, 20)];
    const applied = await Promise.all(groups.map((group) => ledger.applyWrites(sql, group)));
    assert.equal(
      applied.reduce((sum, written) => sum + written.size, 0),
      ids.length,
      'each wallet once',
    );
  }
});

test('migrations run from empty, by several at once, and are not run again', async () => {
  const empty = await openEmptyDatabase();
  try {
    const runs = await Promise.all([migrate(empty.url), migrate(empty.url), migrate(empty.url)]);
    const names = runs.flatMap(({ applied }) => applied);
    assert.ok(names.length >= 2);
    assert.equal(new Set(names).size, names.length, 'each was applied once');
    assert.deepEqual(await migrate(empty.url), { applied: [], unknown: [] });
    const sql = empty.pool('general', 1);
    await sql`UPDATE migrations SET checksum = 'x' WHERE name = ${names[0] ?? ''}`;
    await assert.rejects(migrate(empty.url), /changed after it had been applied/);
  } finally {
    await empty.close();
  }
});

test('database URLs are read with and without a socket folder', () => {
  const socket = parseDatabaseUrl('postgres://me@/books?host=/run/pg');
  assert.deepEqual([socket.host, socket.username, socket.database], ['/run/pg', 'me', 'books']);
  const tcp = parseDatabaseUrl('postgresql://a%40b:p%3Aw@db.example:6432/x?sslmode=require');
  assert.deepEqual(
    [tcp.host, tcp.port, tcp.username, tcp.password, tcp.database, tcp.ssl],
    ['db.example', 6432, 'a@b', 'p:w', 'x', 'require'],
  );
  assert.equal(parseDatabaseUrl('postgres://u@[::1]:5433/d').host, '::1');
  const odd = parseDatabaseUrl('postgres://u:p:w@x%40@h:6432/d');
  assert.deepEqual([odd.username, odd.password, odd.host], ['u', 'p:w@x@', 'h']);
  assert.throws(() => parseDatabaseUrl('mysql://x'), /postgres/);
});

test('a database that is not there or does not answer is unavailable', async () => {
  const sql = openPool({
    url: 'postgres://nobody@/none?host=/nonexistent',
    purpose: 'ledger',
    connectionsMax: 1,
    statementTimeoutMs: 1_000,
  });
  assert.equal(await failureOf(sql`SELECT 1`), 'unavailable');
  await closePool(sql, 100);
  const slow = database.pool('general', 1);
  const late = withDeadline(slow`SELECT pg_sleep(2)`, 50);
  await assert.rejects(late, DeadlineError);
  const cut = slow`SELECT pg_terminate_backend(pg_backend_pid())`;
  assert.equal(await failureOf(cut), 'unavailable');
  const deadline = performance.now() + 30_000;
  while ((await failureOf(slow`SELECT 1`)) !== 'nothing') {
    assert.ok(performance.now() < deadline, 'it comes back');
  }
});

test('what breaks the way to the database is an outage, and anything unknown is a bug', () => {
  const codes = ['CONNECTION_CLOSED', 'ECONNRESET', 'EAGAIN', 'ENOTCONN', 'ERR_STREAM_DESTROYED'];
  // As where other sockets have taken every file.
  codes.push('EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM');
  for (const code of codes) {
    assert.equal(classifyError(Object.assign(new Error('lost'), { code })), 'unavailable', code);
  }
  assert.equal(classifyError(Object.assign(new Error(), { code: 'ERR_INVALID_ARG_TYPE' })), 'bug');
  assert.equal(classifyError(new TypeError('not a function')), 'bug');
});
