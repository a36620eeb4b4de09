// Every table of the database belongs to a domain that says what becomes of personal data in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { personalData } from '../../db/personal-data.ts';
import { openTestDatabase } from '../harness/database.ts';

const rules = personalData.flatMap(({ tables }) => Object.entries(tables));

test('every table is listed once, and no other', async () => {
  const database = await openTestDatabase();
  try {
    const sql = database.pool('general', 1);
    const rows = await sql<{ name: string }[]>`
      SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`;
    const names = rows.map(({ name }) => name).sort();
    const listed = rules.map(([table]) => table).sort();
    const advice = 'say in db/personal-data/ what of it is exported and erased';
    assert.deepEqual(listed, names, advice);
  } finally {
    await database.close();
  }
});

test('what is not exported, or stays, says why', () => {
  for (const [table, { exported, fate }] of rules) {
    const reasons = [exported, ...(typeof fate === 'string' ? [] : Object.values(fate))];
    for (const reason of reasons) assert.ok(reason === true || reason.length > 10, table);
  }
});

test('what is exported is in a list, and what is erased in a step', () => {
  for (const { tables, lists, erasing, file } of personalData) {
    for (const [table, { exported, fate }] of Object.entries(tables)) {
      if (exported === true) {
        assert.ok(file !== null, table);
        assert.ok(
          lists.some(({ from }) => from.split(' ')[0] === table),
          table,
        );
      }
      const isDone = erasing.some((step) =>
        new RegExp(`(DELETE FROM|UPDATE) ${table} `).test(step),
      );
      // Its own row is the last step: db/erasure.ts.
      if (typeof fate !== 'string' && 'kept' in fate) assert.ok(!isDone, table);
      else assert.ok(isDone || table === 'accounts', table);
    }
  }
});

test('a list has a name of its own in its file, and a file among the others', () => {
  const files = personalData.map(({ file }) => file).filter((file) => file !== null);
  assert.equal(new Set(files).size, files.length);
  for (const { lists } of personalData) {
    assert.equal(new Set(lists.map(({ name }) => name)).size, lists.length);
  }
});
