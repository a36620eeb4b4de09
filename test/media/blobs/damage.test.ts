// Objects that were changed on the disk. Whatever was flipped, cut, swapped or exchanged is found,
// and nobody gets other bytes than those that were stored.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { BlobFault } from '../../../media/blobs/contract.ts';
import { createFileBlobStore } from '../../../media/blobs/file-store.ts';
import { newId } from '../../../runtime/ids.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { newSealer, openFilesOf, openStoreBed, putBytes, type StoreBed } from './store-bed.ts';

let bed: StoreBed;
let id: string;
let path: string;
/** The file as it was stored. */
let good: Buffer;
before(async () => {
  bed = await openStoreBed();
  id = await putBytes(bed.store, content);
  path = join(bed.folder, id);
  good = await readFile(path);
});
after(() => bed.close());

const piece = 65_536;
const sealed = piece + 16;
const head = 8_192;
const slot = 131;
const content = randomBytes(3 * piece + 1_000);

/** What is read until it ends, which has to be what was stored; and how it ends. */
async function readChanged(bytes: Buffer, from = 0, to = content.length): Promise<string> {
  await writeFile(path, bytes);
  let at = from;
  try {
    for await (const part of bed.store.read(id, from, to)) {
      assert.ok(part.equals(content.subarray(at, at + part.length)), `other bytes at ${at}`);
      at += part.length;
    }
  } catch (error) {
    assert.ok(error instanceof BlobFault, String(error));
    assert.deepEqual(await openFilesOf(bed.folder), []);
    return error.reason;
  }
  assert.equal(at, to);
  return 'whole';
}

function flipped(at: number, bit = 1): Buffer {
  const bytes = Buffer.from(good);
  bytes[at] = (bytes[at] ?? 0) ^ bit;
  return bytes;
}

function piecesOf(bytes: Buffer): Buffer[] {
  const count = Math.ceil((bytes.length - head) / sealed);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(head + index * sealed, head + (index + 1) * sealed),
  );
}

test('the test reads what is good', async () => {
  assert.equal(good.length, head + 3 * sealed + 1_016);
  assert.equal(await readChanged(good), 'whole');
});

test('a flipped bit anywhere in the head is found', async () => {
  for (let at = 0; at < slot; at += 1) {
    const found = await readChanged(flipped(at, 1 << (at % 8)));
    // Another name of the master key cannot be told from one that is not known.
    const isKeyId = at >= 8 && at < 20;
    assert.equal(found, isKeyId ? 'locked' : 'damaged', `byte ${at}`);
    await assert.rejects(bed.store.stat(id), BlobFault);
    await assert.rejects(bed.store.rewrap(id), BlobFault);
  }
});

test('a flipped bit anywhere in a piece is found, and ranges beside it are read', async () => {
  console.log(`# seed ${testSeed}`);
  const random = createRandom(testSeed);
  const chosen = Array.from(
    { length: 60 },
    () => head + Math.floor(random() * (good.length - head)),
  );
  const edges = [0, 1, 2, 3].flatMap((index) => {
    const start = head + index * sealed;
    const end = Math.min(start + sealed, good.length);
    return [start, end - 17, end - 16, end - 1];
  });
  for (const at of [...edges, ...chosen]) {
    const bytes = flipped(at, 1 << (at % 8));
    const index = Math.floor((at - head) / sealed);
    const start = index * piece;
    const end = Math.min(start + piece, content.length);
    assert.equal(await readChanged(bytes, start, end), 'damaged', `byte ${at}`);
    assert.equal(await readChanged(bytes, start, start + 1), 'damaged', `byte ${at}`);
    assert.equal(await readChanged(bytes, 0, start), 'whole', `before byte ${at}`);
    assert.equal(await readChanged(bytes, end, content.length), 'whole', `behind byte ${at}`);
  }
});

test('one that was cut or has grown is found, whatever is read of it', async () => {
  const lengths = [0, 1, slot - 1, slot, head - 1, head, head + 16, head + sealed];
  for (const length of [...lengths, head + 3 * sealed, good.length - 16, good.length - 1]) {
    const found = await readChanged(good.subarray(0, length), 0, 1);
    assert.equal(found, 'damaged', `${length} bytes`);
  }
  assert.equal(await readChanged(Buffer.concat([good, Buffer.alloc(1)]), 0, 1), 'damaged');
  assert.equal(await readChanged(Buffer.concat([good, good.subarray(head)]), 0, 1), 'damaged');
});

test('pieces that change places, or come twice, are found', async () => {
  const [first, second, third, last] = piecesOf(good) as [Buffer, Buffer, Buffer, Buffer];
  const start = good.subarray(0, head);
  const swapped = Buffer.concat([start, second, first, third, last]);
  assert.equal(await readChanged(swapped), 'damaged');
  assert.equal(await readChanged(swapped, 2 * piece), 'whole');
  const twice = Buffer.concat([start, first, first, third, last]);
  assert.equal(await readChanged(twice, 0, piece), 'whole');
  assert.equal(await readChanged(twice, piece, piece + 1), 'damaged');
  // The last one as another, and another as the last one.
  const padded = Buffer.concat([last, Buffer.alloc(sealed - last.length)]);
  assert.equal(await readChanged(Buffer.concat([start, first, second, padded, last])), 'damaged');
});

test('a piece, or a whole file, of another object is found', async () => {
  const other = await readFile(join(bed.folder, await putBytes(bed.store, content)));
  const [first] = piecesOf(other) as [Buffer];
  const mixed = Buffer.from(good);
  first.copy(mixed, head);
  assert.equal(await readChanged(mixed), 'damaged');
  assert.equal(await readChanged(mixed, piece), 'whole');
  assert.equal(await readChanged(other), 'damaged', 'the file of another name');
  const heads = Buffer.concat([other.subarray(0, head), good.subarray(head)]);
  assert.equal(await readChanged(heads), 'damaged', 'the head of another name');
  const elsewhere = newId('blob', 1);
  await writeFile(path, good);
  await rename(path, join(bed.folder, elsewhere));
  await assert.rejects(bed.store.stat(elsewhere), { reason: 'damaged' });
  await assert.rejects(bed.store.stat(id), { reason: 'missing' });
});

test('what lies between the slots and the pieces is never read', async () => {
  for (const at of [slot, 4_095, 4_096, 4_096 + slot, head - 1]) {
    assert.equal(await readChanged(flipped(at)), 'whole', `byte ${at}`);
  }
});

test('another master key opens nothing, and says so', async () => {
  await writeFile(path, good);
  const store = createFileBlobStore({ folder: bed.folder, sealers: [newSealer()], node: 1 });
  await assert.rejects(store.stat(id), { reason: 'locked' });
  await assert.rejects(store.read(id, 0, 1).next(), { reason: 'locked' });
  assert.equal(await store.remove(id), true, 'it goes all the same');
});
