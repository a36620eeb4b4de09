// Applies the numbered migrations of `db/migrations`, each in its own transaction, each exactly
// once. Any number of processes may do this at once: an advisory lock in the transaction orders
// them. What a newer build has applied is looked at first: this one may be too old to run on it.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { ConfigError } from '../../runtime/config.ts';
import { sourceFile } from '../../runtime/files.ts';
import { isVersion, isVersionBelow, version } from '../../runtime/version.ts';
import { openPool, type Queryable, type Sql, type Transaction } from './sql.ts';

const migrationsFolder = sourceFile('db/migrations/');
/** Any constant: the key of the advisory lock ('toll'). */
const MIGRATION_LOCK = 0x746f6c6c;

interface Migration {
  name: string;
  text: string;
  checksum: string;
  /** The first version that can run on it: it takes something away. Null: any, it only adds. */
  needs: string | null;
}

export interface Migrated {
  /** The names of the migrations that were applied now. */
  applied: string[];
  /** A newer build applied them. They only add, so this one runs beside them. */
  unknown: string[];
}

/**
 * Brings the database up to date. `folder` has the migrations of this build.
 * @throws ConfigError where a newer build has applied what this one cannot run on.
 * @throws Error when an applied migration was changed afterwards, or the server does not answer.
 */
export async function migrate(databaseUrl: string, folder = migrationsFolder): Promise<Migrated> {
  const sql = openPool({
    url: databaseUrl,
    purpose: 'general',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  try {
    const migrations = await readMigrations(folder);
    const unknown = await sql.begin(async (transaction) => {
      await prepareTable(transaction);
      return judgeUnknown(transaction, migrations);
    });
    const applied: string[] = [];
    for (const migration of migrations) {
      if (await applyOnce(sql, migration)) applied.push(migration.name);
    }
    return { applied, unknown };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/**
 * Whether a start would run on what is applied. Changes nothing.
 * @throws ConfigError as `migrate` does.
 */
export async function assertMigrationsRun(sql: Sql): Promise<void> {
  await judgeUnknown(sql, await readMigrations(migrationsFolder));
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-.*\.sql$/.test(name));
  return Promise.all(
    names.sort().map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8');
      const checksum = createHash('sha256').update(text).digest('hex');
      return { name, text, checksum, needs: neededVersion(name, text) };
    }),
  );
}

/** Reads the line `-- needs: 1.2.0`. */
function neededVersion(name: string, text: string): string | null {
  const needs = /^-- needs:(.*)$/m.exec(text)?.[1]?.trim();
  if (needs === undefined) return null;
  if (!isVersion(needs)) throw new Error(`migration ${name}: "${needs}" is no version`);
  return needs;
}

async function prepareTable(transaction: Transaction): Promise<void> {
  await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
  await transaction`
    CREATE TABLE IF NOT EXISTS migrations (
      name text PRIMARY KEY,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now(),
      needs text
    )`;
  // Older builds make the table without it, and their statements name the columns they know.
  const [column] = await transaction`
    SELECT 1 FROM pg_attribute WHERE attrelid = 'migrations'::regclass AND attname = 'needs'`;
  if (column === undefined) await transaction`ALTER TABLE migrations ADD COLUMN needs text`;
}

/**
 * The migrations that are applied and that this build does not have.
 * @throws ConfigError when it cannot run on one of them.
 */
async function judgeUnknown(sql: Queryable, known: readonly Migration[]): Promise<string[]> {
  const [table] = await sql`SELECT to_regclass('migrations') IS NOT NULL AS is_there`;
  if (table?.is_there !== true) return [];
  const names = new Set(known.map(({ name }) => name));
  // As JSON: the table of an older build has no such column.
  const rows = await sql<{ name: string; needs: string | null }[]>`
    SELECT name, to_jsonb(m) ->> 'needs' AS needs FROM migrations AS m ORDER BY name`;
  const unknown = rows.filter(({ name }) => !names.has(name));
  const refused = unknown.filter(({ needs }) => needs !== null && !canRun(needs));
  const last = refused.at(-1);
  if (last !== undefined) {
    const remedy = 'start a build that knows it, or restore the backup from before the upgrade';
    const fault = `${last.name} needs ${last.needs} or later, and this is ${version}`;
    throw new ConfigError(`a newer build has migrated the database: ${fault}: ${remedy}`);
  }
  return unknown.map(({ name }) => name);
}

/** What is not understood may mean anything. */
function canRun(needs: string): boolean {
  return isVersion(needs) && !isVersionBelow(version, needs);
}

async function applyOnce(sql: Sql, migration: Migration): Promise<boolean> {
  return sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    const [row] = await transaction<{ checksum: string }[]>`
      SELECT checksum FROM migrations WHERE name = ${migration.name}`;
    if (row !== undefined) {
      if (row.checksum === migration.checksum) return false;
      throw new Error(`migration ${migration.name} was changed after it had been applied`);
    }
    await transaction.unsafe(migration.text).simple();
    await transaction`
      INSERT INTO migrations (name, checksum, needs)
      VALUES (${migration.name}, ${migration.checksum}, ${migration.needs})`;
    return true;
  });
}
