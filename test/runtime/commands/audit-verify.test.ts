// The verifier as people take it away: one file, alone in a folder, with nothing beside it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Sql } from '../../../db/driver/sql.ts';
import { compiledFile } from '../../../runtime/files.ts';
import {
  appendMany,
  checkpoint,
  exportOf,
  makeOrganization,
  type Organization,
  vkeysOf,
} from '../../actors/audit/stage.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';

let database: TestDatabase;
let sql: Sql;
let folder: string;
let organization: Organization;
let vkey: string;
let note: string;
let bytes: Buffer;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
  folder = await mkdtemp(join(tmpdir(), 'tollgate-verify-'));
  await copyFile(compiledFile('bundle/tollgate-audit.mjs'), join(folder, 'tollgate-audit.mjs'));
  organization = await makeOrganization(sql);
  await appendMany(sql, organization, 100);
  ({ note } = await checkpoint(sql, organization));
  await appendMany(sql, organization, 200);
  await checkpoint(sql, organization);
  [vkey = ''] = await vkeysOf(sql, organization);
  bytes = Buffer.from(`${(await exportOf(sql, organization)).join('\n')}\n`);
  await writeFile(join(folder, 'note'), note);
});
after(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

async function verify(content: Uint8Array, ...options: string[]) {
  await writeFile(join(folder, 'export'), content);
  const argv = ['tollgate-audit.mjs', 'verify', 'export', ...options];
  const ended = spawnSync(process.execPath, argv, { cwd: folder, env: {} });
  return { code: ended.status, out: ended.stdout.toString(), err: ended.stderr.toString() };
}

test('alone it accepts an export, and says what it cannot know', async () => {
  assert.deepEqual((await readdir(folder)).sort(), ['note', 'tollgate-audit.mjs']);
  const { code, out, err } = await verify(bytes, '--key', vkey, '--checkpoint', 'note');
  assert.equal(code, 0, out + err);
  assert.match(out, /integrity +ok\ncontinuity +ok\ncompleteness +ok\n/);
  assert.match(out, /not protected from the operator/);
  const told = await verify(bytes, '--key', vkey, '--json');
  assert.equal(JSON.parse(told.out).records, 300);
});

test('one flipped byte is refused, wherever it is', async () => {
  const random = createRandom(testSeed);
  for (let round = 0; round < 12; round += 1) {
    const at = Math.floor(random() * bytes.length);
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    const { code, out } = await verify(flipped, '--key', vkey);
    assert.ok(code === 1 || code === 2, `byte ${at}: ${code} ${out}`);
  }
});

test('a truncated export is a fault, and what is no export is unusable', async () => {
  const cut = await verify(
    bytes.subarray(0, bytes.lastIndexOf('\n{"type":"end"') + 1),
    '--key',
    vkey,
  );
  assert.equal(cut.code, 1, cut.out);
  assert.match(cut.out, /breaks off at the record 301/);
  assert.equal((await verify(Buffer.from('{}\n'), '--key', vkey)).code, 2);
  assert.equal((await verify(Buffer.alloc(0), '--key', vkey)).code, 2);
  assert.equal((await verify(bytes)).code, 2);
  assert.equal((await verify(bytes, '--key', vkey.replace('+', '+0'))).code, 2);
  assert.equal((await verify(bytes, '--key', vkey, '--checkpoint', 'nothing')).code, 2);
});

test('a checkpoint that is newer than the export is a fault', async () => {
  await appendMany(sql, organization, 1);
  const newer = await checkpoint(sql, organization);
  await writeFile(join(folder, 'newer'), newer.note);
  const { code, out } = await verify(bytes, '--key', vkey, '--checkpoint', 'newer');
  assert.equal(code, 1);
  assert.match(out, /ends at 300, and a checkpoint of size 301 is known/);
});
