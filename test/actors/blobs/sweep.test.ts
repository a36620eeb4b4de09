// The upkeep of the blob store. What a row names stays, whatever its age, and what none names goes
// after a day. Nothing goes without the database's answer.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { blobLimits } from '../../../actors/blobs/limits.ts';
import { openBlobStore } from '../../../actors/blobs/store.ts';
import { type BlobUpkeep, rewrapBlobs, sweepBlobs } from '../../../actors/blobs/sweep.ts';
import { findNamedBlobs, namedBlobs } from '../../../db/blobs.ts';
import { speechBlobs } from '../../../db/generations.ts';
import { BlobFault, type BlobStore } from '../../../media/blobs/contract.ts';
import { newId, siblingId } from '../../../runtime/ids.ts';
import { readAll } from '../../media/blobs/store-bed.ts';
import { type BlobBed, openBlobBed } from './bed.ts';

let bed: BlobBed;
before(async () => {
  bed = await openBlobBed();
});
after(() => bed.close());

const warned: object[] = [];
const log = { warn: (details: object) => void warned.push(details) };

function upkeep(change: Partial<BlobUpkeep> = {}): BlobUpkeep {
  const { sql, blobs } = bed;
  // Two pages and a part of one, in the test below.
  return { sql, blobs, clock: Date.now, limits: { ...blobLimits, pageLength: 3 }, log, ...change };
}

test('what a row names stays, what none names goes after a day', async () => {
  const named = [await bed.store(25), await bed.store(1_000), await bed.store(1)];
  for (const id of named) await bed.name(id);
  const young = await bed.store(23);
  const unnamed: string[] = [];
  for (let count = 0; count < 6; count += 1) unnamed.push(await bed.store(25 + count));
  // A row of speech that names another one, and one whose answer has left it.
  const other = await bed.store(30);
  await bed.name(other, { type: 'speech', file: newId('blob', 1) });
  const forgotten = await bed.store(30);
  await bed.forget(await bed.name(forgotten));
  assert.deepEqual(await sweepBlobs(upkeep()), { removed: 8, unfinished: 0, failed: 0 });
  assert.deepEqual((await readdir(bed.folder)).sort(), [...named, young].sort());
  assert.deepEqual(await sweepBlobs(upkeep()), { removed: 0, unfinished: 0, failed: 0 });
  for (const id of [...named, young]) await bed.blobs.remove(id);
});

test('nothing goes while the database gives no answer', async () => {
  const id = await bed.store(48);
  const sql = { unsafe: () => Promise.reject(new Error('away')) } as never;
  await assert.rejects(sweepBlobs(upkeep({ sql })), /away/);
  assert.deepEqual(await readdir(bed.folder), [id]);
  await sweepBlobs(upkeep());
  assert.deepEqual(await readdir(bed.folder), []);
});

test('an object that cannot be removed, or is damaged, keeps no other', async () => {
  const ids = [await bed.store(30), await bed.store(31), await bed.store(32)];
  const [first = '', second = ''] = ids;
  await writeFile(join(bed.folder, first), 'damaged');
  const dayAgo = Date.now() / 1_000 - 90_000;
  await utimes(join(bed.folder, first), dayAgo, dayAgo);
  const blobs: BlobStore = {
    ...bed.blobs,
    remove: (id) =>
      id === second ? Promise.reject(new BlobFault('full', 'read-only')) : bed.blobs.remove(id),
  };
  const swept = await sweepBlobs(upkeep({ blobs }));
  assert.deepEqual(swept, { removed: 2, unfinished: 0, failed: 1 });
  assert.equal(warned.length, 1);
  assert.deepEqual(await readdir(bed.folder), [second]);
  await sweepBlobs(upkeep());
});

test('names are looked up by an index, and rows are told page by page', async () => {
  const ids = await Promise.all([1, 2, 3, 4, 5].map(() => bed.store(1)));
  for (const id of ids) await bed.name(id);
  const former = newId('blob', 1);
  await bed.name(former, { type: 'speech', file: siblingId(former, 'req') });
  assert.deepEqual(await findNamedBlobs(bed.sql, [...ids, former]), new Set(ids));
  assert.deepEqual(await findNamedBlobs(bed.sql, []), new Set());
  const told: string[] = [];
  for await (const row of namedBlobs(bed.sql, 2)) {
    if (!ids.includes(row.blobId)) continue;
    assert.deepEqual([row.noun, row.bytes, row.sha256], ['speech', 1_000, null]);
    assert.equal(row.rowId, siblingId(row.blobId, 'req'));
    told.push(row.blobId);
  }
  assert.deepEqual(told.sort(), ids.sort());
  const plan = await bed.sql.begin(async (transaction) => {
    await transaction`SET LOCAL enable_seqscan = off`;
    await transaction`SET LOCAL plan_cache_mode = force_generic_plan`;
    await transaction.unsafe(`PREPARE named AS ${speechBlobs.named}`);
    return transaction.unsafe<Record<string, string>[]>("EXPLAIN EXECUTE named('{}')");
  });
  const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
  assert.match(lines, /Index Scan using generations_pkey/, lines);
  for (const id of ids) await bed.blobs.remove(id);
});

test('after a rotation every object is under the new key', async () => {
  const content = randomBytes(70_000);
  const ids = [await bed.store(0, content), await bed.store(100, content)];
  const masterKey = randomBytes(32).toString('base64url');
  const { dataDir } = bed;
  const config = { dataDir, previousSecret: bed.masterKey };
  const rotated = openBlobStore({ config, masterKey, node: 1 });
  const damaged = await bed.store(0);
  await writeFile(
    join(bed.folder, damaged),
    (await readFile(join(bed.folder, damaged))).fill(7, 0, 9),
  );
  const earlier = warned.length;
  assert.deepEqual(await rewrapBlobs({ blobs: rotated, log }), { rewrapped: 2, failed: 1 });
  assert.equal(warned.length, earlier + 1);
  assert.deepEqual(await rewrapBlobs({ blobs: rotated, log }), { rewrapped: 0, failed: 1 });
  const next = openBlobStore({ config: { dataDir, previousSecret: null }, masterKey, node: 1 });
  for (const id of ids) assert.ok((await readAll(next, id, 0, content.length)).equals(content));
  for (const id of [...ids, damaged]) await next.remove(id);
});
