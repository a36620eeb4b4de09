// Applies the numbered migrations of `db/migrations`, each in its own transaction, each exactly
// once. Any number of processes may do this at once: an advisory lock in the transaction orders
// them.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { sourceFile } from '../../runtime/files.ts';
import { openPool, type Sql } from './sql.ts';

const migrationsFolder = sourceFile('db/migrations/');
/** Any constant: the key of the advisory lock ('toll'). */
const MIGRATION_LOCK = 0x746f6c6c;

interface Migration {
  name: string;
  text: string;
  checksum: string;
}

/**
 * Brings the database up to date and returns the names of the migrations that were applied now.
 * Throws when an applied migration was changed afterwards, or when the server does not answer.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const sql = openPool({
    url: databaseUrl,
    purpose: 'general',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  try {
    const applied: string[] = [];
    for (const migration of await readMigrations()) {
      if (await applyOnce(sql, migration)) applied.push(migration.name);
    }
    return applied;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(migrationsFolder)).filter((name) => /^\d{4}-.*\.sql$/.test(name));
  return Promise.all(
    names.sort().map(async (name) => {
      const text = await readFile(new URL(name, migrationsFolder), 'utf8');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

async function applyOnce(sql: Sql, migration: Migration): Promise<boolean> {
  return sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    await transaction`
      CREATE TABLE IF NOT EXISTS migrations (
        name text PRIMARY KEY,
        checksum text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
      )`;
    const [row] = await transaction<{ checksum: string }[]>`
      SELECT checksum FROM migrations WHERE name = ${migration.name}`;
    if (row !== undefined) {
      if (row.checksum === migration.checksum) return false;
      throw new Error(`migration ${migration.name} was changed after it had been applied`);
    }
    await transaction.unsafe(migration.text).simple();
    await transaction`
      INSERT INTO migrations (name, checksum)
      VALUES (${migration.name}, ${migration.checksum})`;
    return true;
  });
}
