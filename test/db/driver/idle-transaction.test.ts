// A transaction whose client says nothing any more: the server ends it, and its locks with it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { classifyError, closePool, openPool } from '../../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { openDatabaseProxy } from '../../harness/proxy.ts';
import { standStill } from '../../harness/standstill.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(async () => {
  await database.close();
});

const poolOf = (url: string, statementTimeoutMs: number) =>
  openPool({ url, purpose: 'general', connectionsMax: 1, statementTimeoutMs });

test('a network that falls silent in a transaction holds its locks for seconds only', async () => {
  const proxy = await openDatabaseProxy(database.url);
  const silenced = poolOf(proxy.url, 500);
  const other = poolOf(database.url, 60_000);
  try {
    await other`CREATE TABLE locked (value int)`;
    await other`INSERT INTO locked VALUES (1)`;
    const lost = silenced.begin(async (transaction) => {
      await transaction`UPDATE locked SET value = 2`;
      proxy.setMode('silent');
      await transaction`SELECT 1`;
    });
    await assert.rejects(lost, (error) => classifyError(error) === 'unavailable');
    const [row] = await other<{ value: number }[]>`
      UPDATE locked SET value = value + 10 RETURNING value`;
    assert.deepEqual(row, { value: 11 }, 'the row is free, and nothing was committed');
  } finally {
    await closePool(other, 1_000);
    await closePool(silenced, 1_000);
    proxy.close();
  }
});

test('a process that stood still in a transaction is told, and the next one works', async () => {
  const proxy = await openDatabaseProxy(database.url);
  const sql = poolOf(proxy.url, 4_000);
  try {
    const stoodStill = sql.begin(async (transaction) => {
      // The product's own limit is what the test above waits for.
      await transaction`SET LOCAL idle_in_transaction_session_timeout = 1_000`;
      await standStill(1_500);
      // On its way before the server's word is read.
      await transaction`SELECT 2`;
    });
    await assert.rejects(stoodStill, (error) => classifyError(error) === 'unavailable');
    const [row] = await sql.begin((transaction) => transaction`SELECT 3 AS three`);
    assert.deepEqual(row, { three: 3 });
  } finally {
    await closePool(sql, 1_000);
    proxy.close();
  }
});
