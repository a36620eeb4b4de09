// The store of files: what was put comes out, in any range; it is there as a whole or not at all.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ListedBlob } from '../../../media/blobs/contract.ts';
import { createFileBlobStore } from '../../../media/blobs/file-store.ts';
import { isId, newId } from '../../../runtime/ids.ts';
import {
  boundsOf,
  inChunks,
  newSealer,
  openFilesOf,
  openStoreBed,
  putBytes,
  readAll,
  type StoreBed,
  sha256Of,
} from './store-bed.ts';

let bed: StoreBed;
before(async () => {
  bed = await openStoreBed();
});
after(() => bed.close());
let earlier: string[] = [];
beforeEach(async () => {
  earlier = await readdir(bed.folder);
});

const piece = 65_536;
const sizes = [0, 1, piece - 1, piece, piece + 1, 2 * piece, 1_048_577];

async function newFiles(): Promise<string[]> {
  return (await readdir(bed.folder)).filter((name) => !earlier.includes(name));
}

for (const size of sizes) {
  test(`${size} bytes come out as they were put, and nothing of them is on the disk`, async () => {
    const bytes = randomBytes(size);
    for (const length of [7_919, piece, 3_000_000]) {
      const stored = await bed.store.put(inChunks(bytes, length), boundsOf());
      assert.ok(isId(stored.id, 'blob'));
      assert.deepEqual([stored.bytes, stored.sha256], [size, sha256Of(bytes)]);
      const { storedAtMs, ...facts } = await bed.store.stat(stored.id);
      assert.deepEqual(facts, stored);
      assert.ok(Math.abs(Date.now() - storedAtMs) < 60_000);
      assert.deepEqual(await readAll(bed.store, stored.id, 0, size), bytes);
      const path = join(bed.folder, stored.id);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      if (size >= 16) assert.equal((await readFile(path)).indexOf(bytes.subarray(0, 16)), -1);
    }
  });
}

test('a range is its bytes, at and beside the edges of pieces', async () => {
  const bytes = randomBytes(3 * piece + 100);
  const id = await putBytes(bed.store, bytes);
  const edges = [0, 1, piece - 1, piece, piece + 1, 2 * piece, 3 * piece, bytes.length];
  for (const from of edges) {
    for (const to of edges.filter((edge) => edge >= from)) {
      const found = await readAll(bed.store, id, from, to);
      assert.ok(found.equals(bytes.subarray(from, to)), `${from} to ${to}`);
    }
  }
  await assert.rejects(readAll(bed.store, id, 0, bytes.length + 1), /within its object/);
  await assert.rejects(readAll(bed.store, id, 2, 1), /in order/);
});

test('two objects of the same bytes have nothing in common on the disk', async () => {
  const bytes = Buffer.alloc(piece, 'x');
  const ids = [await putBytes(bed.store, bytes), await putBytes(bed.store, bytes)];
  const files = await Promise.all(ids.map((id) => readFile(join(bed.folder, id))));
  const [one, two] = files.map((file) => file.subarray(8_192));
  assert.ok(one !== undefined && two !== undefined && one.length === two.length);
  const same = one.filter((byte, index) => byte === two[index]).length;
  assert.ok(same < one.length / 100, `${same} of ${one.length} bytes are alike`);
});

test('who leaves early, or never begins, leaves no file open', async () => {
  const id = await putBytes(bed.store, randomBytes(5 * piece));
  const unread = bed.store.read(id, 0, 5 * piece);
  assert.deepEqual(await openFilesOf(bed.folder), []);
  await unread.return();
  for await (const _ of bed.store.read(id, 0, 5 * piece)) {
    assert.equal((await openFilesOf(bed.folder)).length, 1);
    break;
  }
  assert.deepEqual(await openFilesOf(bed.folder), []);
  // Also while a piece is on its way.
  const reading = bed.store.read(id, 0, 5 * piece);
  await reading.next();
  const [, ended] = await Promise.all([reading.next(), reading.return()]);
  assert.equal(ended.done, true);
  assert.deepEqual(await openFilesOf(bed.folder), []);
  await assert.rejects(readAll(bed.store, newId('blob', 1), 0, 1), { reason: 'missing' });
  assert.deepEqual(await openFilesOf(bed.folder), []);
});

test('nothing is under the name before it is whole', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const bytes = randomBytes(2 * piece);
  async function* halting() {
    yield bytes;
    await released;
  }
  const id = newId('blob', 1);
  const putting = bed.store.put(halting(), boundsOf({ id }));
  while ((await newFiles()).length === 0) await turn();
  assert.deepEqual(await newFiles(), [`${id}.part`]);
  await assert.rejects(bed.store.stat(id), { reason: 'missing' });
  const listed: string[] = [];
  for await (const blob of bed.store.list()) listed.push(blob.id);
  assert.equal(listed.includes(id), false);
  release();
  assert.equal((await putting).id, id);
  assert.deepEqual(await newFiles(), [id]);
});

