// Disks that are full or read-only: a put says so and leaves nothing, and what is there is read.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFileBlobStore } from '../../../media/blobs/file-store.ts';
import { writeBlob } from '../../../media/blobs/writer.ts';
import { newId } from '../../../runtime/ids.ts';
import { makeReadOnly, mountDisk } from '../../harness/disk.ts';
import { boundsOf, inChunks, newSealer, openFilesOf, putBytes, readAll } from './store-bed.ts';

const mib = 1_048_576;

function storeIn(folder: string) {
  return createFileBlobStore({ folder, sealers: [newSealer()], node: 1 });
}

test('a disk that fills up is told, and the put leaves nothing', async (t) => {
  const folder = await mountDisk(t);
  if (folder === null) return;
  const store = storeIn(folder);
  const content = randomBytes(300_000);
  const id = await putBytes(store, content);
  const large = inChunks(randomBytes(2 * mib));
  await assert.rejects(store.put(large, boundsOf()), { reason: 'full', name: 'BlobFault' });
  assert.deepEqual(await readdir(folder), [id]);
  assert.deepEqual(await openFilesOf(folder), []);
  assert.ok((await readAll(store, id, 0, content.length)).equals(content));
  // There is room again, also for one that was pushed at it.
  const lost: unknown[] = [];
  const pushed = writeBlob(store, {
    id: newId('blob', 1),
    bytesMax: 4 * mib,
    onDrain: () => {},
    onLost: (error) => lost.push(error),
  });
  for (let count = 0; count < 2_000; count += 1) pushed.write(randomBytes(1_000));
  assert.equal(await pushed.finish(), null);
  assert.equal((lost[0] as { reason?: string }).reason, 'full');
  assert.equal(await store.remove(id), true);
  await putBytes(store, content);
  assert.equal((await readdir(folder)).length, 1);
});

test('a read-only folder takes nothing, and gives and keeps what it has', async (t) => {
  const folder = await mountDisk(t);
  if (folder === null) return;
  const store = storeIn(folder);
  const content = randomBytes(100_000);
  const id = await putBytes(store, content);
  await makeReadOnly(folder);
  await assert.rejects(store.put(inChunks(content), boundsOf()), { reason: 'full' });
  await assert.rejects(store.remove(id), { reason: 'full' });
  await assert.rejects(store.rewrap(id), { reason: 'full' });
  assert.ok((await readAll(store, id, 0, content.length)).equals(content));
  const listed: string[] = [];
  for await (const blob of store.list()) listed.push(blob.id);
  assert.deepEqual(listed, [id]);
  assert.deepEqual(await openFilesOf(folder), []);
});

test('a folder that is not there is no full disk', async () => {
  const store = storeIn(join(tmpdir(), `tollgate-none-${process.pid}`));
  await assert.rejects(store.put(inChunks(randomBytes(1)), boundsOf()), { reason: 'unreachable' });
  await assert.rejects(store.stat(newId('blob', 1)), { reason: 'missing' });
});
