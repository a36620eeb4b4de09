// What is known of providers: the model status from scheduled probes, which shows no provider, and
// the test call of one, which shows nothing that the provider said.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import {
  type AdminApi,
  everything,
  freshGet,
  makeRecord,
  openAdminApi,
  refusal,
} from './admin-api.ts';

// slow: It waits for probes and their deadlines in real time.

type Members = Record<string, unknown>;

const periodSeconds = 5;
let bed: Testbed;
let adminApi: AdminApi;
let startedAt: number;
let server: Server;
let serverUrl: string;
/** What the provider was asked, newest last. */
const asked: { method: string; path: string; credential: string; atMs: number }[] = [];
/** What the provider refuses from now on, with what: `POST` is a call, `GET` a probe. */
let refusing: { method: 'GET' | 'POST'; status: number; text: string } | null = null;

before(async () => {
  server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request;
    const credential = headers.authorization ?? '';
    asked.push({ method, path, credential, atMs: performance.now() });
    request.resume();
    const list = { object: 'list', data: [{ id: 'there' }] };
    if (path === '/hang/models/there') return;
    if (refusing?.method === method) response.writeHead(refusing.status).end(refusing.text);
    else if (path === '/v1/models/there') response.writeHead(200).end('{"id":"there"}');
    else if (path === '/v1/models') response.writeHead(200).end(JSON.stringify(list));
    else response.writeHead(404).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  bed = await openTestbed({ env: { TOLLGATE_PROBE_SECONDS: String(periodSeconds) } });
  startedAt = performance.now();
  adminApi = await openAdminApi(bed);
  const key = { family: 'openai-chat', api_key: 'probed-credential' };
  await make('providers', { name: 'well-vendor', ...key, base_url: `${serverUrl}/v1` });
  await make('providers', { name: 'hung-vendor', ...key, base_url: `${serverUrl}/hang` });
  await make('providers', { name: 'gone-vendor', ...key, base_url: 'http://127.0.0.1:9/v1' });
  await make('models', model('well', 'well-vendor', 'there'));
  await make('models', model('missing', 'well-vendor', 'not-there'));
  await make('models', model('hung', 'hung-vendor', 'there'));
  await make('models', model('half', 'well-vendor', 'there', 'gone-vendor', 'there'));
});
after(async () => {
  server?.closeAllConnections();
  server?.close();
  await bed?.close();
});

function model(alias: string, ...pairs: string[]): Members {
  const routes: Members[] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    routes.push({ provider: pairs[index], upstream_model: pairs[index + 1] });
  }
  return { alias, routes, price: { input_per_million: '1', output_per_million: '1' } };
}

const make = (kind: string, body: Members) => makeRecord(adminApi, kind, body);

interface Status {
  generated_at: string;
  models: { alias: string; status: string; routes_operational: number }[];
}

async function modelStatus(): Promise<{ text: string; status: Status | null }> {
  const { status, text } = await freshGet(`${bed.url}/api/public/model-status`);
  return { text, status: status === 200 ? (JSON.parse(text) as Status) : null };
}

async function until(what: string, holds: (status: Status) => boolean) {
  const timeoutMs = 60_000;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { status, text } = await modelStatus();
    if (status !== null && holds(status)) return { status, text };
    assert.ok(performance.now() < deadline, `not within ${timeoutMs} ms: ${what} ${text}`);
    await sleep(100);
  }
}

/** Sooner than the next round of probes would show it. */
async function soon(what: string, holds: (status: Status) => boolean) {
  const watch = startStopwatch();
  const seen = await until(what, holds);
  watch.assertWithin(periodSeconds * 1_000 * 0.75, what);
  return seen;
}

function statusOf(status: Status, alias: string): string | undefined {
  return status.models.find((entry) => entry.alias === alias)?.status;
}

async function tryOut(name: string, body?: Members): Promise<Members> {
  const reply = await adminApi('POST', `/providers/${name}/test`, { body });
  assert.equal(reply.status, 200, reply.text);
  return reply.json.test as Members;
}

