// Array literals as PostgreSQL reads them: what goes in comes out, each in its place; what its
// `text` cannot hold comes out as another character, and never as the text of a neighbour.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { arrayLiteral, type Scalar, scalarText } from '../../../db/driver/array.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { fc } from '../../harness/properties.ts';
import { testSeed } from '../../harness/seed.ts';

let database: TestDatabase;
/** As the ledger's: it sends arrays as text and knows no array types. */
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('ledger', 1);
});
after(() => database.close());

type Type = 'text' | 'jsonb' | 'bigint' | 'boolean';

/** The elements as the server has them, in order. */
async function stored(values: readonly Scalar[], type: Type = 'text'): Promise<(string | null)[]> {
  const text = `SELECT e::text AS element FROM unnest($1::${type}[]) WITH ORDINALITY AS u (e, at)
    ORDER BY at`;
  const parameters = [arrayLiteral(values)];
  const rows = await sql.unsafe<{ element: string | null }[]>(text, parameters, { prepare: true });
  return rows.map(({ element }) => element);
}

const controls = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1));
const awkward = [
  '',
  ' ',
  'NULL',
  'null',
  '{}',
  '{a,b}',
  ',',
  '"',
  '""',
  '\\',
  '\\\\',
  '\\"',
  '"\\',
  'a"b\\c',
  '\\n',
  '\\u0041',
  ' "x" ',
  "it's $1",
  '\u007f\u0080\u2028\ufffd\uffff',
  'é 漢字 🧭',
  '🧭"\\🧭',
  controls.join(''),
  ...controls,
  ...controls.map((control) => `"${control}\\`),
];

test('awkward texts come back as they were, each in its place', async () => {
  assert.deepEqual(await stored(awkward), awkward);
  assert.deepEqual(await stored([]), []);
  for (const text of awkward) assert.deepEqual(await stored(['a', text, 'b']), ['a', text, 'b']);
});

test('a text by itself comes back as one of an array does', async () => {
  for (const text of [...awkward, 'a\0b\0', '\ud800', null, undefined]) {
    const [row] = await sql.unsafe('SELECT $1::text AS text', [scalarText(text)], {
      prepare: true,
    });
    assert.deepEqual([row?.text], await stored([text]));
  }
});

test('null is NULL, and so is what is undefined; no text is', async () => {
  const values = [null, 'NULL', undefined, 'undefined', null, ''];
  assert.deepEqual(await stored(values), [null, 'NULL', null, 'undefined', null, '']);
  assert.deepEqual(await stored([undefined, 1], 'bigint'), [null, '1']);
});

test('numbers, whole numbers of any size and truth come back', async () => {
  const amounts = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 0, -0, 2 ** 53, null];
  const expected = [...amounts.slice(0, -1).map(String), null];
  assert.deepEqual(await stored(amounts, 'bigint'), expected);
  assert.deepEqual(await stored([true, null, false], 'boolean'), ['true', null, 'false']);
});

test('JSON with all of them inside comes back, as text and as jsonb', async () => {
  const documents = awkward.map((text) => JSON.stringify({ text, [`name ${text}`]: [text] }));
  assert.deepEqual(await stored(documents), documents);
  const read = await stored(documents, 'jsonb');
  assert.deepEqual(
    read.map((text) => JSON.parse(text ?? 'null')),
    documents.map((text) => JSON.parse(text)),
  );
});

test('JSON as text keeps even what a text cannot hold: it is escaped there', async () => {
  const document = JSON.stringify(['\0', '\ud800', '\udfff"', 'a\0"\\\ud800b']);
  assert.deepEqual(await stored(['a', document, 'b']), ['a', document, 'b']);
});

test('what no text can hold becomes a character of no name, and fails no neighbour', async () => {
  const halves = ['\ud800', 'a\udfff', '\ud800"', '\\\udfff', '\udfff\ud800'];
  const zeros = ['\0', 'a\0', '\0"', '\\\0', 'a\0b\0'];
  const values = ['"', ...halves, '\\', ...zeros, ''];
  const expected = values.map((text) => text.replace(/[\0\ud800-\udfff]/g, '\ufffd'));
  assert.deepEqual(await stored(values), expected);
});

test('jsonb takes no document with such a text: the statement is refused as a whole', async () => {
  for (const text of ['\0', '\ud800', '\udfff', '\udfff\ud800']) {
    const refused = stored(['1', JSON.stringify({ text }), '2'], 'jsonb');
    await assert.rejects(refused, (error: { code?: string }) =>
      /^22P0[25]$/.test(error.code ?? ''),
    );
  }
});

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ',', ' ', '\n', '\u0001', '🧭', 'a') }),
);
const storable = text.filter((value) => !value.includes('\0'));

test(`any texts come back as they were (seed ${testSeed})`, async () => {
  const lists = fc.array(fc.option(storable), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(lists, async (values) => {
      assert.deepEqual(await stored(values), values);
    }),
    { numRuns: 200 },
  );
});
