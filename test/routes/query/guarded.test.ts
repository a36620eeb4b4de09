// Queries through a real gateway that somebody means ill with. Money is spent once, and a wrong
// key is named to administrators alone. What is kept for an account is told to no other, and is
// gone with its surface.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import { until } from '../../chaos/reach.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import { type SearchServer, startSearchServer } from '../../harness/search-server.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, everything, makeRecord, openAdminApi } from '../admin/admin-api.ts';
import { ask, bearer, freshQuery } from './asked.ts';

let bed: Testbed;
let contract: Contract;
let adminApi: AdminApi;
let server: SearchServer;
let other: SearchServer;
const api_key = 'credential-of-the-house';
const shards = 2;
before(async () => {
  const env = { TOLLGATE_LOG_LEVEL: 'info' };
  bed = await openTestbed({ own: 'it changes the catalog', shards, env });
  contract = await Contract.load(bed.url);
  adminApi = await openAdminApi(bed);
  [server, other] = await Promise.all([startSearchServer(), startSearchServer()]);
  const place = { family: 'serper', base_url: server.url, api_key };
  await makeRecord(adminApi, 'providers', { name: 'hidden', ...place });
  await change('/surfaces/engine_news', { targets: [{ provider: 'hidden' }] });
});
after(async () => {
  server?.close();
  other?.close();
  await bed?.close();
});

async function change(path: string, body: Record<string, unknown>): Promise<void> {
  const { status, text } = await adminApi('PATCH', path, { body });
  assert.equal(status, 200, text);
}

const credit = 1_000_000n;

test('a thousand at once with money for a hundred: a hundred are paid, others 402', async () => {
  const account = await bed.account({ micros: 100n * credit, requestsPerMinute: 100_000 });
  const asked = Array.from({ length: 1_000 }, async (_, index) => {
    const key = index % 3 === 0 ? { request_id: `key ${index}`.replace(' ', '-') } : {};
    const body = { surface: 'web_search', query: freshQuery('crowd'), ...key };
    return await ask(contract, bearer(account), body);
  });
  const replies = await Promise.all(asked);
  const paid = replies.filter(({ status }) => status === 200);
  const others = replies.filter(({ status }) => status !== 200);
  assert.deepEqual([...new Set(others.map(({ status }) => status))], [402]);
  assert.equal(paid.length, 100);
  assert.ok(paid.every(({ json }) => json.charge_microcredits === 1_000_000));
  assert.equal((await account.quiet()).availableMicros, 0n);
});

test('a surface that is changed has nothing kept, nor has one whose provider moved', async () => {
  const account = await bed.account();
  const body = { surface: 'engine_videos', query: freshQuery() };
  const isHit = async () => {
    const { status, json, text } = await ask(contract, bearer(account), body);
    assert.equal(status, 200, text);
    return json.normalized.cache.hit;
  };
  server.behaviour = { results: 3 };
  assert.deepEqual([await isHit(), await isHit()], [false, true]);
  await change('/surfaces/engine_videos', { targets: [{ provider: 'hidden' }] });
  assert.deepEqual([await isHit(), await isHit()], [false, true]);
  other.behaviour = { results: 2 };
  await change('/providers/hidden', { base_url: other.url, api_key });
  assert.deepEqual([await isHit(), await isHit()], [false, true]);
  assert.equal(other.asked.length, 1);
  await change('/providers/hidden', { base_url: server.url, api_key });
});

test('a stranger asks the provider for what another has kept, and is told no age', async () => {
  const [owner, stranger] = [await bed.account(), await bed.account()];
  server.behaviour = { results: 3 };
  server.asked.length = 0;
  for (let round = 0; round < 5; round += 1) {
    const body = { surface: 'engine_news', query: freshQuery('secret'), max_age_seconds: 86_400 };
    await ask(contract, bearer(owner), body);
    await ask(contract, bearer(owner), body);
    const { json } = await ask(contract, bearer(stranger), body);
    const { hit, age_seconds } = json.normalized.cache as { hit: boolean; age_seconds: number };
    assert.deepEqual([hit, age_seconds, json.charge_microcredits], [false, 0, 1_000_000]);
  }
  // Each waits for its own answer of the provider: nothing can be told by the time it takes.
  assert.equal(server.asked.length, 10);
});