test('a test call says whether a provider works, and nothing that it said', async () => {
  const good = await tryOut('simulator');
  assert.deepEqual([good.ok, good.call, good.failure], [true, 'generation', null]);
  assert.ok((good.latency_ms as number) < 30_000);
  const gone = await tryOut('gone-vendor');
  assert.deepEqual([gone.ok, gone.failure], [false, 'unreachable']);
  assert.equal((await tryOut('well-vendor')).failure, 'model', '404 of the call itself');
  refusing = {
    method: 'POST',
    status: 401,
    text: '{"error":{"message":"bad key probed-credential"}}',
  };
  const before = asked.length;
  const refused = await adminApi('POST', '/providers/well-vendor/test', { body: {} });
  assert.equal((refused.json.test as Members).failure, 'credential');
  assert.ok(!refused.text.includes('bad key') && !refused.text.includes('probed-credential'));
  const call = asked.slice(before).find(({ method }) => method === 'POST');
  assert.equal(call?.credential, 'Bearer probed-credential');
  for (const [status, failure] of [
    [429, 'busy'],
    [400, 'rejected'],
    [500, 'failed'],
  ] as const) {
    refusing = { method: 'POST', status, text: '{}' };
    assert.equal((await tryOut('well-vendor', { upstream_model: 'there' })).failure, failure);
  }
  refusing = null;
  await make('providers', { name: 'unused', family: 'openai-chat', base_url: `${serverUrl}/v1` });
  const unused = await tryOut('unused');
  assert.deepEqual([unused.ok, unused.call, unused.upstream_model], [true, 'models', null]);
  assert.equal((await adminApi('POST', '/providers/none/test')).status, 404);
  const events = await everything(adminApi, '/audit?action=provider.test');
  assert.equal(events.length, 8);
  assert.ok(!JSON.stringify(events).includes('probed-credential'));
  const { sessionToken: session } = await bed.account();
  const forbidden = refusal(await adminApi('POST', '/providers/simulator/test', { session }));
  assert.equal(forbidden.status, 403);
});

test('the first status tells well, missing and silent routes apart, and names nobody', async () => {
  const { status, text } = await until('first snapshot', () => true);
  assert.ok(performance.now() - startedAt > 7_000, 'not long before');
  assert.equal(statusOf(status, 'well'), 'operational');
  assert.equal(statusOf(status, 'svc-sim-chat'), 'operational');
  assert.equal(statusOf(status, 'missing'), 'unavailable');
  assert.equal(statusOf(status, 'hung'), 'unavailable');
  assert.equal(statusOf(status, 'half'), 'degraded');
  assert.doesNotMatch(text, /-vendor|127\.0\.0\.1|there|simulator|openai/);
  const probes = asked.filter(({ method }) => method === 'GET');
  assert.ok(probes.every(({ path }) => path.includes('/models')));
});

test('the list of models leaves out those that nobody answers for', async () => {
  const headers = { authorization: `Bearer ${bed.dev.api_key}` };
  const reply = await fetch(`${bed.url}/v1/models`, { headers });
  const { data } = (await reply.json()) as { data: { id: string }[] };
  const listed = ['well', 'missing', 'hung', 'half'].filter((alias) =>
    data.some(({ id }) => id === alias),
  );
  assert.deepEqual(listed, ['well', 'half']);
});

test('a change of the catalog is seen in the status at once', async () => {
  await adminApi('POST', '/models/hung/disable');
  const { status } = await soon('hung is gone', (now) => !statusOf(now, 'hung'));
  assert.equal(statusOf(status, 'well'), 'operational');
  await make('models', model('late', 'well-vendor', 'there'));
  await soon('a new model is known', (now) => statusOf(now, 'late') === 'operational');
  await adminApi('POST', '/providers/well-vendor/disable');
  await soon('no route', (now) => statusOf(now, 'well') === 'unavailable');
  await adminApi('POST', '/providers/well-vendor/enable');
});

test('every route is probed again in its time, and not more often', async () => {
  asked.length = 0;
  refusing = { method: 'GET', status: 403, text: '{}' };
  await until('refused', (now) => statusOf(now, 'well') === 'unavailable');
  refusing = null;
  await until('well again', (now) => statusOf(now, 'well') === 'operational');
  const times = asked.filter(({ path }) => path === '/v1/models/there').map(({ atMs }) => atMs);
  assert.ok(times.length >= 2);
  const pauses = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
  console.log(`probed again after ${pauses.map((ms) => Math.round(ms)).join(', ')} ms`);
  for (const ms of pauses) assert.ok(ms > periodSeconds * 1_000 * 0.75, `${ms} ms`);
});
