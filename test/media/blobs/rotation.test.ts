// A new master key: objects are wrapped anew, their pieces stay, and no crash loses a key.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createFileBlobStore } from '../../../media/blobs/file-store.ts';
import { newSealer, openStoreBed, putBytes, readAll, type StoreBed } from './store-bed.ts';

let bed: StoreBed;
before(async () => {
  bed = await openStoreBed();
});
after(() => bed.close());

const content = randomBytes(100_000);
const slotAt = 4_096;
const head = 8_192;

/** The store after a rotation, the one that knows the new key alone, and the next one. */
function rotatedStores() {
  const [second, third] = [newSealer(), newSealer()];
  const { folder, sealer: first } = bed;
  return {
    both: createFileBlobStore({ folder, sealers: [second, first], node: 1 }),
    next: createFileBlobStore({ folder, sealers: [second], node: 1 }),
    last: createFileBlobStore({ folder, sealers: [third, second], node: 1 }),
  };
}

test('an object is read before and after its key is wrapped anew, its pieces stay', async () => {
  const { both, next, last } = rotatedStores();
  const id = await putBytes(bed.store, content);
  const path = join(bed.folder, id);
  await utimes(path, 1_000_000, 1_000_000);
  const before = await readFile(path);
  assert.ok((await readAll(both, id, 0, content.length)).equals(content));
  assert.equal(await both.rewrap(id), true);
  assert.equal(await both.rewrap(id), false);
  const rewrapped = await readFile(path);
  assert.ok(rewrapped.subarray(head).equals(before.subarray(head)), 'the pieces are as they were');
  assert.equal((await stat(path)).mtimeMs, 1_000_000_000, 'it is as old as before');
  assert.ok((await readAll(next, id, 0, content.length)).equals(content));
  await assert.rejects(bed.store.stat(id), { reason: 'locked' }, 'the old key opens nothing');
  assert.ok(
    rewrapped.subarray(0, slotAt).every((byte) => byte === 0),
    'the old wrap is wiped',
  );
  // The next rotation takes the slot that is free.
  assert.equal(await last.rewrap(id), true);
  assert.ok((await readAll(last, id, 0, content.length)).equals(content));
  await assert.rejects(next.stat(id), { reason: 'locked' });
  assert.equal(await last.remove(id), true);
});

test('a crash at any moment leaves a key that opens, and the next round goes on', async () => {
  const { both, next } = rotatedStores();
  const id = await putBytes(bed.store, content);
  const path = join(bed.folder, id);
  const before = await readFile(path);
  await both.rewrap(id);
  const done = await readFile(path);
  const merge = (first: Buffer, second: Buffer) =>
    Buffer.concat([first.subarray(0, slotAt), second.subarray(slotAt)]);
  const torn = merge(before, done);
  torn.fill(0, slotAt + 60, head);
  const tornWipe = merge(before, done);
  tornWipe.fill(0, 0, 60);
  const crashes = {
    before,
    'half a slot': torn,
    'both slots': merge(before, done),
    tornWipe,
    done,
  };
  for (const [moment, bytes] of Object.entries(crashes)) {
    await writeFile(path, bytes);
    assert.ok((await readAll(both, id, 0, content.length)).equals(content), moment);
    await both.rewrap(id);
    assert.ok((await readFile(path)).equals(done), `${moment}: it ends as without a crash`);
    assert.ok((await readAll(next, id, 0, content.length)).equals(content), moment);
  }
});

test('two that wrap at once write the same, and readers beside them notice nothing', async () => {
  const { both, next } = rotatedStores();
  const id = await putBytes(bed.store, content);
  let isOver = false;
  const reading = (async () => {
    let count = 0;
    for (; !isOver; count += 1) {
      assert.ok((await readAll(both, id, 0, content.length)).equals(content));
    }
    return count;
  })();
  await Promise.all(Array.from({ length: 8 }, () => both.rewrap(id)));
  isOver = true;
  assert.ok((await reading) > 0);
  assert.ok((await readAll(next, id, 0, content.length)).equals(content));
});

test('a rotation of what is gone is told', async () => {
  const { both } = rotatedStores();
  const id = await putBytes(bed.store, content);
  await bed.store.remove(id);
  await assert.rejects(both.rewrap(id), { reason: 'missing' });
});
