// What apps are told and tell over several processes: one tells what another wrote, and a stop
// writes what is counted. Without a database memory is told.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closePool, openPool } from '../../../db/driver/sql.ts';
import { type Gateway, startGateway } from '../../harness/gateway.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

// slow: It starts two processes, and takes their database away.

let bed: Testbed;
let other: Gateway;
const secret = randomBytes(32).toString('base64url');
before(async () => {
  bed = await openTestbed({ shards: 2, env: { TOLLGATE_SECRET: secret } });
  const env = {
    DATABASE_URL: bed.database.url,
    TOLLGATE_MODE: 'dev',
    TOLLGATE_SECRET: secret,
    TOLLGATE_LOG_LEVEL: 'warn',
  };
  other = await startGateway({ shards: 1, env });
});
after(async () => {
  await other?.close();
  await bed?.close();
});

type Members = Record<string, unknown>;

function post(url: string, path: string, body: Members, session?: string): Promise<Response> {
  const signedIn: Record<string, string> =
    session === undefined ? {} : { 'x-svc-session': session };
  return fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signedIn },
    body: JSON.stringify(body),
  });
}

async function titlesAt(url: string): Promise<string> {
  const reply = await fetch(`${url}/api/app/notifications`);
  assert.equal(reply.status, 200);
  const { data } = (await reply.json()) as { data: Members[] };
  return data.map(({ title }) => title).join();
}

test('a second process tells a notice within seconds', async () => {
  const body = { title: 'For both', body: '' };
  const made = await post(bed.url, '/api/admin/notifications', body, bed.dev.admin_session_token);
  assert.equal(made.status, 201);
  assert.equal(await titlesAt(bed.url), 'For both');
  for (let tries = 0; (await titlesAt(other.url)) === '' && tries < 150; tries += 1)
    await sleep(100);
  assert.equal(await titlesAt(other.url), 'For both');
});

test('a process that stops writes what it has counted', async () => {
  const ids = Array.from({ length: 15 }, (_, index) => `counted-${index}`);
  for (const installation_id of ids) {
    const reply = await post(other.url, '/api/app/activity', { installation_id });
    assert.equal(reply.status, 202);
  }
  assert.equal(await other.stop(), 0);
  const [row] = await bed.sql<{ count: number }[]>`
    SELECT coalesce(sum(count), 0)::float8 AS count FROM app_activity
    WHERE subject LIKE 'counted-%'`;
  assert.equal(row?.count, ids.length);
});

test('without a database memory is told, and what has to be written is 503', async () => {
  const { url } = bed.database;
  const name = /\/([^/?]+)(?:\?.*)?$/.exec(url)?.[1] ?? '';
  const beside = openPool({
    url: url.replace(`/${name}`, '/postgres'),
    ...{ purpose: 'general', connectionsMax: 1, statementTimeoutMs: 10_000 },
  });
  const allow = (isAllowed: boolean) =>
    beside.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isAllowed}`);
  const installation_id = 'without-database';
  try {
    await allow(false);
    await beside`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`;
    await sleep(300);
    assert.equal(await titlesAt(bed.url), 'For both');
    const open = ['/api/browser-extension/releases', '/api/social-profiles'];
    for (const path of open) assert.equal((await fetch(bed.url + path)).status, 200, path);
    const active = await post(bed.url, '/api/app/activity', { installation_id });
    assert.equal(active.status, 202);
    for (const [path, body] of [
      ['installations', { installation_id }],
      ['errors', { message: 'it failed' }],
      ['feedback', { message: 'it is away' }],
    ] as const) {
      const reply = await post(bed.url, `/api/app/${path}`, body);
      const text = await reply.text();
      assert.equal(reply.status, 503, `${path} ${text}`);
      assert.match(text, /dependency_unavailable/);
    }
  } finally {
    await allow(true);
    await closePool(beside, 1_000);
  }
  const counted = async () =>
    bed.sql`SELECT 1 FROM app_activity WHERE subject = ${installation_id}`;
  for (let tries = 0; (await counted()).length === 0 && tries < 250; tries += 1) await sleep(100);
  assert.equal((await counted()).length, 1, 'what was counted meanwhile is written');
});
