// Pools of postgres.js: what a connection does by itself, and what becomes of one that is cut.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { classifyError, closePool, openPool, parseDatabaseUrl } from '../../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
let folder: string;
before(async () => {
  database = await openTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'tollgate-pool-'));
});
after(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

/** What a server says that is shut down: ErrorResponse with sqlstate 57P01. */
function goodbye(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0');
  const head = Buffer.from('E____');
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

/** Stands before the server, and cuts the first connection at what it sends once it is in. */
async function cutting(): Promise<Server> {
  const { host, port } = parseDatabaseUrl(database.url);
  let hasCut = false;
  const server = createServer((client: Socket) => {
    const upstream = connect(join(host, `.s.PGSQL.${port}`));
    let isIn = false;
    client.on('close', () => upstream.destroy());
    for (const socket of [client, upstream]) socket.on('error', () => client.destroy());
    upstream.on('data', (bytes) => {
      isIn = true;
      client.write(bytes);
    });
    client.on('data', (bytes) => {
      if (!isIn || hasCut) return upstream.write(bytes);
      hasCut = true;
      client.end(goodbye());
      return upstream.destroy();
    });
  });
  await once(server.listen(join(folder, `.s.PGSQL.${port}`)), 'listening');
  return server;
}

for (const purpose of ['general', 'ledger'] as const) {
  test(`a ${purpose} connection cut as it begins fails queries, and nothing escapes`, async () => {
    const server = await cutting();
    const { host } = parseDatabaseUrl(database.url);
    const url = database.url.replace(encodeURIComponent(host), encodeURIComponent(folder));
    assert.equal(parseDatabaseUrl(url).host, folder);
    const sql = openPool({ url, purpose, connectionsMax: 1, statementTimeoutMs: 5_000 });
    try {
      const failures: string[] = [];
      let rows: { texts: unknown }[] = [];
      while (rows.length === 0 && failures.length < 100) {
        rows = await sql<{ texts: unknown }[]>`
          SELECT ARRAY['a', NULL, 'b"\\c,{}', '', 'NULL'] AS texts`.catch((error: unknown) => {
          failures.push(classifyError(error));
          return sleep(10, []);
        });
      }
      assert.deepEqual([...new Set(failures)], ['unavailable']);
      assert.deepEqual(rows[0]?.texts, ['a', null, 'b"\\c,{}', '', 'NULL']);
    } finally {
      await closePool(sql, 1_000);
      server.close();
    }
  });
}

test('a query that has its answer or its error keeps nothing it was asked with', async () => {
  const sql = openPool({
    url: database.url,
    purpose: 'general',
    connectionsMax: 1,
    statementTimeoutMs: 5_000,
  });
  const kept = (query: unknown) => {
    const { args, parameters, string, signature } = query as Record<string, unknown>;
    return { args, parameters, string, signature };
  };
  const nothing = { args: null, parameters: null, string: null, signature: null };
  try {
    for (const prepare of [true, false]) {
      const good = sql.unsafe('SELECT $1::text AS told', ['x'.repeat(10_000)], { prepare });
      const [row] = await good;
      assert.equal(row?.told.length, 10_000);
      assert.deepEqual(kept(good), nothing);
      const bad = sql.unsafe('SELECT $1::int', ['no number'], { prepare });
      // Who is told of the error still learns which query it was.
      await assert.rejects(async () => await bad, { code: '22P02', query: 'SELECT $1::int' });
      assert.deepEqual(kept(bad), nothing);
    }
  } finally {
    await closePool(sql, 1_000);
  }
});

test('an array of texts goes in and comes out as one', async () => {
  const sql = database.pool('general', 1);
  const [row] = await sql`SELECT ${['x', 'y "z"']}::text[] AS texts, 'y' = ANY(${['y']}) AS found`;
  assert.deepEqual(row, { texts: ['x', 'y "z"'], found: true });
});