test('a put that fails, is aborted or gets too much leaves nothing', async () => {
  async function* failing() {
    yield Buffer.alloc(3 * piece);
    throw new Error('the source broke');
  }
  await assert.rejects(bed.store.put(failing(), boundsOf()), /the source broke/);
  const large = inChunks(Buffer.alloc(1_001));
  await assert.rejects(bed.store.put(large, boundsOf({ bytesMax: 1_000 })), {
    reason: 'too_large',
  });
  const aborting = new AbortController();
  let isReturned = false;
  const silent: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: async () => {
        isReturned = true;
        return { done: true, value: undefined };
      },
    }),
  };
  const putting = bed.store.put(silent, boundsOf({ signal: aborting.signal }));
  const aborted = assert.rejects(putting, /enough/);
  aborting.abort(new Error('enough'));
  await aborted;
  assert.equal(isReturned, true, 'its source is told');
  const { signal } = aborting;
  await assert.rejects(bed.store.put(inChunks(Buffer.alloc(1)), boundsOf({ signal })), /enough/);
  assert.deepEqual(await newFiles(), []);
  assert.deepEqual(await openFilesOf(bed.folder), []);
});

test('an object that is removed is gone, its key first', async () => {
  const id = await putBytes(bed.store, randomBytes(piece));
  const path = join(bed.folder, id);
  const whole = await readFile(path);
  const left = Buffer.from(whole);
  assert.equal(await bed.store.remove(id), true);
  assert.equal(await bed.store.remove(id), false);
  await assert.rejects(bed.store.stat(id), { reason: 'missing' });
  // What a crash leaves between the two steps: there is no key in it, and it is no object.
  left.fill(0, 0, 8_192);
  await writeFile(path, left);
  await assert.rejects(bed.store.stat(id), { reason: 'missing' });
  await assert.rejects(readAll(bed.store, id, 0, 1), { reason: 'missing' });
  assert.equal(await bed.store.remove(id), true);
  assert.deepEqual(await newFiles(), []);
});

test('one that is read while it is removed is read to its end', async () => {
  const bytes = randomBytes(4 * piece);
  const id = await putBytes(bed.store, bytes);
  const parts: Buffer[] = [];
  for await (const part of bed.store.read(id, 0, bytes.length)) {
    if (parts.length === 0) await bed.store.remove(id);
    parts.push(part);
  }
  assert.ok(Buffer.concat(parts).equals(bytes));
});

test('an id that is none reaches no file', async () => {
  await writeFile(join(bed.folder, 'secret'), 'x');
  for (const id of ['secret', '../secret', '', 'blob_', `blob_${'0'.repeat(23)}/`]) {
    await assert.rejects(bed.store.stat(id), { reason: 'missing' });
    await assert.rejects(bed.store.remove(id), { reason: 'missing' });
    await assert.rejects(readAll(bed.store, id, 0, 1), { reason: 'missing' });
    await assert.rejects(bed.store.put(inChunks(Buffer.alloc(1)), boundsOf({ id })));
  }
});

test('the list has every object with its length, and with a time the older ones', async () => {
  const sized = new Map<string, number>();
  for (const size of sizes) sized.set(await putBytes(bed.store, randomBytes(size)), size);
  const found = new Map<string, ListedBlob>();
  for await (const blob of bed.store.list()) found.set(blob.id, blob);
  for (const [id, size] of sized) assert.equal(found.get(id)?.bytes, size);
  const hourAgoMs = Date.now() - 3_600_000;
  for await (const blob of bed.store.list({ storedBeforeMs: hourAgoMs })) {
    assert.fail(`${blob.id} is young`);
  }
  // An id is as old as its name says, and not older than its file.
  const [young, old] = [0, 1].map(
    (n) => `blob_${(hourAgoMs - 9).toString(16).padStart(12, '0')}01000000000${n}`,
  );
  for (const id of [young, old])
    await bed.store.put(inChunks(Buffer.alloc(9)), boundsOf({ id: id ?? '' }));
  await utimes(join(bed.folder, old ?? ''), hourAgoMs / 1_000 - 9, hourAgoMs / 1_000 - 9);
  const older: string[] = [];
  for await (const { id } of bed.store.list({ storedBeforeMs: hourAgoMs })) older.push(id);
  assert.deepEqual(older, [old]);
  const nowhere = createFileBlobStore({
    folder: join(bed.folder, 'no'),
    sealers: [newSealer()],
    node: 1,
  });
  for await (const blob of nowhere.list()) assert.fail(blob.id);
});

test('a hundred puts and reads at once keep to themselves', async () => {
  const all = Array.from({ length: 100 }, (_, index) => randomBytes(index * 1_733));
  const ids = await Promise.all(all.map((bytes) => putBytes(bed.store, bytes)));
  assert.equal(new Set(ids).size, all.length);
  const found = await Promise.all(
    ids.map((id, index) => readAll(bed.store, id, 0, all[index]?.length ?? 0)),
  );
  for (const [index, bytes] of found.entries()) {
    assert.ok(all[index]?.equals(bytes), `object ${index}`);
  }
  assert.deepEqual(await openFilesOf(bed.folder), []);
});

test('what a crash leaves goes when it is old, or at once when nobody can be writing', async () => {
  const dayAgo = Date.now() / 1_000 - 86_401;
  const id = `${newId('blob', 1)}`;
  const [young, old] = [`${id}.part`, 'blob_000000000000010000000000.part'];
  for (const name of [young, old]) await writeFile(join(bed.folder, name), 'half');
  await utimes(join(bed.folder, old), dayAgo, dayAgo);
  assert.equal(await bed.store.dropUnfinished(86_400_000), 1);
  assert.deepEqual(await newFiles(), [young]);
  assert.equal(await bed.store.dropUnfinished(-1), 1);
  assert.deepEqual(await newFiles(), []);
});
