// The audit trail as it is listed, once it is long.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AuditFilter, listAuditEvents } from '../../db/audit-events.ts';
import type { Queryable, Sql } from '../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

const events = 20_000;
const anything: AuditFilter = {
  accountId: null,
  actor: null,
  action: null,
  subject: null,
  from: null,
  to: null,
};

let database: TestDatabase;
let sql: Sql;
/** The time of the first event; one an hour follows. */
let firstMs: number;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 1);
  firstMs = Date.now() - events * 3_600_000;
  // The id was made a little before the event was written.
  await sql`
    INSERT INTO audit_events (id, actor, action, subject, details, at)
    SELECT 'aud_' || lpad(to_hex(${firstMs}::bigint + n * 3600000::bigint), 12, '0')
        || lpad(to_hex(n), 12, '0'), 'acc_a', 'key.create', 'key:' || n, '{}',
      to_timestamp((${firstMs}::bigint + n * 3600000::bigint + 500) / 1000.0)
    FROM generate_series(0, ${events - 1}) n`;
  await sql.unsafe('VACUUM ANALYZE audit_events');
});
after(() => database.close());

const hours = (n: number) => new Date(firstMs + n * 3_600_000);

interface PlanNode {
  'Actual Rows': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

function rowsRead(node: PlanNode): number {
  const own = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  return Math.max(own, ...(node.Plans ?? []).map(rowsRead));
}

/** How many rows the server reads for a first page. */
async function readFor(filter: AuditFilter): Promise<number> {
  let text = '';
  let parameters: (string | number | null)[] = [];
  const listening = (strings: TemplateStringsArray, ...values: unknown[]) => {
    text = strings.reduce((before, part, index) => `${before}$${index}${part}`);
    parameters = values.map((value) => (value instanceof Date ? value.toISOString() : value)) as (
      | string
      | number
      | null
    )[];
    return Promise.resolve([]);
  };
  await listAuditEvents(listening as unknown as Queryable, filter, 20, null);
  const [row] = await sql.unsafe(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, parameters);
  const explained = row?.['QUERY PLAN'] as [{ Plan: PlanNode }];
  return rowsRead(explained[0].Plan);
}

test('events of a time are found without reading all that came since', async () => {
  const filter = { ...anything, from: hours(100), to: hours(110) };
  const page = await listAuditEvents(sql, filter, 20, null);
  const wanted = Array.from({ length: 10 }, (_, index) => `key:${109 - index}`);
  assert.deepEqual(
    page.events.map(({ subject }) => subject),
    wanted,
  );
  assert.equal(page.nextCursor, null);
  for (const more of [{}, { actor: 'acc_a' }, { action: 'key.create' }]) {
    const count = await readFor({ ...filter, ...more });
    assert.ok(count < 100, `${count} rows were read`);
  }
  assert.ok((await readFor({ ...anything, from: new Date(Date.now() + 60_000) })) < 100);
});

test('a bound of time goes on from page to page, and either may be left out', async () => {
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const filter = { ...anything, to: hours(50) };
    const page = await listAuditEvents(sql, filter, 7, cursor);
    seen.push(...page.events.map(({ subject }) => subject));
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.deepEqual(
    seen,
    Array.from({ length: 50 }, (_, index) => `key:${49 - index}`),
  );
  const newest = await listAuditEvents(sql, { ...anything, from: hours(events - 3) }, 20, null);
  assert.equal(newest.events.length, 3);
  assert.equal((await listAuditEvents(sql, anything, 3, null)).events.length, 3);
});
