// Surfaces under administration: records with their targets, and what is refused where. The test of
// a surface asks each of its providers once, whatever is disabled, and nobody pays.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SearchBehaviour,
  type SearchServer,
  startSearchServer,
} from '../../harness/search-server.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, everything, makeRecord, openAdminApi, refusal } from './admin-api.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let adminApi: AdminApi;
let servers: SearchServer[] = [];
before(async () => {
  bed = await openTestbed({ own: 'it changes the catalog' });
  adminApi = await openAdminApi(bed);
  const started = [startSearchServer(), startSearchServer(), startSearchServer()];
  servers = await Promise.all(started);
  for (const [index, { url }] of servers.entries()) {
    const body = { family: 'serper', base_url: url, api_key: `credential-${index}` };
    await makeRecord(adminApi, 'providers', { name: `place-${index}`, ...body });
  }
});
after(async () => {
  for (const server of servers) server.close();
  await bed?.close();
});

const targets = [0, 1, 2].map((index) => ({ provider: `place-${index}` }));

function answer(...behaviours: SearchBehaviour[]): void {
  for (const [index, server] of servers.entries()) {
    server.behaviour = behaviours[index] ?? {};
    server.asked.length = 0;
  }
}

/** The surface is one of the simulator's, put on our providers. */
async function place(name: string, body: Members): Promise<Members> {
  const reply = await adminApi('PATCH', `/surfaces/${name}`, { body });
  assert.equal(reply.status, 200, reply.text);
  return reply.json.surface as Members;
}

const testOf = (name: string, body: Members) =>
  adminApi('POST', `/surfaces/${name}/test`, { body });

test('a record has targets, price, cache and canary, and loses what is set to null', async () => {
  const canary = {
    query: 'town hall',
    params: { gl: 'us', num: 5, include_domains: ['example.com'] },
    expect_host: 'example.com',
    every_minutes: 60,
  };
  const body = {
    targets: [{ provider: 'place-0', cost_usd: '0.001' }, { provider: 'place-1' }],
    price: { credits_per_query: '1.25', per_search_call: '0.004' },
    cache: { max_age_seconds: 30, scope: 'shared' },
    requests_per_minute: 60,
    canary,
  };
  const made = await place('engine_videos', body);
  for (const [member, value] of Object.entries(body)) assert.deepEqual(made[member], value);
  const read = await adminApi('GET', '/surfaces/engine_videos');
  assert.deepEqual(read.json.surface, made);
  const less = await place('engine_videos', { canary: null, cache: null });
  assert.ok(!('canary' in less) && !('cache' in less));
  const turned = await place('engine_videos', { targets: null, provider: 'place-2' });
  assert.equal(turned.provider, 'place-2');
  const stale = await adminApi('PATCH', '/surfaces/engine_videos', {
    body: { display_name: 'Late' },
    ifMatch: `"${made.revision}"`,
  });
  assert.deepEqual([stale.status, refusal(stale).code], [409, 'conflict']);
});

test('what cannot be is refused with its path, and changes nothing', async () => {
  const before = await adminApi('GET', '/surfaces/engine_news');
  for (const [body, path] of [
    [{ targets: [...targets, { provider: 'place-0' }] }, 'targets[3].provider'],
    [{ targets: [{ provider: 'nobody' }] }, 'targets[0].provider'],
    [{ provider: 'place-0' }, 'targets'],
    [{ price: null }, 'price'],
    [{ price: { credits_per_query: '0.0000001' } }, 'price.credits_per_query'],
    [{ cache: { max_age_seconds: 90_000 } }, 'cache.max_age_seconds'],
    [{ answer_model: 'svc-sim-chat' }, 'answer_model'],
    [{ search_surface: 'web_search' }, 'search_surface'],
    [{ canary: { query: 'x', expect_host: 'example.com' } }, 'canary.every_minutes'],
    [{ requests_per_minute: 0 }, 'requests_per_minute'],
  ] as const) {
    const refused = refusal(await adminApi('PATCH', '/surfaces/engine_news', { body }));
    assert.equal(refused.status, 400, path);
    assert.deepEqual([refused.code, refused.details.path], ['invalid_request', path]);
  }
  const flights = { targets: [{ provider: 'place-0' }] };
  const unserved = refusal(await adminApi('PATCH', '/surfaces/engine_flights', { body: flights }));
  assert.equal(unserved.details.path, 'targets[0].provider');
  assert.deepEqual((await adminApi('GET', '/surfaces/engine_news')).json, before.json);
});

test('a provider that a surface names, and its answer model, are needed there', async () => {
  await place('engine_images', { targets });
  const provider = refusal(await adminApi('DELETE', '/providers/place-0'));
  assert.deepEqual([provider.status, provider.code], [409, 'conflict']);
});

