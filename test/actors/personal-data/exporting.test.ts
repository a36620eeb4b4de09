// Making an export: page by page in bounded memory, gone on with by another after a crash, and
// given up in the end.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { archiveOf } from '../../../actors/personal-data/archive.ts';
import { makeExport } from '../../../actors/personal-data/exporting.ts';
import { sweepExports, sweepOldExports } from '../../../actors/personal-data/rounds.ts';
import { createExport, findExport, takeExport } from '../../../db/accounts/exports.ts';
import type { Queryable } from '../../../db/driver/sql.ts';
import { newId } from '../../../runtime/ids.ts';
import { readZip } from '../../harness/zip.ts';
import { listBlobs, openStage, type Stage } from './stage.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(() => stage?.close());

type Members = Record<string, unknown>;
const never = new AbortController().signal;
const times = { periodMs: 86_400_000, keptMs: 7 * 86_400_000 };

async function asked(accountId: string): Promise<string> {
  const id = newId('exp', 0);
  await stage.sql.begin((transaction) => createExport(transaction, { id, accountId }, times));
  return id;
}

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

async function left(id: string): Promise<boolean> {
  const found: string[] = [];
  await sweepExports(stage.sql, (each) => found.push(each.id), stage.deps.limits);
  return found.includes(id);
}

test('every row is there once, however small the pages are', async () => {
  const accountId = await stage.account(17);
  await stage.account(3);
  const of = async (pageRowsMax: number, pageBytesMax: number) => {
    const limits = { pageRowsMax, pageBytesMax };
    const zip = readZip(await bytesOf(archiveOf({ sql: stage.sql, accountId, limits })));
    return Object.fromEntries([...zip].map(([name, file]) => [name, JSON.parse(`${file}`)]));
  };
  const whole = await of(1_000, 1_000_000);
  const count = (file: string) => whole[`${file}.json`]?.[file]?.length;
  assert.deepEqual(
    [count('generations'), count('responses'), count('conversations')],
    [17, 17, 34],
  );
  assert.deepEqual(await of(5, 1_000_000), whole);
  assert.deepEqual(await of(1_000, 1), whole, 'a row is there although it is beyond the bytes');
});

test('no page is much longer than it may be', async () => {
  const accountId = await stage.account(40);
  const long = 'x'.repeat(50_000);
  await stage.sql`
    UPDATE generations SET answer = json_build_object('text', ${long}::text)
    WHERE account_id = ${accountId}`;
  const pages: number[] = [];
  const watched = {
    unsafe: async (text: string, parameters: string[]) => {
      const rows = await stage.sql.unsafe<{ item: string }[]>(text, parameters);
      pages.push(rows.reduce((sum, { item }) => sum + item.length, 0));
      return rows;
    },
  } as unknown as Queryable;
  const limits = { pageRowsMax: 200, pageBytesMax: 200_000 };
  const zip = readZip(await bytesOf(archiveOf({ sql: watched, accountId, limits })));
  assert.ok((zip.get('generations.json')?.length ?? 0) > 2_000_000);
  assert.ok(Math.max(...pages) < 300_000, `${Math.max(...pages)}`);
});

