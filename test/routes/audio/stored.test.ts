// A kept speech that is told again: its file is open while a client takes it, and not else.
import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { storedSpeech } from '../../../routes/audio/stored.ts';
import type { Services } from '../../../routes/services.ts';
import { newId } from '../../../runtime/ids.ts';
import { piece } from '../../harness/audio-provider.ts';
import { openFilesOf, openStoreBed, putBytes, type StoreBed } from '../../media/blobs/store-bed.ts';
import { type Serving, serve, testRoute, until } from '../../runtime/http/serving.ts';

const warned: object[] = [];
let bed: StoreBed;
let services: Services;
let serving: Serving;
let one: string;
before(async () => {
  bed = await openStoreBed();
  one = await putBytes(bed.store, piece);
  const log = { warn: (details: object) => warned.push(details) };
  const audio = { blobs: bed.store, formerFolder: bed.folder };
  services = { audio, log } as unknown as Services;
  serving = await serve([
    testRoute({ path: '/v1/stored', handle: () => told(one) }),
    testRoute({ path: '/v1/former', handle: () => told('req_former') }),
  ]);
});
after(async () => {
  await serving.stop();
  await bed.close();
});

function told(file: string, bytes = piece.length) {
  const stored = { type: 'speech', file, media_type: 'audio/mpeg', bytes } as const;
  return storedSpeech(services, stored, {});
}

const onlyLinux = { skip: process.platform !== 'linux' };

async function untilClosed(): Promise<void> {
  const deadline = performance.now() + 30_000;
  while ((await openFilesOf(bed.folder)).length > 0) {
    assert.ok(performance.now() < deadline, 'still open');
  }
}

test('nothing stays open of a reply that its client has not waited for', onlyLinux, async () => {
  await told(one);
  assert.deepEqual(await openFilesOf(bed.folder), []);
});

test('nothing stays open of one that was read', onlyLinux, async () => {
  const reply = await fetch(`${serving.origin}/v1/stored`);
  assert.deepEqual(Buffer.from(await reply.arrayBuffer()), piece);
  await untilClosed();
});

test('what a build without a blob store has kept is told as well', onlyLinux, async () => {
  await writeFile(join(bed.folder, 'req_former'), piece);
  const reply = await fetch(`${serving.origin}/v1/former`);
  assert.deepEqual(Buffer.from(await reply.arrayBuffer()), piece);
  await untilClosed();
  await rm(join(bed.folder, 'req_former'));
  await assert.rejects(told('req_former'), { code: 'conflict' });
});

test('a long one is poured as its client takes it, and closed when that leaves', async () => {
  const id = await putBytes(bed.store, Buffer.alloc(4_000_000, 'x'));
  const reply = await told(id, 4_000_000);
  assert.ok('pour' in reply);
  const listeners: Record<'drain' | 'close', () => void> = { drain: () => {}, close: () => {} };
  let written = 0;
  reply.pour({
    write: (bytes: Uint8Array) => {
      written += bytes.length;
      return false;
    },
    end: () => assert.fail('it has left'),
    fail: () => assert.fail('nothing is wrong'),
    onDrain: (listener: () => void) => {
      listeners.drain = listener;
    },
    onClose: (listener: () => void) => {
      listeners.close = listener;
    },
  } as never);
  await until(() => written === 65_536);
  listeners.drain();
  await until(() => written === 2 * 65_536);
  assert.equal((await openFilesOf(bed.folder)).length, 1);
  listeners.close();
  await untilClosed();
  assert.equal(written, 2 * 65_536);
});

test('one that is gone is a conflict, one that cannot be read is not told', async () => {
  await assert.rejects(told(newId('blob', 1)), { code: 'conflict' });
  await assert.rejects(told(one, piece.length + 1), { code: 'conflict' }, 'half of it is none');
  const path = join(bed.folder, one);
  const whole = await readFile(path);
  await writeFile(path, whole.subarray(0, -1));
  await assert.rejects(told(one), { code: 'dependency_unavailable' });
  assert.equal(warned.length, 1);
  await writeFile(path, whole);
});

test('one that goes meanwhile is cut', async () => {
  const id = await putBytes(bed.store, piece);
  const reply = await told(id);
  await bed.store.remove(id);
  assert.ok('pour' in reply);
  const ends: string[] = [];
  const earlier = warned.length;
  reply.pour({
    write: () => true,
    end: () => void ends.push('end'),
    fail: () => void ends.push('fail'),
    onDrain: () => {},
    onClose: () => {},
  } as never);
  await until(() => ends.length > 0);
  assert.deepEqual([ends, warned.length - earlier], [['fail'], 1]);
  assert.equal((await readdir(bed.folder)).includes(id), false);
});
