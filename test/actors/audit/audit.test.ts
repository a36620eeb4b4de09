// The audit of an organization on a real database: one order without gaps, what is refused, keys,
// checkpoints, and exports that the verifier takes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { foldRoot, isConsistent, leafHash, RightEdge } from '../../../actors/audit/merkle.ts';
import { openCheckpoint, readVkey } from '../../../actors/audit/note.ts';
import { proveRecord } from '../../../actors/audit/proof.ts';
import { checkpointAudits } from '../../../actors/audit/rounds.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { appendAudit, appendAudits } from '../../../db/organization-audit/append.ts';
import { findHead } from '../../../db/organization-audit/head.ts';
import { organizationAuditData } from '../../../db/personal-data/organization-audit.ts';
import { erasePage } from '../../../db/personal-data.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import {
  act,
  appendMany,
  checkpoint,
  exportOf,
  makeOrganization,
  sealers,
  verifyLines,
  vkeysOf,
} from './stage.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 8);
});
after(() => database.close());

test('concurrent appends make one order without gaps, and the edge of one tree', async () => {
  const organization = await makeOrganization(sql);
  const batches = Array.from({ length: 40 }, (_, index) =>
    appendMany(sql, organization, (index % 5) + 1, index * 10),
  );
  await Promise.all(batches);
  const rows = await sql<{ seq: bigint; record: string; link: Buffer }[]>`
    SELECT seq, record, link FROM organization_audit_records
    WHERE organization_id = ${organization.id} ORDER BY seq`;
  assert.deepEqual(
    rows.map(({ seq }) => Number(seq)),
    rows.map((_, index) => index + 1),
  );
  assert.equal(rows.length, 120);
  const edge = new RightEdge();
  for (const { record, link } of rows) {
    assert.deepEqual(leafHash(record), Buffer.from(link));
    edge.push(Buffer.from(link));
  }
  const head = await findHead(sql, organization.id);
  assert.deepEqual(head?.edge, edge.hashes());
});

test('an append that fails undoes its act', async () => {
  const organization = await makeOrganization(sql);
  const acted = sql.begin(async (transaction) => {
    await transaction`UPDATE organizations SET name = 'Other' WHERE id = ${organization.id}`;
    await appendAudit(transaction, 99_999_999, act(1, organization.ownerId));
  });
  await assert.rejects(acted, /has no audit/);
  const [row] = await sql`SELECT name FROM organizations WHERE id = ${organization.id}`;
  assert.equal(row?.name, 'Example');
});

test('nothing is changed or deleted but by blanking or under an anchor', async () => {
  const { id, ownerId } = await makeOrganization(sql);
  await appendMany(sql, { id, ownerId }, 3);
  await checkpoint(sql, { id, ownerId });
  const refused = [
    `UPDATE organization_audit_records SET record = 'x' WHERE organization_id = ${id}`,
    `UPDATE organization_audit_records SET details = '{}' WHERE organization_id = ${id}`,
    `UPDATE organization_audit_records SET details = NULL, salt = NULL, action = 'a'
     WHERE organization_id = ${id}`,
    `DELETE FROM organization_audit_records WHERE organization_id = ${id} AND seq = 1`,
    `TRUNCATE organization_audit_records`,
    `UPDATE organization_audit_checkpoints SET note = 'x' WHERE organization_id = ${id}`,
    `DELETE FROM organization_audit_checkpoints WHERE organization_id = ${id}`,
    `DELETE FROM organization_audit_heads WHERE organization_id = ${id}`,
    `DELETE FROM organization_audit_keys WHERE organization_id = ${id}`,
    `INSERT INTO organization_audit_anchors (organization_id, seq, pruned_through)
     VALUES (${id}, 3, 2)`,
  ];
  for (const statement of refused) {
    await assert.rejects(sql.unsafe(statement), /refused|anchor/, statement);
  }
  const blanked = await sql`
    UPDATE organization_audit_records SET details = NULL, salt = NULL, address = NULL
    WHERE organization_id = ${id} AND seq = 2`;
  assert.equal(blanked.count, 1);
  const lines = await exportOf(sql, { id, ownerId });
  const report = verifyLines(lines, await vkeysOf(sql, { id, ownerId }));
  assert.deepEqual([report.exit, report.blanked, report.records], [0, 1, 3]);
});

