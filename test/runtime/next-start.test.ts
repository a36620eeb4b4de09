// The next start, through the real entry, after something has happened meanwhile. Administrators
// have changed what TOLLGATE_CONFIG declares, or a newer build has migrated the database.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createDirectWallet } from '../../actors/wallet/direct.ts';
import { walletLimits } from '../../actors/wallet/limits.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { makeAccount } from '../harness/account.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';

type Members = Record<string, unknown>;

const program = fileURLToPath(new URL('../../runtime/start.js', import.meta.url));
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const provider = { name: 'one', family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' };
const price = (output: string) => ({ input_per_million: '1', output_per_million: output });
const model = (alias: string, output: string) => ({
  alias,
  routes: [{ provider: 'one', upstream_model: alias }],
  price: price(output),
});
const file = (output: string) => ({
  providers: [{ ...provider, api_key: 'sk-declared' }],
  models: [model('priced', output), model('disabled', '2'), model('deleted', '2')],
});

let database: TestDatabase;
let sql: Sql;
let folder: string;
let gateway: Gateway;
let env: Record<string, string>;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
  folder = await mkdtemp(join(tmpdir(), 'tollgate-next-'));
  await sql`INSERT INTO migrations (name, checksum) VALUES ('0900-newer-adds.sql', 'x')`;
  env = {
    DATABASE_URL: database.url,
    TOLLGATE_SECRET: randomBytes(32).toString('base64url'),
    TOLLGATE_CONFIG: join(folder, 'catalog.json'),
  };
  await declare(file('2'));
  gateway = await startGateway({ env, shards: 1 });
});
after(async () => {
  await gateway?.close();
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

async function declare(document: Members): Promise<void> {
  await writeFile(join(folder, 'catalog.json'), JSON.stringify(document));
}

async function plan(): Promise<{ code: number; lines: string[]; errors: string }> {
  return new Promise((resolve) => {
    const own = { PATH: process.env.PATH ?? '', TOLLGATE_DATA: gateway.dataDir };
    const options = { env: { ...own, ...env }, timeout: 60_000 };
    execFile(process.execPath, [program, '--plan'], options, (error, output, errors) => {
      const lines = output.split('\n').filter((line) => line !== '');
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), lines, errors });
    });
  });
}

/** Public models with what a million output tokens cost, and the version of the whole. */
async function offered({ url }: Gateway): Promise<Members> {
  const reply = await fetch(`${url}/api/public/models`);
  const { models, content_version } = (await reply.json()) as {
    models: { alias: string; credits_per_million_output: number }[];
    content_version: string;
  };
  const prices = models.map((each) => [each.alias, each.credits_per_million_output]);
  return { ...Object.fromEntries(prices), content_version };
}

async function counted(): Promise<unknown> {
  const [row] = await sql`SELECT (SELECT count(*)::int FROM audit_events) AS events,
    (SELECT sum(revision)::int FROM models) AS models,
    (SELECT sum(revision)::int FROM providers) AS providers`;
  return row;
}

test('what an administrator changes stays until the file changes, at any start', async () => {
  const wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log });
  const admin = await makeAccount({ baseUrl: gateway.url, sql, wallet }, { admin: true });
  const headers = { 'x-svc-session': admin.sessionToken, 'content-type': 'application/json' };
  const call = async (method: string, path: string, body?: Members): Promise<Members> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const url = `${gateway.url}/api/admin/models/${path}`;
    const reply = await fetch(url, { method, headers, ...sent });
    assert.equal(reply.status, 200, path);
    return (await reply.json()) as Members;
  };
  const patched = await call('PATCH', 'priced', { price: price('5') });
  await call('POST', 'disabled/disable');
  await call('DELETE', 'deleted');
  const changed = await offered(gateway);
  assert.deepEqual(Object.keys(changed), ['priced', 'content_version']);
  const before = await counted();
  await gateway.killMain();
  assert.deepEqual(await offered(gateway), changed, 'after a crash');
  const second = await startGateway({ env, shards: 1 });
  try {
    assert.deepEqual(await offered(second), changed, 'in a second process');
  } finally {
    await second.close();
  }
  assert.equal(await gateway.stop(), 0);
  await gateway.start();
  assert.deepEqual(await offered(gateway), changed, 'after a start');
  assert.deepEqual(await counted(), before, 'nothing was applied');
  const { declaration } = patched.model as { declaration: Members };
  assert.deepEqual([declaration.wins, declaration.until], ['administrator', 'declaration_changes']);
  await declare(file('3'));
  const { lines } = await plan();
  assert.ok(lines[0]?.startsWith('~ model priced: price'), lines.join());
  assert.equal(await gateway.stop(), 0);
  await gateway.start();
  const applied = await offered(gateway);
  assert.notEqual(applied.priced, changed.priced);
  assert.deepEqual(Object.keys(applied), ['priced', 'content_version'], 'the others stand');
});

test('on a database that a newer build has migrated it starts and warns, or refuses', async () => {
  const warnings = gateway.logs.filter((line) => line.includes('a newer build has migrated'));
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
