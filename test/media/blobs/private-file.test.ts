// Private files: for their owner alone, and gone when their time is over.
import assert from 'node:assert/strict';
import {
  access,
  chmod,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  findPrivateFile,
  preparePrivateFolder,
  sweepPrivateFolder,
  withScratchFile,
} from '../../../media/blobs/private-file.ts';
import { firstIdAt } from '../../../runtime/ids.ts';

let parent: string;
before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'tollgate-private-'));
});
after(() => rm(parent, { recursive: true, force: true }));

async function folderOf(name: string): Promise<string> {
  const folder = join(parent, name, 'deep');
  await preparePrivateFolder(folder);
  return folder;
}

test('a file is read as it lies there, in a folder for its owner alone', async () => {
  const folder = await folderOf('found');
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
  const piece = Buffer.alloc(300_000, 'x');
  await writeFile(join(folder, 'one'), piece);
  const file = await findPrivateFile(folder, 'one');
  assert.equal(file?.bytes, piece.length);
  const parts: Buffer[] = [];
  for await (const part of file?.read() ?? []) parts.push(part as Buffer);
  assert.deepEqual(Buffer.concat(parts), piece);
  assert.equal(await findPrivateFile(folder, 'two'), null);
});

test('a scratch file is gone when the work is over, also when it fails', async () => {
  const folder = await folderOf('scratch');
  const text = await withScratchFile(folder, 'a', Buffer.from('seen'), async (path) => {
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    return await readFile(path, 'utf8');
  });
  assert.equal(text, 'seen');
  const failing = withScratchFile(folder, 'b', Buffer.from('x'), async () => {
    throw new Error('the work failed');
  });
  await assert.rejects(failing, /the work failed/);
  assert.deepEqual(await readdir(folder), []);
});

test('the sweep takes what is too old, and what stayed unfinished', async () => {
  const folder = await folderOf('swept');
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const [name, isOld] of [
    ['old', true],
    ['new', false],
    ['old.part', true],
    ['new.part', false],
  ] as const) {
    await writeFile(join(folder, name), 'x');
    await chmod(join(folder, name), 0o600);
    if (isOld) await utimes(join(folder, name), hourAgo, hourAgo);
  }
  const removed = await sweepPrivateFolder(folder, { keptMs: 7_200_000, unfinishedMs: 60_000 });
  assert.equal(removed, 1);
  assert.deepEqual((await readdir(folder)).sort(), ['new', 'new.part', 'old']);
  await sweepPrivateFolder(folder, { keptMs: 60_000, unfinishedMs: 60_000 });
  assert.deepEqual((await readdir(folder)).sort(), ['new', 'new.part']);
  assert.equal(await sweepPrivateFolder(join(folder, 'none'), { keptMs: 0, unfinishedMs: 0 }), 0);
  await access(folder);
});

test('the sweep looks at no file whose name says that it is young', async () => {
  const folder = await folderOf('named');
  const nowMs = Date.now();
  const madeAgo = (ms: number) => `${firstIdAt('req', nowMs - ms)}010123456789`;
  const [young, old] = [madeAgo(1_000), madeAgo(3_600_000)];
  const finishedLate = madeAgo(3_500_000);
  for (const name of [young, `${young}.part`, old, `${old}.part`, finishedLate]) {
    await writeFile(join(folder, name), 'x');
    // Who looked at the young one would take it for old.
    const at = new Date(nowMs - (name === finishedLate ? 1_000 : 3_600_000));
    await utimes(join(folder, name), at, at);
  }
  const limits = { keptMs: 60_000, unfinishedMs: 60_000 };
  assert.equal(await sweepPrivateFolder(folder, limits), 2);
  const left = [young, `${young}.part`, finishedLate].sort();
  assert.deepEqual((await readdir(folder)).sort(), left);
  const atStart = { keptMs: Number.POSITIVE_INFINITY, unfinishedMs: -1 };
  assert.equal(await sweepPrivateFolder(folder, atStart), 1, 'the unfinished one');
});