test('a delete under an anchor of an earlier transaction is refused', async () => {
  const organization = await makeOrganization(sql);
  await appendMany(sql, organization, 3);
  const details = { pruned_through: 2, count: 2, last_link: '', root: '' };
  const record = { ...act(1, organization.ownerId), action: 'audit.anchor', details };
  await sql.begin(async (transaction) => {
    const seq = await appendAudit(transaction, organization.id, record);
    await transaction`
      INSERT INTO organization_audit_anchors (organization_id, seq, pruned_through)
      VALUES (${organization.id}, ${seq}, 2)`;
  });
  const deleting = sql`
    DELETE FROM organization_audit_records WHERE organization_id = ${organization.id} AND seq = 1`;
  await assert.rejects(async () => await deleting, /anchor/);
});

test('details that do not fit are told by count and hash', async () => {
  const organization = await makeOrganization(sql);
  const many = Array.from({ length: 1_000 }, (_, index) => `name-${index}`);
  const record = { ...act(1, organization.ownerId), details: { many, few: [1] } };
  await sql.begin((transaction) => appendAudit(transaction, organization.id, record));
  const [row] = await sql<{ details: string }[]>`
    SELECT details FROM organization_audit_records WHERE organization_id = ${organization.id}`;
  const details = JSON.parse(row?.details ?? '');
  assert.deepEqual(details.few, [1]);
  assert.equal(details.many.count, 1_000);
  assert.match(details.many.sha256, /^[0-9a-f]{64}$/);
});

test('checkpoints are made after many records, or after a while with a new one', async () => {
  const [busy, quiet, idle] = [
    await makeOrganization(sql),
    await makeOrganization(sql),
    await makeOrganization(sql),
  ];
  await appendMany(sql, busy, 1_000);
  await appendMany(sql, quiet, 1);
  await appendMany(sql, idle, 1);
  await sql`
    UPDATE organization_audit_heads SET checkpoint_at = now() - interval '11 minutes'
    WHERE organization_id = ${quiet.id}`;
  const errors: unknown[] = [];
  const log = { debug: () => {}, error: (fields: unknown) => void errors.push(fields) };
  await checkpointAudits({ sql, sealers, log }, new AbortController().signal);
  const sizes = async ({ id }: { id: number }) => (await findHead(sql, id))?.checkpointSize;
  assert.deepEqual([await sizes(busy), await sizes(quiet), await sizes(idle)], [1_000, 1, 0]);
  assert.deepEqual(errors, []);
});

test('a new master key brings a new key, which signs beside the old one for 90 days', async () => {
  const organization = await makeOrganization(sql);
  await appendMany(sql, organization, 1);
  const [first] = await vkeysOf(sql, organization);
  const rotated = {
    now: createSealer(Buffer.alloc(32, 2).toString('base64url')),
    before: sealers.now,
  };
  const { note } = await checkpoint(sql, organization, rotated);
  const vkeys = await vkeysOf(sql, organization);
  assert.equal(vkeys.length, 2);
  assert.equal(vkeys[1], first);
  for (const vkey of vkeys) {
    const verifier = readVkey(vkey);
    assert.ok(verifier !== null && openCheckpoint(note, [verifier]) !== null);
  }
  // The earlier master key is not needed any more.
  await appendMany(sql, organization, 1);
  const later = await checkpoint(sql, organization, { ...rotated, before: null });
  assert.equal(later.note.match(/^\u2014 /gm)?.length, 2);
  await sql`
    UPDATE organization_audit_keys SET replaced_at = replaced_at - interval '91 days'
    WHERE organization_id = ${organization.id} AND replaced_at IS NOT NULL`;
  await appendMany(sql, organization, 1);
  const last = await checkpoint(sql, organization, { ...rotated, before: null });
  assert.equal(last.note.match(/^\u2014 /gm)?.length, 1);
  const lines = await exportOf(sql, organization);
  assert.equal(verifyLines(lines, [vkeys[0] ?? '']).exit, 0);
  assert.equal(verifyLines(lines, [vkeys[1] ?? '']).exit, 1);
});

