// What is pushed at a put: it says when to wait, and what it was given comes out again.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type BlobWriter, writeBlob } from '../../../media/blobs/writer.ts';
import { newId } from '../../../runtime/ids.ts';
import { openStoreBed, readAll, type StoreBed } from './store-bed.ts';

let bed: StoreBed;
before(async () => {
  bed = await openStoreBed();
});
after(() => bed.close());

function open(bytesMax = 10_000_000): { id: string; writer: BlobWriter; heard: string[] } {
  const id = newId('blob', 1);
  const heard: string[] = [];
  const writer = writeBlob(bed.store, {
    id,
    bytesMax,
    onDrain: () => heard.push('drain'),
    onLost: (error) => heard.push((error as { reason?: string }).reason ?? String(error)),
  });
  return { id, writer, heard };
}

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await check())) {
    assert.ok(performance.now() < deadline, 'not in time');
    await turn();
  }
}

test('a writer that waits when it is told gets all of it stored', async () => {
  const { id, writer, heard } = open();
  const content = randomBytes(1_000_000);
  let waits = 0;
  for (let at = 0; at < content.length; at += 9_999) {
    if (writer.write(content.subarray(at, at + 9_999))) continue;
    const drains = heard.length;
    waits += 1;
    await until(() => heard.length > drains);
  }
  const stored = await writer.finish();
  assert.deepEqual([stored?.id, stored?.bytes], [id, content.length]);
  assert.ok((await readAll(bed.store, id, 0, content.length)).equals(content));
  assert.ok(waits >= 10, `${waits} waits`);
  assert.deepEqual(new Set(heard), new Set(['drain']));
});

test('nothing was written, and it is an object all the same', async () => {
  const { id, writer } = open();
  assert.equal((await writer.finish())?.bytes, 0);
  assert.equal((await bed.store.stat(id)).bytes, 0);
});

test('what is discarded leaves nothing, whenever that is', async () => {
  const early = open();
  early.writer.discard();
  const late = open();
  assert.equal(late.writer.write(randomBytes(200_000)), false);
  await until(async () => (await readdir(bed.folder)).some((name) => name.startsWith(late.id)));
  late.writer.discard();
  const ended = open();
  ended.writer.write(randomBytes(10));
  const finishing = ended.writer.finish();
  ended.writer.discard();
  assert.equal(await finishing, null);
  const ids = [early, late, ended].map(({ id }) => id);
  await until(async () =>
    (await readdir(bed.folder)).every((name) => !ids.includes(name.slice(0, 29))),
  );
  assert.ok([early, late, ended].every(({ heard }) => !heard.includes('missing')));
  assert.equal(late.writer.write(randomBytes(1)), true, 'it waits for nothing any more');
});

test('what cannot be kept is told once, and whoever waits is let on', async () => {
  const { id, writer, heard } = open(100_000);
  while (writer.write(randomBytes(50_000))) await turn();
  await until(() => heard.includes('too_large') || heard.at(-1) === 'drain');
  while (!heard.includes('too_large')) {
    writer.write(randomBytes(50_000));
    await turn();
  }
  assert.equal(writer.write(randomBytes(1)), true);
  assert.equal(await writer.finish(), null);
  assert.equal(heard.filter((word) => word === 'too_large').length, 1);
  await assert.rejects(bed.store.stat(id), { reason: 'missing' });
});
