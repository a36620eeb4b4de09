// Exports of 10,000 records that somebody has changed: the verifier names the place.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RightEdge } from '../../../actors/audit/merkle.ts';
import type { RecordLine } from '../../../actors/audit/verify/lines.ts';
import type { AuditReport, Verdict } from '../../../actors/audit/verify/report.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import {
  appendMany,
  checkpoint,
  exportOf,
  makeOrganization,
  type Organization,
  verifyLines,
  vkeysOf,
} from './stage.ts';

const count = 10_000;
const everyRecords = 1_000;

let database: TestDatabase;
let sql: Sql;
let organization: Organization;
let vkeys: string[];
let lines: string[];
/** Where the line of a record is, by its seq. */
let places: Map<number, number>;
const notes: string[] = [];
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
  organization = await makeOrganization(sql);
  for (let seq = 1; seq < count; seq += everyRecords) {
    await appendMany(sql, organization, everyRecords, seq);
    notes.push((await checkpoint(sql, organization)).note);
  }
  vkeys = await vkeysOf(sql, organization);
  lines = await exportOf(sql, organization);
  places = new Map();
  for (const [place, line] of lines.entries()) {
    if (line.startsWith('{"type":"record"')) places.set(places.size + 1, place);
  }
});
after(() => database.close());

const random = createRandom(testSeed);
const pick = (below: number) => Math.floor(random() * below);
const placeOf = (seq: number) => places.get(seq) ?? 0;
const lineOf = (seq: number) => JSON.parse(lines[placeOf(seq)] ?? '') as RecordLine;

/** The export with the lines from a place on replaced. */
const replaced = (place: number, gone: number, ...others: string[]) =>
  lines.toSpliced(place, gone, ...others);
const written = (line: RecordLine) => JSON.stringify(line);

function faultOf(report: AuditReport): Exclude<Verdict, string> {
  assert.equal(report.exit, 1, JSON.stringify(report));
  const verdicts = [report.integrity, report.continuity, report.completeness];
  const fault = verdicts.find((each) => typeof each !== 'string');
  assert.ok(fault !== undefined && typeof fault !== 'string');
  return fault;
}

/** The last record of a checkpoint is named by the checkpoint, if nothing comes behind it. */
function assertNames(report: AuditReport, seq: number, what: string): void {
  const fault = faultOf(report);
  if (seq < count || fault.seq !== undefined) assert.equal(fault.seq, seq, what);
  else assert.deepEqual(fault.between, [count - everyRecords, count], what);
}

/** The record with one digit of something else in it: canonical, and not what it was. */
function changedRecord({ record, ...line }: RecordLine, member: string): RecordLine {
  const value = JSON.parse(record);
  if (member === 'prev' || member === 'details') {
    const at = pick(64);
    const digit = value[member][at] === '0' ? '1' : '0';
    value[member] = `${value[member].slice(0, at)}${digit}${value[member].slice(at + 1)}`;
  } else if (member === 'actor') value.actor.id += 'x';
  else value[member] = member === 'at' ? '2026-01-01T00:00:00.000Z' : `${value[member]}x`;
  return { ...line, record: JSON.stringify(value) };
}

test('it takes what nobody has changed', () => {
  const report = verifyLines(lines, vkeys, notes);
  assert.deepEqual(
    [report.exit, report.records, report.integrity, report.continuity, report.completeness],
    [0, count, 'ok', 'ok', 'ok'],
  );
});

test('a member of a record, its salt or its details changed', () => {
  const members = ['at', 'actor', 'action', 'result', 'details'];
  for (const seq of [2, count - 1, count, pick(count / 2) + 1, everyRecords]) {
    for (const member of ['prev', members[pick(members.length)] ?? 'at']) {
      const changed = written(changedRecord(lineOf(seq), member));
      const report = verifyLines(replaced(placeOf(seq), 1, changed), vkeys);
      assertNames(report, seq, `${member} of ${seq}`);
    }
    const { details, salt, ...line } = lineOf(seq);
    const others = [
      { ...line, details: { ...details, index: -1 }, salt },
      { ...line, details, salt: '0'.repeat(32) },
      { ...line, details: null, salt },
    ];
    for (const other of seq < count / 2 ? others : others.slice(0, 1)) {
      const report = verifyLines(replaced(placeOf(seq), 1, written(other)), vkeys);
      assert.equal(faultOf(report).seq, seq);
    }
  }
});

