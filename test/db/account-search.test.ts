// The search of administrators: what finds an account, page after page, and that no search reads
// all accounts that there are.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AccountFilter, createAccount, listAccounts } from '../../db/accounts.ts';
import type { Queryable, Sql } from '../../db/driver/sql.ts';
import { createWallet } from '../../db/wallets.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

const many = 20_000;
/** More than a page of matches costs, and far fewer than all. */
const rowsReadMax = 1_000;

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 1);
  await sql`
    INSERT INTO accounts (id, email, email_owned)
    SELECT 'acc_' || lpad(n::text, 24, '0'), 'p' || n || '@many.test', true
    FROM generate_series(1, ${many}) n`;
  await createAccount(sql, { id: 'acc_known', role: 'user', label: 'The Harbour Office' });
  await createWallet(sql, { id: 'wal_known', accountId: 'acc_known', type: 'personal' });
  await sql`
    INSERT INTO api_keys (id, account_id, wallet_id, label, environment, scopes, token_hash, prefix,
      requests_per_minute, concurrency_max)
    VALUES ('key_known', 'acc_known', 'wal_known', '', 'live', '{}', sha256('known'),
      'svc_live_Known1', 1, 1)`;
  await sql`UPDATE accounts SET email = 'Known@few.test' WHERE id = 'acc_known'`;
  await sql`UPDATE accounts SET email = lower(email), email_owned = true WHERE id = 'acc_known'`;
  await sql`ANALYZE`;
});
after(() => database.close());

function filterOf(search: string, rest: Partial<AccountFilter> = {}): AccountFilter {
  return { search, role: null, status: null, ...rest };
}

async function idsOf(filter: AccountFilter, limit = 50): Promise<string[]> {
  const { accounts } = await listAccounts(sql, filter, limit, null);
  return accounts.map(({ id }) => id);
}

test('an account is found by each thing that is known of it', async () => {
  const known = ['acc_kn', 'acc_known', 'known@few', 'KNOWN@few.test', 'harbour', 'wal_known'];
  for (const search of [...known, 'key_known', 'svc_live_Known1']) {
    assert.deepEqual(await idsOf(filterOf(search)), ['acc_known'], search);
  }
  for (const search of ['now@few', 'wal_know', 'key_know', 'svc_live_Known', 'nobody@few.test']) {
    assert.deepEqual(await idsOf(filterOf(search)), [], search);
  }
  assert.deepEqual(await idsOf(filterOf('known', { role: 'admin' })), []);
  assert.deepEqual(await idsOf(filterOf('known', { status: 'disabled' })), []);
  assert.deepEqual(await idsOf(filterOf('known', { role: 'user', status: 'active' })), [
    'acc_known',
  ]);
});

test('pages of a search have each account once, newest first', async () => {
  // 1, 10 to 19, 100 to 199 and so on: by address, and some by label too.
  await sql`UPDATE accounts SET label = 'P12' WHERE email IN ('p12@many.test', 'p7@many.test')`;
  const expected = await sql<{ id: string }[]>`
    SELECT id FROM accounts WHERE starts_with(email, 'p12') OR label = 'P12' ORDER BY id DESC`;
  const found: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const page = await listAccounts(sql, filterOf('p12'), 100, cursor);
    found.push(...page.accounts.map(({ id }) => id));
    if (page.nextCursor === null) break;
    assert.equal(page.accounts.length, 100);
    cursor = page.nextCursor;
  }
  assert.deepEqual(
    found,
    expected.map(({ id }) => id),
  );
});

interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

function rowsReadBy(node: PlanNode): number {
  const { 'Actual Rows': rows, 'Actual Loops': loops } = node;
  const own = (rows + (node['Rows Removed by Filter'] ?? 0)) * loops;
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsReadBy(child), own);
}

/** Rows of all nodes of the plan: those that are read, and those that are passed on. */
async function rowsRead(search: string): Promise<number> {
  let rows: unknown[] = [];
  const explaining = ((texts: TemplateStringsArray, ...values: never[]) => {
    if (!/^\s*SELECT a\.\*/.test(texts[0] ?? '')) return sql(texts, ...values);
    const asked = [`EXPLAIN (ANALYZE, FORMAT JSON) ${texts[0]}`, ...texts.slice(1)];
    const query = sql(Object.assign(asked, { raw: asked }), ...values);
    return query.then((answer) => {
      rows = answer;
      return [];
    });
  }) as unknown as Queryable;
  await listAccounts(explaining, filterOf(search), 50, null);
  const [row] = rows as { 'QUERY PLAN': [{ Plan: PlanNode }] }[];
  assert.ok(row !== undefined);
  return rowsReadBy(row['QUERY PLAN'][0].Plan);
}

test('a search reads the accounts that it finds, not all that there are', async () => {
  for (const search of [
    'p777@many.test',
    'nobody@few.test',
    'p77',
    'wal_known',
    'svc_live_Known1',
  ]) {
    const read = await rowsRead(search);
    assert.ok(read < rowsReadMax, `${search}: ${read} rows`);
  }
});
