// What the next start makes of what has happened to the database meanwhile, through the real entry:
// a newer build has migrated it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Sql } from '../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';

const program = fileURLToPath(new URL('../../runtime/start.js', import.meta.url));
const secret = randomBytes(32).toString('base64url');

let database: TestDatabase;
let sql: Sql;
let gateway: Gateway;
let env: Record<string, string>;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 1);
  env = { DATABASE_URL: database.url, TOLLGATE_SECRET: secret };
  await sql`INSERT INTO migrations (name, checksum) VALUES ('0900-newer-adds.sql', 'x')`;
  gateway = await startGateway({ env, shards: 1 });
});
after(async () => {
  await gateway?.close();
  await database?.close();
});

async function plan(): Promise<{ code: number; errors: string }> {
  return new Promise((resolve) => {
    const own = { PATH: process.env.PATH ?? '', TOLLGATE_DATA: gateway.dataDir };
    const options = { env: { ...own, ...env }, timeout: 60_000 };
    execFile(process.execPath, [program, '--plan'], options, (error, _output, errors) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), errors });
    });
  });
}

test('on a database that a newer build has migrated it starts and warns, or refuses', async () => {
  const warnings = gateway.logs.filter((line) => line.includes('a newer build has migrated'));
  assert.equal(warnings.length, 1);
  assert.ok(warnings[0]?.includes('0900-newer-adds.sql'));
  assert.equal((await plan()).code, 0);
  assert.equal(await gateway.stop(), 0);
  await sql`UPDATE migrations SET needs = '999.0.0' WHERE name = '0900-newer-adds.sql'`;
  const count = gateway.logs.length;
  await assert.rejects(gateway.start(), /the gateway ended \(1\)/);
  const lines = gateway.logs.slice(count);
  const told = lines.filter((line) => line.includes('0900-newer-adds.sql'));
  assert.equal(told.length, 1, lines.join('\n'));
  assert.match(told[0] ?? '', /^tollgate cannot run: .* needs 999\.0\.0 or later, .* backup/);
  const planned = await plan();
  assert.equal(planned.code, 1);
  assert.match(planned.errors, /^tollgate cannot run: .*0900-newer-adds\.sql/);
});