test('a test asks every target once, disabled ones too, and tells what came of each', async () => {
  await place('engine_news', { targets });
  await adminApi('POST', '/surfaces/engine_news/disable');
  await adminApi('POST', '/providers/place-2/disable');
  answer({ results: 3 }, { status: 403, text: 'the key that was refused: credential-1' }, {});
  const reply = await testOf('engine_news', { query: 'a private matter', params: { gl: 'ch' } });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  const told = reply.json.targets as Members[];
  assert.deepEqual(
    told.map(({ ms: _ms, ...rest }) => rest),
    [
      { provider: 'place-0', state: 'found', items: 3, problem: null },
      { provider: 'place-1', state: 'failed', items: 0, problem: 'credential' },
      { provider: 'place-2', state: 'empty', items: 0, problem: null },
    ],
  );
  for (const { ms } of told) assert.ok(Number.isInteger(ms) && Number(ms) >= 0);
  for (const { asked } of servers) {
    assert.equal(asked.length, 1);
    assert.equal(asked[0]?.path, '/news');
    const { q, gl } = JSON.parse(asked[0]?.body ?? '') as Members;
    assert.deepEqual([q, gl], ['a private matter', 'ch']);
  }
  assert.ok(!reply.text.includes('credential-1'), 'nothing of what the provider said');
  const [event] = await everything(adminApi, '/audit?subject=surface:engine_news');
  assert.equal(event?.action, 'surface.test');
  assert.deepEqual(((event?.details ?? {}) as Members).targets, told);
  assert.ok(!JSON.stringify(event).includes('private'), 'nor of what was asked');
  await adminApi('POST', '/surfaces/engine_news/enable');
  await adminApi('POST', '/providers/place-2/enable');
});

test('a test is asked anew each time, and no row or charge is left of it', async () => {
  await place('engine_images', { targets });
  answer({ results: 2 }, { results: 2 }, { results: 2 });
  const count = async () =>
    (await bed.sql<{ count: number }[]>`select count(*)::int as count from generations`)[0]?.count;
  const rows = await count();
  for (let each = 1; each <= 2; each += 1) {
    await testOf('engine_images', { query: 'twice' });
    assert.deepEqual(
      servers.map(({ asked }) => asked.length),
      [each, each, each],
    );
  }
  assert.equal(await count(), rows);
});

test('each failure of a provider has its name', async () => {
  await place('engine_images', { targets });
  answer(
    { status: 400, text: '{"message":"Not enough credits"}' },
    { status: 429, text: '{}' },
    { status: 500, text: 'no JSON' },
  );
  const first = (await testOf('engine_images', { query: 'x' })).json.targets as Members[];
  answer({ status: 400, text: '{"message":"bad"}' }, { status: 200, text: '<html>' }, {});
  const second = (await testOf('engine_images', { query: 'x' })).json.targets as Members[];
  assert.deepEqual(
    [...first, ...second].map(({ state, problem }) => [state, problem]),
    [
      ['failed', 'exhausted'],
      ['busy', 'busy'],
      ['failed', 'failed'],
      ['failed', 'refused'],
      ['failed', 'failed'],
      ['empty', null],
    ],
  );
});

test('a query that cannot be read is refused, and nobody is asked', async () => {
  await place('engine_images', { targets });
  answer();
  for (const [body, path] of [
    [{ query: '   ' }, 'query'],
    [{ query: 'x', params: { page: 11 } }, 'params.page'],
    [{}, 'query'],
    [{ query: 'x', more: 1 }, 'more'],
  ] as const) {
    const refused = refusal(await testOf('engine_images', body));
    assert.deepEqual([refused.status, refused.details.path], [400, path], JSON.stringify(body));
  }
  assert.equal(servers.flatMap(({ asked }) => asked).length, 0);
  await makeRecord(adminApi, 'surfaces', { name: 'notes', display_name: 'Notes' });
  for (const name of ['notes', 'nothing']) {
    assert.equal((await testOf(name, { query: 'x' })).status, 404, name);
  }
  const { sessionToken: session } = await bed.account();
  const other = await adminApi('POST', '/surfaces/engine_images/test', {
    session,
    body: { query: 'x' },
  });
  assert.equal(other.status, 403);
});

test('an answer’s test asks those that it would be made of', async () => {
  await place('web_search', { targets });
  answer({ results: 1 }, { results: 1 }, { results: 1 });
  const reply = await testOf('web_answer', { query: 'x' });
  const told = reply.json.targets as Members[];
  assert.deepEqual(
    told.map(({ provider, state }) => [provider, state]),
    targets.map(({ provider }) => [provider, 'found']),
  );
  assert.deepEqual(
    servers.map(({ asked }) => asked.map(({ path }) => path)),
    [['/search'], ['/search'], ['/search']],
  );
});
