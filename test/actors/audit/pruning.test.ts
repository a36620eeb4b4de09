// Pruning by age: never a false alarm, old checkpoints stay good, nothing goes on legal hold.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { proveRecord } from '../../../actors/audit/proof.ts';
import { pruneAudit } from '../../../actors/audit/prune.ts';
import { pruneAudits } from '../../../actors/audit/rounds.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { findHead } from '../../../db/organization-audit/head.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import {
  appendMany,
  checkpoint,
  exportOf,
  makeOrganization,
  type Organization,
  sealers,
  verifyLines,
  vkeysOf,
} from './stage.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 4);
});
after(() => database.close());

const random = createRandom(testSeed);
const pick = (below: number) => Math.floor(random() * below);

/** Makes records up to one as old as it takes. */
async function age({ id }: Organization, through: number): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica`;
    await transaction`
      UPDATE organization_audit_records SET at = now() - interval '366 days'
      WHERE organization_id = ${id} AND seq <= ${through}`;
  });
}

test('50 random prunes: no false alarm, and old checkpoints verify', async () => {
  const organization = await makeOrganization(sql);
  const vkeys = await vkeysOf(sql, organization);
  const kept: { size: number; note: string }[] = [];
  for (let round = 0; round < 50; round += 1) {
    const last = await appendMany(sql, organization, pick(120) + 1, round * 200);
    kept.push(await checkpoint(sql, organization));
    const { prunedThrough = 0 } = (await findHead(sql, organization.id)) ?? {};
    const through = prunedThrough + pick(last - prunedThrough) + 1;
    await age(organization, through);
    const pruned = await pruneAudit(sql, organization.id, pick(3) === 0 ? 50 : 10_000);
    const after = await findHead(sql, organization.id);
    assert.ok(after !== null && after.prunedThrough <= through && after.prunedThrough < after.seq);
    assert.ok(pruned.status === 'pruned' || after.prunedThrough === prunedThrough);
    if (round % 3 !== 0) continue;
    await checkpoint(sql, organization);
    const old = kept[pick(kept.length)];
    const lines = await exportOf(sql, organization, { checkpointSize: old?.size ?? 0 });
    const report = verifyLines(lines, vkeys, [old?.note ?? '']);
    assert.deepEqual([report.exit, report.completeness], [0, 'ok'], JSON.stringify(report));
    const from = after.prunedThrough + 1;
    const part = await exportOf(sql, organization, { from });
    assert.equal(verifyLines(part, vkeys).exit, 0);
    const proof = await proveRecord(sql, organization.id, Math.max(1, after.prunedThrough));
    assert.match(proof ?? '', /^c2sp/);
  }
});

test('an anchor that says something else, or none, is a fault', async () => {
  const organization = await makeOrganization(sql);
  await appendMany(sql, organization, 300);
  await age(organization, 290);
  await pruneAudit(sql, organization.id, 10_000);
  await checkpoint(sql, organization);
  const vkeys = await vkeysOf(sql, organization);
  const lines = await exportOf(sql, organization);
  assert.equal(verifyLines(lines, vkeys).exit, 0);
  const without = verifyLines(lines.toSpliced(1, 1), vkeys);
  assert.equal(without.exit, 1);
  const anchor = JSON.parse(lines[1] ?? '');
  anchor.details.pruned_through -= 1;
  assert.equal(verifyLines(lines.toSpliced(1, 1, JSON.stringify(anchor)), vkeys).exit, 1);
  const unproved = { ...JSON.parse(lines[1] ?? ''), proof: [] };
  assert.equal(verifyLines(lines.toSpliced(1, 1, JSON.stringify(unproved)), vkeys).exit, 1);
  const header = JSON.parse(lines[0] ?? '');
  header.left.reverse();
  assert.equal(verifyLines(lines.toSpliced(0, 1, JSON.stringify(header)), vkeys).exit, 1);
});

test('the last record is never pruned, and a prune that fails leaves everything', async () => {
  const organization = await makeOrganization(sql);
  await appendMany(sql, organization, 5);
  await age(organization, 5);
  const log = { debug: () => {}, error: () => {} };
  await pruneAudits({ sql, sealers, log }, new AbortController().signal);
  const head = await findHead(sql, organization.id);
  assert.deepEqual([head?.prunedThrough, head?.seq], [4, 6]);
  assert.deepEqual(await pruneAudit(sql, organization.id, 1), { status: 'pruned', count: 1 });
  await sql`
    CREATE FUNCTION fail_anchor() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no room'; END $$`;
  await sql`
    CREATE TRIGGER fail BEFORE INSERT ON organization_audit_anchors
    FOR EACH ROW EXECUTE FUNCTION fail_anchor()`;
  await age(organization, 6);
  await assert.rejects(pruneAudit(sql, organization.id, 10), /no room/);
  await sql`DROP TRIGGER fail ON organization_audit_anchors`;
  const after = await findHead(sql, organization.id);
  assert.deepEqual([after?.prunedThrough, after?.seq], [5, 7]);
});

test('a legal hold that is set in between: nothing goes after its commit', async () => {
  const organization = await makeOrganization(sql);
  await appendMany(sql, organization, 20);
  await age(organization, 15);
  let prune: Promise<unknown> = Promise.resolve();
  let isOver = false;
  await sql.begin(async (transaction) => {
    await transaction`SELECT 1 FROM organizations WHERE id = ${organization.id} FOR UPDATE`;
    prune = pruneAudit(sql, organization.id, 10).finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(isOver, false);
    await transaction`
      UPDATE organizations SET settings = '{"legal_hold": true}' WHERE id = ${organization.id}`;
  });
  assert.deepEqual(await prune, { status: 'held' });
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM organization_audit_records
    WHERE organization_id = ${organization.id}`;
  assert.equal(row?.count, 20);
});

test('the disk stays flat over ten cycles', async () => {
  const organization = await makeOrganization(sql);
  const sizes: number[] = [];
  for (let cycle = 0; cycle < 10; cycle += 1) {
    const last = await appendMany(sql, organization, 500, cycle * 500);
    await age(organization, last - 1);
    await pruneAudit(sql, organization.id, 10_000);
    await sql`VACUUM organization_audit_records`;
    const [row] = await sql<{ bytes: bigint }[]>`
      SELECT pg_total_relation_size('organization_audit_records') AS bytes`;
    sizes.push(Number(row?.bytes));
  }
  const settled = sizes.slice(2);
  assert.ok(Math.max(...settled) <= 1.1 * (settled[0] ?? 0), sizes.join());
});
