// A server whose operator has chosen other defaults than PostgreSQL: connections bring their own.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { migrate } from '../../../db/driver/migrate.ts';
import { closePool, openPool } from '../../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(async () => {
  await database?.close();
});

test('several first starts at once on a server that is serializable, with old arrays', async () => {
  const sql = database.pool('general', 1);
  const name = new URL(database.url.replace(/\?.*/, '')).pathname.slice(1);
  const fresh = `${name}_fresh`;
  await sql.unsafe(`CREATE DATABASE ${fresh} TEMPLATE template0`);
  try {
    await sql.unsafe(`ALTER DATABASE ${fresh} SET default_transaction_isolation = serializable`);
    await sql.unsafe(`ALTER DATABASE ${fresh} SET array_nulls = off`);
    const url = database.url.replace(name, fresh);
    const runs = await Promise.all([1, 2, 3, 4].map(() => migrate(url)));
    const names = runs.flatMap(({ applied }) => applied);
    assert.equal(new Set(names).size, names.length, 'each was applied once');
    for (const purpose of ['general', 'ledger'] as const) {
      const other = openPool({ url, purpose, connectionsMax: 1, statementTimeoutMs: 5_000 });
      const [row] = await other`SELECT ('{NULL}'::text[])[1] IS NULL AS "isNull"`;
      assert.equal(row?.isNull, true);
      await closePool(other, 1_000);
    }
  } finally {
    await sql.unsafe(`DROP DATABASE ${fresh} WITH (FORCE)`);
  }
});
