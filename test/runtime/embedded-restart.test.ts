// A database that ends by itself and at first cannot be started again, as where memory is short, or
// whose first start was killed.
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseAnswers } from '../../db/driver/health.ts';
import { openPool } from '../../db/driver/sql.ts';
import { startDatabase } from '../../runtime/embedded/database.ts';
import { startPostmaster } from '../../runtime/embedded/postmaster.ts';
import { createGate } from '../../runtime/gate.ts';

const folder = await mkdtemp(join(tmpdir(), 'tollgate-pg-'));
// The database user has to pass through it.
await chmod(folder, 0o711);
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
after(() => rm(folder, { recursive: true, force: true }));

test('a database that cannot be started again at once is started when it can', async () => {
  const dataDir = join(folder, 'data');
  const quiet = () => undefined;
  const refused = createGate<void>();
  const error = (_: object, message: string) => {
    if (message.includes('trying again')) refused.open();
  };
  const log = { debug: quiet, info: quiet, warn: quiet, error };
  const failed = createGate<Error>();
  const database = await startDatabase({ dataDir, log, onFailure: failed.open });
  const { url } = database;
  const sql = openPool({ url, purpose: 'general', connectionsMax: 1, statementTimeoutMs: 1_000 });
  try {
    assert.notEqual(await databaseAnswers(sql, 60_000), null);
    const settings = join(dataDir, 'pg', 'postgresql.conf');
    await rename(settings, `${settings}.away`);
    const [pid] = (await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    const failure = await Promise.race([refused.opened, failed.opened]);
    assert.equal(failure, undefined);
    await rename(`${settings}.away`, settings);
    while ((await databaseAnswers(sql, 1_000)) === null) await sleep(50);
  } finally {
    await sql.end({ timeout: 1 });
    await database.stop();
  }
});

test('a first start goes on beside the initdb of one that was killed', async () => {
  const dataDir = join(folder, 'first');
  await mkdir(dataDir, { mode: 0o711 });
  let isOver = false;
  const orphan = (async () => {
    for (let index = 0; !isOver; index += 1) {
      // Either fails when the folder is removed meanwhile.
      const global = join(dataDir, 'pg.new', 'global');
      await mkdir(global, { recursive: true }).catch(() => undefined);
      await writeFile(join(global, `${index}`), '').catch(() => undefined);
    }
  })();
  const database = await startDatabase({ dataDir, log: silent }).finally(() => {
    isOver = true;
    return orphan;
  });
  const { url } = database;
  const sql = openPool({ url, purpose: 'general', connectionsMax: 1, statementTimeoutMs: 1_000 });
  try {
    assert.notEqual(await databaseAnswers(sql, 60_000), null);
  } finally {
    await sql.end({ timeout: 1 });
    await database.stop();
  }
});

test('why a server does not start is what it says of itself, not of our probes', async () => {
  const postgres = join(folder, 'postgres');
  const reasons = ['could not write to file', 'the database system is starting up'];
  const said = reasons.map((reason) => `echo 'FATAL:  ${reason}' >&2`);
  await writeFile(postgres, ['#!/bin/sh', ...said, 'exit 1', ''].join('\n'));
  await chmod(postgres, 0o755);
  const place = { folder, socketDir: folder, socketPath: join(folder, 'none'), identity: null };
  const cluster = { ...place, binaries: { initdb: '', postgres, version: '18' } };
  const nothing = () => undefined;
  const started = startPostmaster(cluster, {}, nothing, { onRecovering: nothing });
  await assert.rejects(started, /did not start: FATAL: {2}could not write to file$/);
});