test('proofs name their record and lead to the newest checkpoint', async () => {
  const organization = await makeOrganization(sql);
  await appendMany(sql, organization, 700);
  await checkpoint(sql, organization);
  const proof = await proveRecord(sql, organization.id, 257);
  assert.match(
    proof ?? '',
    /^c2sp\.org\/tlog-proof@v1\nindex 256\n([A-Za-z0-9+/=]{44}\n)+\n\S+\n700\n/,
  );
  await appendMany(sql, organization, 1);
  assert.equal(await proveRecord(sql, organization.id, 701), null);
});

test('exports of parts verify, with the checkpoint that was kept', async () => {
  const organization = await makeOrganization(sql);
  const kept: { size: number; note: string }[] = [];
  for (const count of [3, 255, 300, 1, 450]) {
    await appendMany(sql, organization, count);
    kept.push(await checkpoint(sql, organization));
  }
  const vkeys = await vkeysOf(sql, organization);
  const [first, second] = kept;
  for (const range of [
    {},
    { from: 5 },
    { from: 259, to: 600 },
    { from: 513, to: 513 },
    { to: 1 },
  ]) {
    const lines = await exportOf(sql, organization, range);
    const report = verifyLines(lines, vkeys);
    const isWhole = range.from === undefined && range.to === undefined;
    assert.deepEqual([report.exit, report.completeness], [0, isWhole ? 'ok' : 'partial']);
  }
  const lines = await exportOf(sql, organization, { from: 300, checkpointSize: second?.size ?? 0 });
  assert.equal(verifyLines(lines, vkeys, [second?.note ?? '']).exit, 0);
  assert.equal(verifyLines(lines, vkeys, [first?.note ?? '']).exit, 2);
  const consistency = JSON.parse(lines[1] ?? '').consistency as string[];
  const hashes = consistency.map((text) => Buffer.from(text, 'base64'));
  const end = { size: 1_009, root: foldRoot((await findHead(sql, organization.id))?.edge ?? []) };
  const verifier = readVkey(vkeys[0] ?? '');
  const start = verifier === null ? null : openCheckpoint(second?.note ?? '', [verifier]);
  assert.ok(start !== null && isConsistent(start, end, hashes));
  assert.ok(!isConsistent({ ...start, size: start.size - 1 }, end, hashes));
});

test('details of a person who is erased are blanked, by actor, target and address', async () => {
  const organization = await makeOrganization(sql);
  const { id, ownerId } = organization;
  await sql`
    UPDATE accounts SET email = 'person@example.com', email_owned = true WHERE id = ${ownerId}`;
  const other = act(1, 'acc_other');
  const records = [
    act(1, ownerId),
    { ...other, target: { type: 'member', id: ownerId } },
    { ...other, details: { email: 'Person@example.com' } },
    { ...other, details: { email: 'somebody@example.com' } },
  ];
  await sql.begin((transaction) => appendAudits(transaction, id, records));
  const [step = ''] = organizationAuditData.erasing;
  let after: string | null = '';
  while (after !== null) {
    const place: string = after;
    ({ after } = await sql.begin((transaction) => erasePage(transaction, step, ownerId, place, 2)));
  }
  const rows = await sql<{ is_blank: boolean }[]>`
    SELECT details IS NULL AND salt IS NULL AND address IS NULL AS is_blank
    FROM organization_audit_records WHERE organization_id = ${id} ORDER BY seq`;
  assert.deepEqual(
    rows.map((row) => row.is_blank),
    [true, true, true, false],
  );
  await checkpoint(sql, organization);
  const report = verifyLines(await exportOf(sql, organization), await vkeysOf(sql, organization));
  assert.deepEqual([report.exit, report.blanked], [0, 3]);
});
