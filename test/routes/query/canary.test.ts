// Marked queries, parameters and keys of providers go through every fault. The marks are in no log,
// metric, error, reply of an administrator or row. With a key they are in the sealed reply alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { surfaceNames } from '../../../media/search/surfaces.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import { freePort } from '../../harness/port.ts';
import { sampled } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, openAdminApi } from '../admin/admin-api.ts';
import { openSearchStage, type SearchStage } from './stage.ts';

// slow: Every surface goes through every fault.

const inQuery = 'canaryquery7391';
const inParameter = 'canaryparameter7391';
const inKey = 'canarykey7391';
const marks = [inQuery, inParameter, inKey];

let bed: Testbed;
let contract: Contract;
let adminApi: AdminApi;
let stage: SearchStage;
let metricsPort: number;
before(async () => {
  metricsPort = await freePort();
  const env = { TOLLGATE_METRICS_PORT: `${metricsPort}`, TOLLGATE_LOG_LEVEL: 'debug' };
  bed = await openTestbed({ shards: 2, env });
  contract = await Contract.load(bed.url);
  adminApi = await openAdminApi(bed);
  stage = await openSearchStage(adminApi);
});
after(() => bed?.close());

const ownParameters: Readonly<Record<string, Record<string, unknown>>> = {
  engine_flights: { departure_id: 'ZRH', arrival_id: 'JFK' },
  engine_routes: { origin: `Bern ${inParameter}`, destination: 'Zurich' },
};

async function ask(surface: string, orders: string, key?: string): Promise<Reply> {
  const headers = {
    authorization: `Bearer ${bed.dev.api_key}`,
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  };
  const query = `${inQuery} [[search ${orders}]]`;
  const params = { location: inParameter, [inParameter]: inParameter, ...ownParameters[surface] };
  const body = { surface, query, params, max_age_seconds: 0 };
  return await contract.call('POST', '/api/v1/query', { headers, body });
}

function assertUnmarked(text: string, where: string, allowed: readonly string[] = []): void {
  for (const mark of marks) {
    if (allowed.includes(mark)) continue;
    const at = text.indexOf(mark);
    assert.equal(at, -1, `${where}: …${text.slice(Math.max(0, at - 200), at + 100)}…`);
  }
}

/** Every row of every table, as text. */
async function assertCleanDump(when: string): Promise<void> {
  const tables = await bed.sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`;
  for (const { name } of tables) {
    const rows = await bed.sql.unsafe<{ row: string }[]>(
      `SELECT t::text AS row FROM "${name}" t WHERE t::text LIKE '%7391%'`,
    );
    for (const { row } of rows) {
      // A key of a provider is sealed: it is there, and nobody reads it.
      assertUnmarked(row, `${when}, ${name}`);
    }
  }
}

const faults = [
  'results=3',
  'empty=1',
  'status=400',
  'status=401',
  'status=429',
  'exhausted=1',
  'status=500',
  'fault=cut',
  'fault=garbage',
  'partial=1',
];

test('marks go through every fault of every surface, and errors do not tell them', async () => {
  for (const [number, orders] of faults.entries()) {
    await stage.renew(inKey);
    const surfaces = sampled(surfaceNames, 6, testSeed + number);
    const replies = await Promise.all(surfaces.map((name) => ask(name, orders)));
    for (const [at, { status, text }] of replies.entries()) {
      const where = `${surfaces[at]} ${orders} ${status}`;
      // The names of parameters that were not used are told to whoever sent them, results as well.
      assertUnmarked(text, where, status === 200 ? [inQuery, inParameter] : []);
    }
  }
});

test('where nobody listens nothing is told of what was asked', async () => {
  await stage.moveTo(`http://127.0.0.1:${await freePort()}`, inKey);
  const replies = await Promise.all(surfaceNames.map((name) => ask(name, 'results=3')));
  for (const [at, { status, text }] of replies.entries()) {
    assert.ok(status >= 500, `${surfaceNames[at]}: ${status}`);
    assertUnmarked(text, `${surfaceNames[at]} refused`);
  }
  await stage.moveTo(null, inKey);
});

test('an administrator tests a surface, and is told no words of the query', async () => {
  for (const orders of ['results=3', 'status=401', 'fault=cut']) {
    const body = { query: `${inQuery} [[search ${orders}]]` };
    const tested = await adminApi('POST', '/surfaces/web_search/test', { body });
    assert.equal(tested.status, 200, tested.text);
    assertUnmarked(tested.text, `test ${orders}`);
  }
  await stage.renew(inKey);
});

test('logs, metrics, status and every row are without the marks', async () => {
  assertUnmarked(bed.gateway.logs.join('\n'), 'the log');
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  assert.match(metrics, /^tollgate_/m);
  assertUnmarked(metrics, 'metrics');
  for (const path of [
    '/status',
    '/providers?limit=100',
    '/surfaces?limit=100',
    '/audit?limit=100',
  ]) {
    const { status, text } = await adminApi('GET', path);
    assert.equal(status, 200, text);
    assertUnmarked(text, path);
  }
  await assertCleanDump('after all of it');
});

test('with a key the reply is told again, and lies sealed in its row', async () => {
  await stage.renew(inKey);
  const key = 'canary-under-a-key';
  const first = await ask('web_search', 'results=3', key);
  assert.equal(first.status, 200, first.text);
  assert.ok(first.text.includes(inQuery), 'the results are about it');
  const again = await ask('web_search', 'results=3', key);
  assert.equal(again.status, 200, again.text);
  assert.deepEqual({ ...again.json, replayed: false }, first.json);
  assert.equal(again.json.replayed, true);
  const id = first.json.request_id as string;
  const kept = await bed.sql<{ answer: unknown }[]>`
    SELECT answer FROM generations WHERE id = ${id}`;
  assert.notEqual(kept[0]?.answer ?? null, null);
  await assertCleanDump('with a key');
});
