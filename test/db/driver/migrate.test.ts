// Two builds share a database. The older one starts on what the newer one has migrated, and says
// so. Where it cannot run there, it touches nothing and says in one line what to do.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { migrate } from '../../../db/driver/migrate.ts';
import { ConfigError } from '../../../runtime/config.ts';
import { sourceFile } from '../../../runtime/files.ts';
import { isVersionBelow, version } from '../../../runtime/version.ts';
import { openEmptyDatabase, openTestDatabase, type TestDatabase } from '../../harness/database.ts';

const [major = 0] = version.split('.').map(Number);
const later = `${major + 1}.2.0`;

let folder: string;
let database: TestDatabase;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-migrate-'));
  database = await openTestDatabase();
});
after(async () => {
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The migrations of a newer build: those of this one, and more. */
async function newerBuild(name: string, added: Record<string, string>): Promise<URL> {
  const path = join(folder, name);
  await cp(sourceFile('db/migrations/'), path, { recursive: true });
  for (const [file, text] of Object.entries(added)) await writeFile(join(path, file), text);
  return pathToFileURL(`${path}/`);
}

async function columnsOf(table: string): Promise<string[]> {
  const rows = await database.pool('general', 1)<{ name: string }[]>`
    SELECT column_name AS name FROM information_schema.columns WHERE table_name = ${table}`;
  return rows.map(({ name }) => name);
}

test('after migrations that only add, an older build starts and names them', async () => {
  const newer = await newerBuild('adds', {
    '0900-things-add.sql': '-- Things.\nCREATE TABLE things (id text);\n',
    '0901-things-more.sql': `-- needs: ${version}\nALTER TABLE things ADD COLUMN more text;\n`,
  });
  const names = ['0900-things-add.sql', '0901-things-more.sql'];
  assert.deepEqual(await migrate(database.url, newer), { applied: names, unknown: [] });
  assert.deepEqual(await migrate(database.url, newer), { applied: [], unknown: [] });
  assert.deepEqual(await migrate(database.url), { applied: [], unknown: names });
  const rows = await database.pool('general', 1)`
    SELECT name, needs FROM migrations WHERE needs IS NOT NULL`;
  assert.deepEqual([...rows], [{ name: '0901-things-more.sql', needs: version }]);
});

test('after one that needs a later version it refuses in one line, changes nothing', async () => {
  const newer = await newerBuild('takes', {
    '0902-things-less.sql': `-- needs: ${later}\nALTER TABLE things DROP COLUMN more;\n`,
  });
  await migrate(database.url, newer);
  // As if this build had one that is yet to be applied.
  await database.pool('general', 1)`DELETE FROM migrations WHERE name = '0011-exchange-rate.sql'`;
  await assert.rejects(migrate(database.url), (error: Error) => {
    assert.ok(error instanceof ConfigError, 'without a stack');
    const fault = `0902-things-less.sql needs ${later} or later, and this is ${version}`;
    assert.ok(error.message.includes(fault));
    assert.match(error.message, /backup/);
    assert.ok(!error.message.includes('\n'));
    return true;
  });
  assert.deepEqual(await columnsOf('things'), ['id']);
});

test('what an older build cannot read of a newer one is no reason to run', async () => {
  const sql = database.pool('general', 1);
  await sql`UPDATE migrations SET needs = 'next' WHERE name = '0902-things-less.sql'`;
  await assert.rejects(migrate(database.url), /0902-things-less\.sql needs next or later/);
});

test('a table of a build before this is given the column, and that build survives it', async () => {
  const old = await openEmptyDatabase();
  try {
    const sql = old.pool('general', 1);
    await sql`CREATE TABLE migrations (name text PRIMARY KEY, checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now())`;
    assert.ok((await migrate(old.url)).applied.length > 0);
    // The statement of that build.
    await sql`INSERT INTO migrations (name, checksum) VALUES ('0903-old.sql', 'x')`;
    assert.deepEqual(await migrate(old.url), { applied: [], unknown: ['0903-old.sql'] });
  } finally {
    await old.close();
  }
});

test('a migration that says in the wrong way what it needs is applied by nobody', async () => {
  const wrong = await newerBuild('wrong', { '0904-wrong.sql': '-- needs: 2.0\nSELECT 1;\n' });
  await assert.rejects(migrate(database.url, wrong), /0904-wrong\.sql: "2\.0" is no version/);
});

test('versions are ordered by their numbers, a candidate is before its release', () => {
  const ordered = ['0.9.9', '1.0.0-rc.1', '1.0.0', '1.0.1', '1.2.0', '1.10.0', '2.0.0'];
  ordered.forEach((left, at) => {
    ordered.forEach((right, place) => {
      assert.equal(isVersionBelow(left, right), at < place, `${left} below ${right}`);
    });
  });
});
