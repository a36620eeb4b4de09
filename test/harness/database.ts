// A fresh, migrated database for each caller, on one real PostgreSQL. The server is the one that
// the test runner names, else a throw-away one that is started here and ends with this process.
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../db/driver/migrate.ts';
import { openPool, type PoolPurpose, type Sql } from '../../db/driver/sql.ts';
import { type Database, startDatabase } from '../../runtime/embedded/database.ts';

/** Environment variable by which the test runner hands one server to all test files. */
export const testDatabaseVariable = 'TOLLGATE_TEST_DATABASE_URL';

export interface TestDatabase {
  /** Of the fresh database. */
  url: string;
  /** A pool on it; closed with the database. */
  pool(purpose: PoolPurpose, connectionsMax?: number): Sql;
  /** Closes the pools, drops the database, stops the server if it was started here. */
  close(): Promise<void>;
}

interface Server {
  url: string;
  stop(): Promise<void>;
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const TEMPLATE_LOCK = 0x74656d70;

let shared: { server: Promise<Server>; users: number } | null = null;

/** Starts a throw-away server; the test runner does this once and passes its URL on. */
export async function startTestServer(): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
  // The database user has to pass through it.
  await chmod(dataDir, 0o711);
  const database: Database = await startDatabase({ dataDir, log: silent });
  return {
    url: database.url,
    async stop() {
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A fresh database with all migrations. `close` it in an `after` hook. */
export async function openTestDatabase(): Promise<TestDatabase> {
  return createDatabase(await useServer(), leaveServer);
}

/** The same on a server of its own, for tests that crash it. */
export async function openOwnDatabase(): Promise<TestDatabase> {
  const server = await startTestServer();
  return createDatabase(server, () => server.stop());
}

async function createDatabase(server: Server, leave: () => Promise<void>): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await withAdmin(server.url, async (sql) => {
    const template = await ensureTemplate(sql, server.url);
    await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  const url = databaseUrlFor(server.url, name);
  const pools: Sql[] = [];
  return {
    url,
    pool(purpose, connectionsMax = 4) {
      const sql = openPool({ url, purpose, connectionsMax, statementTimeoutMs: 10_000 });
      pools.push(sql);
      return sql;
    },
    async close() {
      await Promise.all(pools.map((sql) => sql.end({ timeout: 2 })));
      await withAdmin(server.url, (sql) => sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`));
      await leave();
    },
  };
}

/** An empty database without migrations, on the same server. */
export async function openEmptyDatabase(): Promise<TestDatabase> {
  const database = await openTestDatabase();
  const sql = database.pool('general', 1);
  await sql.unsafe('DROP SCHEMA public CASCADE; CREATE SCHEMA public').simple();
  return database;
}

async function useServer(): Promise<Server> {
  const given = process.env[testDatabaseVariable];
  if (given !== undefined) return { url: given, stop: async () => {} };
  shared ??= { server: startTestServer(), users: 0 };
  shared.users += 1;
  return shared.server;
}

async function leaveServer(): Promise<void> {
  if (shared === null) return;
  shared.users -= 1;
  if (shared.users > 0) return;
  const { server } = shared;
  shared = null;
  await (await server).stop();
}

async function withAdmin<T>(url: string, work: (sql: Sql) => PromiseLike<T>): Promise<T> {
  const sql = openPool({ url, purpose: 'general', connectionsMax: 1, statementTimeoutMs: 60_000 });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/** One template for each state of the migrations; made once by whoever comes first. */
async function ensureTemplate(sql: Sql, serverUrl: string): Promise<string> {
  const folder = new URL('../../../db/migrations/', import.meta.url);
  const names = (await readdir(folder)).sort();
  const hash = createHash('sha256');
  for (const name of names) hash.update(await readFile(new URL(name, folder)));
  const template = `template_${hash.digest('hex').slice(0, 16)}`;
  await sql`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`;
  try {
    const [found] = await sql`SELECT 1 FROM pg_database WHERE datname = ${template}`;
    if (found !== undefined) return template;
    // Under another name until it is complete: whoever dies half way leaves no half template.
    await sql.unsafe(`DROP DATABASE IF EXISTS ${template}_new WITH (FORCE)`);
    await sql.unsafe(`CREATE DATABASE ${template}_new TEMPLATE template0`);
    await migrate(databaseUrlFor(serverUrl, `${template}_new`));
    await sql.unsafe(`ALTER DATABASE ${template}_new RENAME TO ${template}`);
    return template;
  } finally {
    await sql`SELECT pg_advisory_unlock(${TEMPLATE_LOCK})`;
  }
}

/** The same server, another database. */
export function databaseUrlFor(serverUrl: string, name: string): string {
  return serverUrl.replace(/^(postgres(?:ql)?:\/\/[^/]*\/)[^?]*/, `$1${name}`);
}
