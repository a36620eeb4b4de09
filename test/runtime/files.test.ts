// Which form of an entry a start takes: the bundle, unless it is older than what it was made of.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { entryFile } from '../../runtime/files.ts';

const entry = 'runtime/main.js';
let folder = '';
let dist: URL;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-files-'));
  dist = pathToFileURL(`${folder}/`);
  await writeFile(join(folder, '.tsbuildinfo'), '');
});

after(() => rm(folder, { recursive: true, force: true }));

test('without a bundle the entry is what tsc wrote', async () => {
  assert.equal((await entryFile(entry, dist)).href, new URL(entry, dist).href);
});

test('a bundle younger than that is taken, an older one never', async () => {
  await mkdir(join(folder, 'bundle/runtime'), { recursive: true });
  await writeFile(join(folder, 'bundle', entry), '');
  // Seconds; the lock file of the package counts too, and is older than tomorrow.
  const tomorrow = Date.now() / 1_000 + 86_400;
  await utimes(join(folder, 'bundle', entry), tomorrow, tomorrow);
  assert.equal((await entryFile(entry, dist)).href, new URL(`bundle/${entry}`, dist).href);
  await utimes(join(folder, '.tsbuildinfo'), tomorrow + 1, tomorrow + 1);
  assert.equal((await entryFile(entry, dist)).href, new URL(entry, dist).href);
});
