// What is read for a wallet with many rows of its own, once they are counted. The summary does not
// go through them again, nor through their places in an index.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeUsage, countUsage } from '../../../actors/usage/rounds.ts';
import { readBillingSummary } from '../../../db/billing.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import type { UsageOwner } from '../../../db/usage.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { beginAt, limits, newOwner } from './world.ts';

const rows = 6_000;
/** The index of the rows has five times as many. */
const blocksMax = 20;

let database: TestDatabase;
let sql: Sql;
let owner: UsageOwner;
before(async () => {
  database = await openTestDatabase();
  // One connection: the server counts what it read when its next query comes.
  sql = database.pool('general', 1);
  owner = await newOwner(sql);
  await fill();
});
after(() => database.close());

/** Answers of ten days, the last one two days ago: no hour of today has any. */
async function fill(): Promise<void> {
  const nowMs = Date.now();
  const { accountId, walletId } = owner;
  await sql`INSERT INTO generations (id, account_id, wallet_id, route, fingerprint, model,
      instance_id, hold_id, status, finished_at, usage, charge_micros)
    SELECT 'req_' || suffix, ${accountId}, ${walletId}, 'r', 'f', 'm' || n % 12, 'i',
      'hold_' || suffix, 'completed', to_timestamp(ms / 1000.0), '{"input_tokens": 3}', 5
    FROM generate_series(1, ${rows}::int) n,
      LATERAL (SELECT ${nowMs}::bigint - 172800000 - n::bigint * 144000 AS ms) t,
      LATERAL (SELECT lpad(to_hex(ms), 12, '0') || '00' || lpad(to_hex(n), 10, '0') AS suffix) s`;
  await beginAt(sql, nowMs);
  const most = { ...limits, rowsMax: rows };
  for (let done = false; !done; ) done = await countUsage(sql, most);
  const metrics = { repaired: () => {} };
  for (let done = false; !done; ) done = await closeUsage(sql, limits, metrics);
  await sql.unsafe('VACUUM ANALYZE');
}

async function indexBlocks(table: string): Promise<number> {
  await sql`SELECT pg_stat_force_next_flush()`;
  const [row] = await sql<{ blocks: number }[]>`
    SELECT (coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))::float8 AS blocks
    FROM pg_statio_user_tables WHERE relname = ${table}`;
  return row?.blocks ?? 0;
}

test('a busy wallet is summed from its days, not from its rows', async () => {
  // A plan for all parameters is made at the sixth time.
  for (let times = 1; times < 7; times += 1) {
    await readBillingSummary(sql, owner.accountId, owner.walletId);
  }
  const tables = ['generations', 'usage_quarters'];
  const before = await Promise.all(tables.map(indexBlocks));
  const summary = await readBillingSummary(sql, owner.accountId, owner.walletId);
  const after = await Promise.all(tables.map(indexBlocks));
  assert.ok((summary?.usage.models.length ?? 0) === 12, 'it has what was used');
  for (const [at, table] of tables.entries()) {
    const read = (after[at] ?? 0) - (before[at] ?? 0);
    assert.ok(read <= blocksMax, `${read} blocks of indexes of ${table} are read`);
  }
});