test('a byte flipped, wherever it is', () => {
  for (let round = 0; round < 8; round += 1) {
    const place = pick(lines.length);
    const bytes = Buffer.from(lines[place] ?? '');
    const at = pick(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << pick(7));
    const report = verifyLines(replaced(place, 1, bytes.toString()), vkeys);
    assert.notEqual(report.exit, 0, `line ${place}, byte ${at}: ${bytes.toString()}`);
    const seq = [...places.entries()].find(([, each]) => each === place)?.[0];
    if (seq !== undefined && report.exit === 1) assertNames(report, seq, bytes.toString());
  }
});

test('records dropped, inserted, swapped, and the file cut', () => {
  for (const seq of [1, 2, everyRecords, count - 1, pick(count / 2) + 2]) {
    const place = placeOf(seq);
    assert.equal(faultOf(verifyLines(replaced(place, 1), vkeys)).seq, seq);
    const twice = replaced(place, 0, lines[placeOf(Math.max(1, seq - 1))] ?? '');
    assert.equal(faultOf(verifyLines(twice, vkeys)).seq, seq === 1 ? 2 : seq);
    const other = seq + 1;
    const swapped = [...lines];
    swapped[place] = lines[placeOf(other)] ?? '';
    swapped[placeOf(other)] = lines[place] ?? '';
    assert.equal(faultOf(verifyLines(swapped, vkeys)).seq, seq);
    assert.equal(faultOf(verifyLines(lines.slice(0, place), vkeys)).seq, seq);
  }
  assert.notEqual(verifyLines(lines.slice(0, -1), vkeys).exit, 0);
  assert.equal(verifyLines([], vkeys).exit, 2);
  assert.equal(verifyLines(lines, []).exit, 2);
});

/** What an operator can do who has the database and the keys in hand. */
async function rewriteFrom(seq: number): Promise<void> {
  const { id, ownerId } = organization;
  await sql.begin(async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica`;
    await transaction`
      DELETE FROM organization_audit_records WHERE organization_id = ${id} AND seq >= ${seq}`;
    await transaction`
      DELETE FROM organization_audit_checkpoints WHERE organization_id = ${id} AND size >= ${seq}`;
    await transaction`
      DELETE FROM organization_audit_tiles
      WHERE organization_id = ${id} AND (tile + 1) * 256 >= ${seq}`;
  });
  const kept = await sql<{ link: Buffer }[]>`
    SELECT link FROM organization_audit_records WHERE organization_id = ${id} ORDER BY seq`;
  const edge = new RightEdge();
  for (const { link } of kept) edge.push(Buffer.from(link));
  await sql`
    UPDATE organization_audit_heads SET seq = ${kept.length}, link = ${kept.at(-1)?.link ?? ''},
      edge = ${Buffer.concat(edge.hashes())}, checkpoint_size = 0
    WHERE organization_id = ${id}`;
  for (let at = seq; at <= count; at += everyRecords) {
    const length = Math.min(everyRecords, count - at + 1);
    await appendMany(sql, { id, ownerId: `${ownerId}x` }, length, at);
    await checkpoint(sql, organization);
  }
}

test('a suffix rewritten with the database in hand', async () => {
  await rewriteFrom(4_321);
  const forged = await exportOf(sql, organization);
  // Alone it is without a fault: what came after the last checkpoint outside is not protected.
  assert.equal(verifyLines(forged, vkeys).exit, 0);
  const fault = faultOf(verifyLines(forged, vkeys, notes));
  assert.deepEqual(fault.between, [4_000, 5_000]);
  const late = faultOf(verifyLines(forged, vkeys, notes.slice(7)));
  assert.deepEqual(late.between, [0, 8_000]);
});
