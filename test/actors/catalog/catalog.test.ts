// The declared catalog: what is wrong with it is said in one line, what is right is applied once,
// and provider credentials are readable only with the master key.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { loadCatalog } from '../../../actors/catalog/load.ts';
import type { CatalogSnapshot } from '../../../actors/catalog/snapshot.ts';
import { putRecord, readCatalog } from '../../../db/catalog.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { readConfig } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openEmptyDatabase, openTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
let sql: Sql;
let folder: string;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
  folder = await mkdtemp(join(tmpdir(), 'tollgate-catalog-'));
});
after(async () => {
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

const log = createLog({ level: 'silent', base: {}, sync: true });
const masterKey = randomBytes(32).toString('base64url');
const apiKey = 'sk-very-secret';

const provider = { name: 'one', family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' };
const price = { input_per_million: '1.5', output_per_million: '3' };
const model = { alias: 'm', routes: [{ provider: 'one', upstream_model: 'x' }], price };

async function load(document: unknown, key = masterKey): Promise<CatalogSnapshot> {
  const path = join(folder, 'catalog.json');
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  await writeFile(path, text);
  const config = readConfig({ TOLLGATE_CONFIG: path });
  const sealers = { sealer: createSealer(key), previousSealer: null };
  return (await loadCatalog({ config, simulatorUrl: null, sql, ...sealers, log })).snapshot;
}

const managed = { alias: 'auto', pool: [{ model: 'm' }] };
const one = { providers: [provider], models: [model] };
const managedFaults: [name: string, document: unknown, message: RegExp][] = [
  [
    'a managed route over a model that is not there',
    { ...one, routes: [{ ...managed, pool: [{ model: 'none' }] }] },
    /routes\[0\]\.pool\[0\]\.model: there is no model "none"/,
  ],
  [
    'a model twice in a pool',
    { ...one, routes: [{ ...managed, pool: [{ model: 'm' }, { model: 'm' }] }] },
    /routes\[0\]\.pool\[1\]\.model: "m" is declared twice/,
  ],
  ['a route twice', { ...one, routes: [managed, managed] }, /routes: "auto" is declared twice/],
  [
    'an alias that is model and route',
    { ...one, routes: [{ ...managed, alias: 'm' }] },
    /routes\[0\]\.alias: "m" is the name of a model/,
  ],
  ['an empty pool', { ...one, routes: [{ ...managed, pool: [] }] }, /routes\[0\]\.pool/],
  [
    'a quality over 100',
    { ...one, routes: [{ ...managed, pool: [{ model: 'm', quality: 101 }] }] },
    /routes\[0\]\.pool\[0\]\.quality/,
  ],
  [
    'a quality for a task that is none',
    { ...one, routes: [{ ...managed, pool: [{ model: 'm', qualities: { cooking: 1 } }] }] },
    /routes\[0\]\.pool\[0\]\.qualities/,
  ],
];

const faults: [name: string, document: unknown, message: RegExp][] = [
  ['no JSON', '{"models":', /cannot be read as JSON/],
  ['an unknown member', { modles: [] }, /modles/],
  ['a misspelt member deep inside', { models: [{ ...model, rout: 1 }] }, /models\[0\]\.rout/],
  ['a provider that is not there', { models: [model] }, /there is no provider "one"/],
  [
    'a family that is not there',
    { providers: [{ ...provider, family: 'none' }] },
    /providers\[0\]\.family/,
  ],
  ['a name twice', { providers: [provider, provider] }, /"one" is declared twice/],
  [
    'an alias twice',
    { providers: [provider], models: [model, model] },
    /models: "m" is declared twice/,
  ],
  [
    'a price without output',
    { providers: [provider], models: [{ ...model, price: { input_per_million: '1' } }] },
    /input_per_million and output_per_million are needed/,
  ],
  [
    'a negative price',
    { providers: [provider], models: [{ ...model, price: { ...price, input_per_million: -1 } }] },
    /price\.input_per_million/,
  ],
  [
    'a tier without a price',
    {
      providers: [provider],
      models: [{ ...model, price: { ...price, pricing_tiers: [{ min_input_tokens: 9 }] } }],
    },
    /pricing_tiers\[0\]: a tier needs a price/,
  ],
  [
    'tiers out of order',
    {
      providers: [provider],
      models: [
        {
          ...model,
          price: {
            ...price,
            pricing_tiers: [
              { min_input_tokens: 200, input_per_million: '2' },
              { min_input_tokens: 100, input_per_million: '3' },
            ],
          },
        },
      ],
    },
    /min_input_tokens must increase/,
  ],
  ...managedFaults,
  ['an exchange that no amount has', { credits_per_usd: 1e300 }, /credits_per_usd/],
  ['no route', { models: [{ ...model, routes: [] }] }, /models\[0\]\.routes/],
  ['an address that is none', { providers: [{ ...provider, base_url: 'ftp://x' }] }, /base_url/],
  [
    'a package of more credits than an amount has',
    { packages: [{ slug: 'p', name: 'P', credits: 9_007_199_255, price_usd: '1' }] },
    /'packages\[0\]\.credits': expected <=9007199254, received 9007199255/,
  ],
];

for (const [name, document, message] of faults) {
  test(`a document with ${name} is refused in one line that says so`, async () => {
    await assert.rejects(load(document), (error: unknown) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, message);
      assert.ok(error.message.startsWith('TOLLGATE_CONFIG: '));
      assert.ok(!error.message.includes('\n'));
      return true;
    });
    assert.equal((await readCatalog(sql)).models.length, 0, 'nothing of it is applied');
  });
}

test('a document that is no JSON is refused by line, without what stands there', async () => {
  const secret = 'sk-0123456789';
  const cases: [text: string, fault: string][] = [
    [`{"providers":[\n{"name":"one",\n"api_key":${secret}}]}`, "Unexpected token 's' in line 3"],
    [`{\n"api_key":\n${secret}`, "Unexpected token 's' in line 3"],
    [`${secret}`, "Unexpected token 's' in line 1"],
    [`{"a":"b","api_key":\n"${secret}",,}`, 'Expected double-quoted property name in line 2'],
    [`{"api_key":"${secret}`, 'Unterminated string in line 1'],
    [`{"api_key":"${secret}"`, "Expected ',' or '}' after property value in line 1"],
  ];
  for (const [text, fault] of cases) {
    await assert.rejects(load(text), (error: Error) => {
      const line = `TOLLGATE_CONFIG: the file cannot be read as JSON: ${fault}`;
      assert.equal(error.message, line);
      return true;
    });
  }
});

test('a mark of byte order before a document is no part of it', async () => {
  await load(`\ufeff${JSON.stringify({ providers: [provider], models: [model] })}`);
  assert.equal((await readCatalog(sql)).models.length, 1);
});

test('a document is applied once, and its credential is sealed', async () => {
  const document = { providers: [{ ...provider, api_key: apiKey }], models: [model] };
  const first = await load(document);
  const stored = await readCatalog(sql);
  const second = await load(document);
  assert.deepEqual(await readCatalog(sql), stored, 'not even the nonce of the seal changes');
  assert.equal(second.contentVersion, first.contentVersion);
  assert.equal(second.models[0]?.targets[0]?.apiKey, apiKey);
  const rows = await sql<{ row: string }[]>`SELECT row_to_json(p)::text AS row FROM providers p`;
  assert.ok(!JSON.stringify(rows).includes(apiKey));
  assert.ok(!JSON.stringify(rows).includes(Buffer.from(apiKey).toString('hex')));
});

test('a changed credential is sealed anew, a changed price is a new version', async () => {
  const before = await readCatalog(sql);
  const changed = { ...model, price: { ...price, output_per_million: '4' } };
  const snapshot = await load({
    providers: [{ ...provider, api_key: 'sk-other' }],
    models: [changed],
  });
  assert.equal(snapshot.models[0]?.targets[0]?.apiKey, 'sk-other');
  assert.equal(snapshot.models[0]?.public.credits_per_million_output, 420);
  assert.notDeepEqual((await readCatalog(sql)).providers, before.providers);
});

test('what administrators stored stays when the document does not name it', async () => {
  await load({ providers: [provider], models: [model, { ...model, alias: 'other' }] });
  const snapshot = await load({ providers: [provider], models: [model] });
  assert.deepEqual(snapshot.models.map(({ alias }) => alias).sort(), ['m', 'other']);
});

test('a package that an older version stored ends no start, whatever its credits', async () => {
  const credits = Number.MAX_SAFE_INTEGER;
  const definition = { slug: 'huge', name: 'Huge', credits, price_usd: '1', active: true };
  await sql.begin((transaction) => putRecord(transaction, 'packages', 'huge', definition));
  const { packages } = await load({});
  assert.deepEqual(
    packages.map((entry) => entry.credits),
    [credits],
  );
});

test('a disabled model leaves the catalog and its version', async () => {
  const both = await load({ providers: [provider], models: [model] });
  const one = await load({ providers: [provider], models: [{ ...model, enabled: false }] });
  assert.deepEqual(
    one.models.map(({ alias }) => alias),
    ['other'],
  );
  assert.notEqual(one.contentVersion, both.contentVersion);
});

test('under another master key a stored credential stops the start until declared', async () => {
  const other = randomBytes(32).toString('base64url');
  const sealed = { providers: [{ ...provider, api_key: apiKey }], models: [model] };
  await load(sealed);
  await assert.rejects(load({}, other), /provider one is sealed under another key/);
  const again = await load(sealed, other);
  assert.equal(again.models[0]?.targets[0]?.apiKey, apiKey);
});

test('a database without tables is no catalog', async () => {
  const empty = await openEmptyDatabase();
  try {
    await assert.rejects(readCatalog(empty.pool('general', 1)));
  } finally {
    await empty.close();
  }
});
