// Go's sumdb/note and sumdb/tlog, unpatched, on verifier key, checkpoints, record proofs and
// consistency proofs. Without `go` it is skipped aloud.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { proveRecord } from '../../../actors/audit/proof.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { findRecord } from '../../../db/organization-audit/records.ts';
import { sourceFile } from '../../../runtime/files.ts';
import {
  appendMany,
  checkpoint,
  exportOf,
  makeOrganization,
  vkeysOf,
} from '../../actors/audit/stage.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

const gopath = '/usr/share/gocode';
const hasGo =
  spawnSync('go', ['version']).status === 0 && existsSync(`${gopath}/src/golang.org/x/mod/sumdb`);
const skip = hasGo ? false : 'golang-go and golang-golang-x-mod-dev are not installed';

let database: TestDatabase;
let sql: Sql;
let folder: string;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
  folder = await mkdtemp(join(tmpdir(), 'tollgate-go-'));
});
after(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

function build(): string {
  const program = join(folder, 'check');
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    GOPATH: gopath,
    GOCACHE: join(tmpdir(), 'tollgate-go-cache'),
    GO111MODULE: 'off',
    GOFLAGS: '',
  };
  const source = fileURLToPath(sourceFile('test/conformance/audit/check.go'));
  execFileSync('go', ['build', '-o', program, source], { env, stdio: 'inherit' });
  return program;
}

test("Go's packages take what we sign and prove, and nothing else", { skip }, async () => {
  const organization = await makeOrganization(sql);
  const { id } = organization;
  const kept: { note: string; consistency: string[] }[] = [];
  const sizes: number[] = [];
  for (const count of [1, 6, 249, 1, 300, 500]) {
    await appendMany(sql, organization, count);
    sizes.push((await checkpoint(sql, organization)).size);
  }
  for (const checkpointSize of sizes.slice(0, -1)) {
    const lines = await exportOf(sql, organization, { from: 1_000, checkpointSize });
    const line = JSON.parse(lines[1] ?? '');
    kept.push({ note: line.note, consistency: line.consistency });
  }
  const proofs: { record: string; text: string }[] = [];
  for (const seq of [1, 2, 7, 256, 257, 556, 1_000, 1_057]) {
    const record = await findRecord(sql, id, seq);
    proofs.push({ record: record?.record ?? '', text: (await proveRecord(sql, id, seq)) ?? '' });
  }
  const [vkey = ''] = await vkeysOf(sql, organization);
  const { note } = await checkpoint(sql, organization);
  const program = build();
  const check = (given: object) =>
    spawnSync(program, { input: JSON.stringify({ vkey, note, proofs, kept, ...given }) });
  const good = check({});
  assert.equal(good.stdout.toString(), 'ok\n', good.stderr.toString());
  const [proof] = proofs;
  assert.notEqual(check({ proofs: [{ ...proof, record: `${proof?.record} ` }] }).status, 0);
  assert.notEqual(check({ kept: [{ ...kept[0], note: kept[1]?.note }] }).status, 0);
  assert.notEqual(check({ note: note.replace(/\d+\n/, '1056\n') }).status, 0);
});
