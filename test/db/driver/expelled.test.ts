// A server that is there, and lets nobody in any more.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { classifyError, closePool, openPool } from '../../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(async () => {
  await database.close();
});

test('a server that lets nobody in any more is an outage, whatever its reason', async () => {
  const admin = database.pool('general', 1);
  const role = `expelled_${Date.now()}`;
  const name = `${role}_database`;
  const own = new URL(database.url.replace(/\?.*/, '')).pathname;
  const url = database.url.replace(/\/\/[^@]*@/, `//${role}@`).replace(own, `/${name}`);
  await admin.unsafe(`CREATE ROLE ${role} LOGIN`);
  await admin.unsafe(`CREATE DATABASE ${name}`);
  const ask = async () => {
    const options = { connectionsMax: 1, statementTimeoutMs: 4_000 };
    const sql = openPool({ url, purpose: 'general', ...options });
    const told = await sql`SELECT 1`.then(() => null, classifyError);
    await closePool(sql, 1_000);
    return told;
  };
  try {
    assert.equal(await ask(), null);
    for (const [out, back] of [
      [`ROLE ${role} NOLOGIN`, `ROLE ${role} LOGIN`],
      [`DATABASE ${name} ALLOW_CONNECTIONS false`, `DATABASE ${name} ALLOW_CONNECTIONS true`],
      [`DATABASE ${name} RENAME TO ${name}_old`, `DATABASE ${name}_old RENAME TO ${name}`],
    ]) {
      await admin.unsafe(`ALTER ${out}`);
      assert.equal(await ask(), 'unavailable', out);
      await admin.unsafe(`ALTER ${back}`);
    }
    await admin.unsafe(`REVOKE CONNECT ON DATABASE ${name} FROM public`);
    assert.equal(await ask(), 'unavailable', 'not granted');
  } finally {
    await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.unsafe(`DROP ROLE ${role}`);
  }
});
