// What is read for one account among many others. No table is read whole, and no more of it than
// the account has, also by plans that are made once for all parameters.
// slow: It reads everything many times, as plans are kept from the sixth time on.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeUsage, countUsage } from '../../../actors/usage/rounds.ts';
import { readDashboard } from '../../../db/billing/dashboard.ts';
import { readLines } from '../../../db/billing/ledger.ts';
import { readBillingSummary } from '../../../db/billing.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { lastDays, type UsageOwner } from '../../../db/usage.ts';
import { csvPieces, exportKinds } from '../../../routes/billing/exported.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { beginAt, limits, newOwner } from './world.ts';

const othersRows = 20_000;
const ownRows = 60;
const tables = [
  ...['generations', 'voice_sessions', 'video_jobs', 'ledger', 'purchases', 'grants'],
  ...['usage_quarters', 'usage_days', 'api_keys', 'wallets', 'accounts'],
];

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

/** Rows of 200 other accounts, and some of the owner's, over 40 days. */
async function fill(): Promise<void> {
  const nowMs = Date.now();
  const { accountId, walletId } = owner;
  await sql`
    CREATE TEMPORARY TABLE used AS
    SELECT n, to_timestamp(ms / 1000.0) AS at, hex || '00' || lpad(to_hex(n), 10, '0') AS suffix,
      CASE WHEN n <= ${ownRows}::int THEN ${accountId} ELSE 'acc_' || n % 200 END AS account,
      CASE WHEN n <= ${ownRows}::int THEN ${walletId} ELSE 'wal_' || n % 200 END AS wallet
    FROM generate_series(1, ${othersRows}::int) n, LATERAL (
      SELECT ${nowMs}::bigint - 1000 - (n::bigint * 7919 % 20000) * 172800 AS ms) t,
      LATERAL (SELECT lpad(to_hex(ms), 12, '0') AS hex) h`;
  await sql`INSERT INTO accounts (id) SELECT 'acc_' || n FROM generate_series(0, 4999) n`;
  await sql`INSERT INTO wallets (id, account_id)
    SELECT 'wal_' || n, 'acc_' || n FROM generate_series(0, 4999) n`;
  await sql`INSERT INTO generations (id, account_id, wallet_id, route, fingerprint, model,
      instance_id, hold_id, status, finished_at, usage, charge_micros)
    SELECT 'req_' || suffix, account, wallet, 'r', 'f', 'm' || n % 12, 'i', 'hold_' || suffix,
      'completed', at, '{"input_tokens": 3}', 5 FROM used`;
  await sql`INSERT INTO voice_sessions (id, account_id, wallet_id, model, voice_id, instance_id,
      hold_id, state, created_at, ended_at, charge_micros)
    SELECT 'vs_' || suffix, account, wallet, 'v', 'x', 'i', 'hold_' || suffix, 'ended', at, at, 5
    FROM used`;
  await sql`INSERT INTO video_jobs (id, account_id, wallet_id, request_id, fingerprint, hold_id,
      instance_id, prompt, duration_seconds, aspect_ratio, resolution, generate_audio, candidates,
      status, charge_micros, completed_at, deadline_at)
    SELECT 'vjob_' || suffix, account, wallet, suffix, 'f', 'hold_' || suffix, 'i', 'p', 4, '16:9',
      '720p', false, '[]', 'succeeded', 5, at, at FROM used`;
  await sql`INSERT INTO ledger (operation_id, wallet_id, kind, wallet_micros, held_micros,
      revenue_micros, provider_cost_micros, promotion_micros, purchase_micros, shortfall_micros, at)
    SELECT k.kind || suffix, wallet, k.kind, 0, 0, 0, 0, 0, 0, 0, at
    FROM used, (VALUES ('grant'), ('release'), ('settle'), ('hold')) AS k (kind)`;
  await sql`INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
      price_cents, currency, debt_micros)
    SELECT 'pur_' || suffix, account, wallet, 'p', 'completed', 1, 1, 'usd', 1 FROM used`;
  await sql`INSERT INTO grants (id, wallet_id, operation_id, kind, note, amount_micros,
      remaining_micros, created_at)
    SELECT 'grant_' || suffix, wallet, 'grant' || suffix, 'purchase', 'n', 1, 1, at FROM used`;
  await sql`INSERT INTO api_keys (id, account_id, wallet_id, label, environment, scopes,
      token_hash, prefix, requests_per_minute, concurrency_max)
    SELECT 'key_' || suffix, account, wallet, 'l', 'live', '{}', sha256(suffix::bytea), 'p', 1, 1
    FROM used`;
  await beginAt(sql, nowMs);
}

