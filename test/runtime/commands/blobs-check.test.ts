// The check of the blob store as it is run: a program of its own beside whoever uses it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newId } from '../../../runtime/ids.ts';
import { type BlobBed, openBlobBed } from '../../actors/blobs/bed.ts';

let bed: BlobBed;
before(async () => {
  bed = await openBlobBed();
});
after(() => bed.close());

const program = fileURLToPath(new URL('../../../runtime/commands/blobs-check.js', import.meta.url));

interface Checked {
  code: number;
  output: string;
}

function check(change: Record<string, string> = {}): Promise<Checked> {
  const env = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: bed.database.url,
    TOLLGATE_DATA: bed.dataDir,
    TOLLGATE_SECRET: bed.masterKey,
    ...change,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [program], { env, timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}

test('a store without objects, and one whose objects are named or new, are right', async () => {
  const empty = await check();
  assert.equal(empty.code, 0, empty.output);
  await bed.name(await bed.store(40));
  await bed.name(await bed.store(1));
  await bed.store(20);
  const { code, output } = await check();
  assert.equal(code, 0, output);
  assert.match(output, /^every object that a row names is there, as the row says +2 +right$/m);
  assert.match(output, /^every object is named by a row, or new +3 +right$/m);
  assert.match(output, /^every object is read as it was stored +3 +right$/m);
});

test('each thing that is wrong has its line, exit 1', async () => {
  const missing = newId('blob', 1);
  const missingRow = await bed.name(missing);
  const short = await bed.store(2, randomBytes(999));
  const shortRow = await bed.name(short);
  const old = await bed.store(30);
  const flipped = await bed.store(2, randomBytes(200_000));
  const path = join(bed.folder, flipped);
  const bytes = await readFile(path);
  bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
  await writeFile(path, bytes);
  const cut = await bed.store(2);
  const cutRow = await bed.name(cut);
  await writeFile(join(bed.folder, cut), (await readFile(join(bed.folder, cut))).subarray(0, -1));
  const { code, output } = await check();
  assert.equal(code, 1, output);
  const lines = [
    `speech ${missingRow}: ${missing} is missing`,
    `speech ${shortRow}: ${short} has 999 bytes, the row says 1000`,
    `speech ${cutRow}: ${cut} is damaged`,
    `${old}: stored 30 hours ago, and no row names it`,
    `${flipped}: damaged, piece 3 of ${flipped} is damaged`,
    `${cut}: damaged, ${cut} is not as long as it was stored`,
  ];
  const told = output.split('\n').filter((line) => line.startsWith('    '));
  assert.deepEqual(told.map((line) => line.trim()).sort(), lines.sort());
  assert.match(output, /as the row says +5 +WRONG in 3$/m);
  assert.match(output, /or new +7 +WRONG in 1$/m);
  assert.match(output, /as it was stored +7 +WRONG in 2$/m);
});

test('another master key opens nothing, exit 1; none at all is exit 2', async () => {
  const other = await check({ TOLLGATE_SECRET: randomBytes(32).toString('base64url') });
  assert.equal(other.code, 1);
  assert.match(other.output, /blob_[0-9a-f]{24}: locked, /);
  const rotated = await check({
    TOLLGATE_SECRET: randomBytes(32).toString('base64url'),
    TOLLGATE_SECRET_PREVIOUS: bed.masterKey,
  });
  assert.doesNotMatch(rotated.output, /locked/);
  const without = await check({ TOLLGATE_SECRET: '' });
  assert.equal(without.code, 2, without.output);
  assert.match(
    without.output,
    /^the blob store cannot be checked: there is no master key[^\n]+\n$/,
  );
});

test('a database that does not answer is exit 2, a folder that is none as well', async () => {
  const away = await check({ DATABASE_URL: 'postgres://nobody@/none?host=/nonexistent' });
  assert.equal(away.code, 2);
  assert.match(away.output, /^the blob store cannot be checked: [^\n]+nobody listens[^\n]*\n$/);
  await rename(bed.folder, `${bed.folder}-away`);
  await writeFile(bed.folder, 'no folder');
  const { code, output } = await check();
  assert.equal(code, 2, output);
  assert.match(output, /the store cannot be reached \(ENOTDIR\)/);
});