test('what breaks while it is read or stored leaves no file, and is begun again', async () => {
  const accountId = await stage.account(2);
  const id = await asked(accountId);
  const blobsBefore = await listBlobs(stage.blobs);
  let reads = 0;
  const failing = (...given: Parameters<typeof stage.sql.unsafe>) => {
    reads += 1;
    if (reads > 9) throw new Error('the database is away');
    return stage.sql.unsafe(...given);
  };
  const broken = new Proxy(stage.sql, {
    get: (target, name) => (name === 'unsafe' ? failing : Reflect.get(target, name)),
  });
  const outcome = await makeExport({ ...stage.deps, sql: broken }, id, never);
  assert.equal(outcome, 'left');
  assert.ok(reads > 9);
  assert.deepEqual(await listBlobs(stage.blobs), blobsBefore);
  const small = { ...stage.deps.limits, archiveBytesMax: 100 };
  assert.equal(await makeExport({ ...stage.deps, limits: small }, id, never), 'left');
  assert.deepEqual(await listBlobs(stage.blobs), blobsBefore);
  assert.ok(await left(id), 'a round finds it');
  assert.equal(await makeExport(stage.deps, id, never), 'ready');
  const { file, expiresAt } = (await findExport(stage.sql, accountId, id)) ?? {};
  assert.ok(file);
  const written = stage.mails.filter(({ mail }) => mail.accountId === accountId);
  assert.deepEqual(
    written.map(({ mail, isSent }) => [mail.to, mail.mail.template, mail.expiresAt, isSent]),
    [[`${accountId}@example.test`, 'export_ready', expiresAt, true]],
  );
  const zip = readZip(await bytesOf(stage.blobs.read(file.blobId, 0, file.bytes)));
  assert.equal((JSON.parse(`${zip.get('account.json')}`).accounts as Members[])[0]?.id, accountId);
});

test('who was overtaken stores nothing, and another goes on', async () => {
  const accountId = await stage.account(1);
  const id = await asked(accountId);
  const dead = await takeExport(stage.sql, id, stage.deps.limits);
  assert.ok(dead !== null);
  assert.equal(await makeExport(stage.deps, id, never), 'taken', 'its lease has not lapsed');
  assert.ok(!(await left(id)));
  await stage.sql`UPDATE account_exports SET lease_until = now() WHERE id = ${id}`;
  const blobsBefore = (await listBlobs(stage.blobs)).length;
  // It is taken from this one in the middle of its work.
  const steal = {
    ...stage.deps,
    blobs: {
      ...stage.blobs,
      put: async (...given: Parameters<Stage['blobs']['put']>) => {
        const stored = await stage.blobs.put(...given);
        await stage.sql`UPDATE account_exports SET epoch = epoch + 1 WHERE id = ${id}`;
        return stored;
      },
    },
  };
  assert.equal(await makeExport(steal, id, never), 'taken');
  assert.equal((await listBlobs(stage.blobs)).length, blobsBefore, 'its file is removed');
  await stage.sql`UPDATE account_exports SET lease_until = now() WHERE id = ${id}`;
  assert.equal(await makeExport(stage.deps, id, never), 'ready');
});

test('one that breaks too often fails, and so does one of an account that is deleted', async () => {
  const accountId = await stage.account(1);
  const id = await asked(accountId);
  const small = { ...stage.deps.limits, archiveBytesMax: 100 };
  const statuses: (string | undefined)[] = [];
  for (let tries = 0; tries <= small.triesMax; tries += 1) {
    await makeExport({ ...stage.deps, limits: small }, id, never);
    statuses.push((await findExport(stage.sql, accountId, id))?.status);
  }
  assert.deepEqual(statuses, [...Array(small.triesMax).fill('running'), 'failed']);
  const other = await stage.account(1);
  const late = await asked(other);
  await stage.deleted(other, 0);
  assert.equal(await makeExport(stage.deps, late, never), 'taken');
  assert.equal((await findExport(stage.sql, other, late))?.status, 'failed');
});

test('a stop leaves it to the next process at once', async () => {
  const id = await asked(await stage.account(1));
  assert.equal(await makeExport(stage.deps, id, AbortSignal.abort()), 'left');
  assert.ok(await left(id));
});

test('a copy whose time is over goes with its file', async () => {
  const accountId = await stage.account(0);
  const id = await asked(accountId);
  assert.equal(await makeExport(stage.deps, id, never), 'ready');
  const blobsBefore = (await listBlobs(stage.blobs)).length;
  assert.equal(await sweepOldExports(stage.sql, stage.blobs, stage.deps.limits), 0);
  await stage.sql`UPDATE account_exports SET expires_at = now() WHERE id = ${id}`;
  assert.equal(await sweepOldExports(stage.sql, stage.blobs, stage.deps.limits), 1);
  assert.equal((await listBlobs(stage.blobs)).length, blobsBefore - 1);
  assert.equal(await findExport(stage.sql, accountId, id), null);
});