test('a wrong key rests its target, costs nobody, and administrators alone hear', async () => {
  const account = await bed.account();
  server.behaviour = { status: 403, text: '{"message":"Unauthorized.","statusCode":403}' };
  server.asked.length = 0;
  const news = () => ({ surface: 'engine_news', query: freshQuery(), max_age_seconds: 0 });
  const first = await ask(contract, bearer(account), news());
  assert.equal(first.status, 502, first.text);
  await restsAs(1);
  const second = await settled(503, () => ask(contract, bearer(account), news()));
  assert.ok(server.asked.length <= shards, 'it rests once its shard has heard');
  for (const { json } of [first, second]) {
    const { code, message } = json.error as Record<string, string>;
    assert.doesNotMatch(`${code} ${message}`, /hidden|serper|credential|403/);
  }
  const catalog = await contract.call('GET', '/api/catalog', { headers: bearer(account) });
  assert.doesNotMatch(catalog.text, /hidden|serper/);
  await until('the log has it', 5_000, () =>
    bed.gateway.logs.some((line) => line.includes('provider.down')),
  );
  assert.ok(!bed.gateway.logs.some((line) => line.includes('credential-of-the-house')));

  const probe = () =>
    adminApi('POST', '/surfaces/engine_news/test', { body: { query: 'a probe' } });
  const failed = await probe();
  assert.match(failed.text, /"provider":"hidden".*"problem":"credential"/);
  assert.doesNotMatch(failed.text, /Unauthorized|of-the-house/);
  server.behaviour = { results: 2 };
  assert.equal((await probe()).status, 200);
  await restsAs(0);
  await settled(200, () => ask(contract, bearer(account), news()));
  assert.equal((await account.quiet()).availableMicros, 999n * credit);
});

/** Asks until it is answered so: each shard hears of a rest, or of its end, by itself. */
async function settled(status: number, again: () => Promise<Reply>): Promise<Reply> {
  let reply = await again();
  await until(`a ${status}: ${reply.text}`, 5_000, async () => {
    if (reply.status !== status) reply = await again();
    return reply.status === status;
  });
  return reply;
}

/** So many routes are named as down; each thread hears of it by itself. */
async function restsAs(count: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const { json } = await adminApi('GET', '/status');
    const down = json.down_routes as { route: string }[];
    if (down.length === count) {
      if (count > 0) assert.equal(down[0]?.route, 'hidden/engine_news');
      return;
    }
    assert.ok(performance.now() < deadline, JSON.stringify(down));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('tests of an administrator charge nobody, and leave no row', async () => {
  server.behaviour = { results: 2, host: 'example.org' };
  server.asked.length = 0;
  const count = async () => {
    const [row] = await bed.sql<{ rows: number; lines: number }[]>`
      SELECT (SELECT count(*)::int FROM generations) AS rows,
        (SELECT count(*)::int FROM ledger) AS lines`;
    return row;
  };
  const before = await count();
  for (let round = 0; round < 3; round += 1) {
    await adminApi('POST', '/surfaces/engine_news/test', { body: { query: 'a probe' } });
  }
  assert.equal(server.asked.length, 3);
  assert.deepEqual(await count(), before);
  assert.doesNotMatch(JSON.stringify(await everything(adminApi, '/audit')), /a probe/);
});

test('names of prototypes are named and no parameters, whatever they hold', async () => {
  const account = await bed.account();
  const send = async (text: string) => {
    const headers = { ...bearer(account), 'content-type': 'application/json' };
    return await fetch(`${bed.url}/api/v1/query`, { method: 'POST', headers, body: text });
  };
  for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    for (const value of ['"x"', '{"limit":1}', '{"prototype":{"limit":1}}', '["a",{"b":null}]']) {
      const inside = `{"surface":"web_search","query":"boats","params":{"${name}":${value}}}`;
      const beside = `{"surface":"web_search","query":"boats","${name}":${value}}`;
      for (const body of [inside, beside]) {
        const reply = await send(body);
        const text = await reply.text();
        assert.equal(reply.status, 200, `${body}: ${text}`);
        const { normalized } = JSON.parse(text) as {
          normalized: { assumed: { limit: number }; ignored: string[] };
        };
        assert.equal(normalized.assumed.limit, 10, body);
        assert.deepEqual(normalized.ignored, [name], body);
      }
    }
  }
  const deep = '['.repeat(20_000) + ']'.repeat(20_000);
  const nested = await send(`{"surface":"web_search","query":"boats","params":{"x":${deep}}}`);
  assert.equal(nested.status, 400);
});

test('a query is one under its key in any form of Unicode, and no other is', async () => {
  const account = await bed.account();
  const of = (query: string, params: Record<string, unknown> = {}) =>
    ask(
      contract,
      { ...bearer(account), 'idempotency-key': 'forms' },
      {
        ...{ surface: 'web_search', query, params },
      },
    );
  const first = await of('caf\u00e9 1.0', { safe: 'off', limit: 5 });
  assert.equal(first.status, 200, first.text);
  const again = await of('  cafe\u0301 1.0\n', { limit: 5.0, safe: 'off' });
  assert.deepEqual(again.json, { ...first.json, replayed: true });
  for (const [query, params] of [
    ['cafe 1.0', { safe: 'off', limit: 5 }],
    ['caf\u00e9 1.0', { safe: 'off', limit: '5' }],
    ['caf\u00e9 1.0', { safe: 'off', limit: 5, page: 1 }],
    ['caf\u00e9 1.0', { safe: 'off', limit: 5, x: {} }],
    ['caf\u00e9 1.0', { safe: 'off' }],
  ] as const) {
    assert.equal((await of(query, params)).status, 422, JSON.stringify([query, params]));
  }
});

test('the books are right after all of this, and nothing is held', async () => {
  assert.deepEqual(
    (await auditLedger(bed.sql)).filter(({ broken }) => broken > 0n),
    [],
  );
  assert.equal((await bed.sql`SELECT 1 FROM holds`).length, 0);
});
