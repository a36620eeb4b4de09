// What an account's summary costs the database: the usage of 30 days is read, however much older
// rows it has, and of however many other accounts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../db/accounts.ts';
import { readBillingSummary } from '../../db/billing.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { createWallet } from '../../db/wallets.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

const oldRows = 4_000;
const dayMs = 86_400_000;

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  // One connection: the server counts what it read when its next query comes.
  sql = database.pool('general', 1);
  await createAccount(sql, { id: 'acc_a', role: 'user' });
  await createWallet(sql, { id: 'wal_a', accountId: 'acc_a', type: 'personal' });
});
after(() => database.close());

/** A charged row of each table for each of `count` hours back from so many days ago. */
async function use(daysAgo: number, count: number): Promise<void> {
  const untilMs = Date.now() - daysAgo * dayMs;
  const rows = sql`
    SELECT to_timestamp(ms / 1000.0) AS at,
      lpad(to_hex(ms), 12, '0') || '00' || lpad(to_hex(i), 10, '0') AS suffix
    FROM generate_series(1, ${count}::int) i, LATERAL (
      SELECT ${untilMs}::bigint - i * 3600000::bigint AS ms) t`;
  await sql`
    INSERT INTO generations (id, account_id, wallet_id, route, fingerprint, model, instance_id,
      hold_id, status, created_at, finished_at, usage, charge_micros)
    SELECT 'req_' || suffix, 'acc_a', 'wal_a', 'r', 'f', 'm', 'i', 'hold_' || suffix, 'completed',
      at, at, '{"input_tokens": 3}', 5 FROM (${rows}) r`;
  await sql`
    INSERT INTO voice_sessions (id, account_id, wallet_id, model, voice_id, instance_id, hold_id,
      state, created_at, ended_at, input_text_tokens, charge_micros)
    SELECT 'vs_' || suffix, 'acc_a', 'wal_a', 'v', 'x', 'i', 'hold_' || suffix, 'ended', at, at, 3,
      5 FROM (${rows}) r`;
}

/** How many rows were read in each table so far, as far as the server has told. */
async function rowsRead(): Promise<Map<string, number>> {
  await sql`SELECT pg_stat_force_next_flush()`;
  const rows = await sql<{ name: string; count: number }[]>`
    SELECT relname AS name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS count
    FROM pg_stat_user_tables WHERE relname IN ('generations', 'voice_sessions')`;
  return new Map(rows.map(({ name, count }) => [name, count]));
}

test('a summary reads the usage of 30 days alone, and all of it', async () => {
  await use(31, oldRows);
  await use(0, 10);
  // Within the ids, and not within the days.
  await use(30, 2);
  await sql`ANALYZE generations, voice_sessions`;
  const before = await rowsRead();
  const summary = await readBillingSummary(sql, 'acc_a', 'wal_a');
  assert.deepEqual(
    summary?.usage.map(({ model, requests, inputTokens }) => [model, requests, inputTokens]),
    [
      ['m', 10n, 30n],
      ['v', 10n, 30n],
    ],
  );
  const after = await rowsRead();
  for (const table of ['generations', 'voice_sessions']) {
    const read = (after.get(table) ?? 0) - (before.get(table) ?? 0);
    assert.ok(read > 0 && read < oldRows / 10, `${read} rows of ${table} were read`);
  }
});