async function rowsRead(): Promise<Map<string, { whole: number; found: number }>> {
  await sql`SELECT pg_stat_force_next_flush()`;
  const rows = await sql<{ name: string; whole: number; found: number }[]>`
    SELECT relname AS name, seq_tup_read::float8 AS whole,
      coalesce(idx_tup_fetch, 0)::float8 AS found FROM pg_stat_user_tables`;
  return new Map(rows.map(({ name, ...counts }) => [name, counts]));
}

const range = lastDays(Date.now(), 60);
const looks: Record<string, () => Promise<unknown>> = {
  summary: () => readBillingSummary(sql, owner.accountId, owner.walletId),
  dashboard: () =>
    readDashboard(sql, { personId: owner.accountId, accountId: owner.accountId, owner }, 20),
  ledger: () => readLines(sql, owner, { limit: 100, after: null }),
};
for (const what of exportKinds) {
  looks[`export of ${what}`] = async () => {
    for await (const _piece of csvPieces(what, { sql, owner, range }));
  };
}

/** The owner has 60 rows in a table, or 180 of usage, and in the ledger 60 of each kind. */
const foundMax = 700;

async function assertNarrow(when: string): Promise<void> {
  for (const [name, look] of Object.entries(looks)) {
    // A plan for all parameters is made at the sixth time.
    for (let times = 1; times <= 7; times += 1) {
      if (times > 1 && times < 7) {
        await look();
        continue;
      }
      const before = await rowsRead();
      await look();
      const after = await rowsRead();
      for (const table of tables) {
        const whole = (after.get(table)?.whole ?? 0) - (before.get(table)?.whole ?? 0);
        const found = (after.get(table)?.found ?? 0) - (before.get(table)?.found ?? 0);
        const what = `${name}, ${when}, time ${times}: ${table}`;
        assert.equal(whole, 0, `${what} is read whole`);
        assert.ok(found <= foundMax, `${what}: ${found} rows are read`);
      }
    }
  }
}

test('nothing is read whole, whatever is counted', async () => {
  await sql.unsafe('ANALYZE');
  await assertNarrow('none of the old rows are counted');
  const most = { ...limits, rowsMax: 20_000 };
  for (let done = false; !done; ) done = await countUsage(sql, most);
  await assertNarrow('in quarters, not analyzed');
  await sql.unsafe('ANALYZE');
  await assertNarrow('in quarters');
  const metrics = { repaired: () => {} };
  for (let done = false; !done; ) done = await closeUsage(sql, limits, metrics);
  await sql.unsafe('VACUUM ANALYZE');
  await assertNarrow('in days');
});

test('a round reads the rows that it counts, and no others', async () => {
  await beginAt(sql, Date.now());
  const before = await rowsRead();
  assert.equal(await countUsage(sql, { ...limits, rowsMax: 100, roundForMs: 0 }), false);
  const after = await rowsRead();
  for (const table of ['generations', 'voice_sessions', 'video_jobs']) {
    const whole = (after.get(table)?.whole ?? 0) - (before.get(table)?.whole ?? 0);
    const found = (after.get(table)?.found ?? 0) - (before.get(table)?.found ?? 0);
    assert.equal(whole, 0, `${table} is read whole`);
    assert.ok(found >= 100 && found <= 400, `${found} rows of ${table} are read`);
  }
});
