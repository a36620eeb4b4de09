// POST /video/session: the page of a development server is signed in for media elements, and lent a
// key that makes and describes videos. Nobody else gets either, and production has no such route.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { lendVideoSession } from '../../../../routes/pages/video/lend-session.ts';
import { chatBody } from '../../../harness/chat.ts';
import { Contract } from '../../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../../harness/testbed.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

const lend = (headers: Record<string, string>) =>
  fetch(`${bed.url}/video/session`, { method: 'POST', headers });

interface Lent {
  apiKey: string;
  setCookie: string;
  /** As a browser sends it. */
  cookie: string;
}

async function lent(): Promise<Lent> {
  const reply = await lend({ origin: bed.url });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  const body = (await reply.json()) as { ok: boolean; api_key: string };
  assert.deepEqual(Object.keys(body), ['ok', 'api_key'], 'scripts are not told the session');
  const setCookie = reply.headers.get('set-cookie') ?? '';
  return { apiKey: body.api_key, setCookie, cookie: setCookie.replace(/;.*/, '') };
}

test('the page is signed in as the account of dev.json, out of reach of scripts', async () => {
  const { setCookie, cookie } = await lent();
  assert.equal(setCookie, `${cookie}; Path=/; HttpOnly; SameSite=Lax`);
  assert.equal(cookie, `svc_session=${bed.dev.session_token}`);
  const summary = await contract.call('GET', '/api/me/billing/summary', { headers: { cookie } });
  assert.equal(summary.status, 200, summary.text);
  assert.equal((summary.json.wallet as { id: string }).id, bed.dev.wallet_id);
  const admin = await contract.call('GET', '/api/admin/status', { headers: { cookie } });
  assert.equal(admin.status, 403, 'it is no administrator');
});

test('on TLS the cookie never travels without it', async () => {
  const { host } = new URL(bed.url);
  const reply = await lend({ origin: `https://${host}` });
  assert.match(reply.headers.get('set-cookie') ?? '', /; SameSite=Lax; Secure$/);
  await reply.arrayBuffer();
});

test('the cookie alone watches a video, and deletes one from the web origin only', async () => {
  const { cookie } = await lent();
  const path = '/api/me/generated-videos/vid_000000000000000000000000';
  const outcome = async (method: string, headers: Record<string, string>) =>
    (await contract.call(method, path, { headers })).status;
  assert.equal(await outcome('GET', { cookie }), 404, 'of an account without that video');
  assert.equal(await outcome('DELETE', { cookie }), 403);
  assert.equal(await outcome('DELETE', { cookie, origin: 'https://evil.example' }), 403);
  assert.equal(await outcome('DELETE', { cookie, origin: 'null' }), 403);
  assert.equal(await outcome('DELETE', { cookie, origin: bed.url }), 404);
});

test('the key makes and describes videos, and can do nothing else', async () => {
  const { apiKey } = await lent();
  const headers = { 'x-api-key': apiKey };
  const list = await contract.call('GET', '/v1/video/generations', { headers });
  assert.equal(list.status, 200, list.text);
  for (const [method, path, body] of [
    ['GET', '/v1/models', undefined],
    ['POST', '/v1/chat/completions', chatBody('hello')],
    ['POST', '/v1/voice/tickets', undefined],
    ['GET', '/api/me/billing/summary', undefined],
  ] as const) {
    const options = body === undefined ? { headers } : { headers, body };
    const reply = await contract.call(method, path, options);
    assert.equal(reply.status, 403, `${method} ${path}`);
    assert.equal((reply.json.error as { code: string }).code, 'insufficient_scope');
  }
  const [row] = await bed.sql<{ scopes: string[]; accountId: string }[]>`
    select scopes, account_id as "accountId" from api_keys where label = 'video page'
      and account_id = ${bed.dev.account_id}`;
  assert.deepEqual(row?.scopes, ['video:generate', 'video:analyze']);
  const file = join(bed.gateway.dataDir, 'video-page-key');
  assert.equal(await readFile(file, 'utf8'), apiKey);
});

test('a page of another site and a client without an origin get neither', async () => {
  for (const headers of [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: bed.url, 'x-forwarded-for': '127.0.0.1' },
    { origin: bed.url, 'sec-fetch-site': 'cross-site' },
  ] as Record<string, string>[]) {
    const reply = await lend(headers);
    assert.equal(reply.status, 403, JSON.stringify(headers));
    assert.equal(reply.headers.get('set-cookie'), null);
    assert.doesNotMatch(await reply.text(), /svc_live|api_key/);
  }
});

test('in production there is no such route, whoever asks', async () => {
  const { host } = new URL(bed.url);
  const headers: Record<string, string> = { host, origin: bed.url };
  const exchange = { header: (name: string) => headers[name], clientAddress: '127.0.0.1' };
  const ask = (mode: string) => {
    const config = { mode, baseUrl: bed.url, dataDir: bed.gateway.dataDir };
    return lendVideoSession.handle({ exchange, services: { config } } as never);
  };
  assert.equal((await ask('dev')).status, 200, 'this caller would be lent one');
  await assert.rejects(async () => ask('production'), { code: 'not_found' });
});
