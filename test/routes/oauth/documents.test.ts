// Apps that describe themselves: a document over TLS, the guard, the page that says so, and what an
// administrator admits.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { isToken } from '../../../actors/credentials/token.ts';
import { type Certificate, makeCertificate, withoutOpenssl } from '../../harness/certificate.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, openAdminApi } from '../admin/admin-api.ts';
import { type Browser, openBrowsers, told } from './front.ts';

const skip = withoutOpenssl;
let certificate: Certificate;
let server: Server;
let origin: string;
let bed: Testbed;
let adminApi: AdminApi;
let browser: Browser;
const asked: string[] = [];
const redirect_uri = 'https://app.example.com/callback';

before(async () => {
  if (skip !== false) return;
  certificate = await makeCertificate();
  server = createServer(certificate, (request, reply) => {
    const path = request.url ?? '';
    asked.push(path);
    const client_id = `${origin}${path.startsWith('/other') ? '/client.json' : path}`;
    const json = { client_id, client_name: 'Notes', redirect_uris: [redirect_uri] };
    if (path === '/slow.json') return;
    if (path === '/moved.json') {
      reply.writeHead(302, { location: '/client.json' }).end();
      return;
    }
    const type = path === '/page.json' ? 'text/html' : 'application/json';
    const filler = path === '/long.json' ? { filler: 'x'.repeat(6_000) } : {};
    reply.writeHead(200, { 'content-type': type }).end(JSON.stringify({ ...json, ...filler }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  origin = `https://localhost:${port}`;
  bed = await openTestbed({
    shards: 1,
    env: { ...certificate.trust, TOLLGATE_FETCH_PRIVATE: `localhost:${port}` },
  });
  adminApi = await openAdminApi(bed);
  browser = (await (await openBrowsers(bed)).someone()).browser;
});
after(async () => {
  await bed?.close();
  server?.closeAllConnections();
  server?.close();
  await certificate?.remove();
});

const admit = async (client_documents: string, client_document_hosts: string[] = []) => {
  const body = { client_documents, client_document_hosts };
  assert.equal((await adminApi('PUT', '/identity', { body })).status, 200);
};
const statusOf = async (path: string) => {
  const client_id = `${origin}${path}`;
  const { status, location } = await browser.authorize({ client_id, redirect_uri });
  assert.equal(location, null);
  return status;
};

test('documents are off until an administrator admits them', { skip }, async () => {
  assert.equal(await statusOf('/client.json'), 400);
  await admit('listed', ['apps.example.com']);
  assert.equal(await statusOf('/client.json'), 400);
  assert.deepEqual(asked, [], 'nothing is fetched for that');
  await admit('listed', [new URL(origin).host]);
  assert.equal(await statusOf('/client.json'), 200);
  await admit('any');
  assert.equal(await statusOf('/client.json'), 200);
  assert.deepEqual(asked, ['/client.json'], 'it is fetched once');
});

test('the page shows the host of the document, and that nobody has verified it', {
  skip,
}, async () => {
  await admit('any');
  const client_id = `${origin}/client.json`;
  const { client, redirect } = await browser.page({ client_id, redirect_uri });
  assert.deepEqual(client, {
    id: client_id,
    display_name: 'Notes',
    host: new URL(origin).host,
    first_party: false,
    verified: false,
  });
  assert.deepEqual(redirect, { kind: 'https', shown: 'app.example.com' });
  const url = await browser.approve({ client_id, redirect_uri });
  assert.ok(isToken('code', url.searchParams.get('code') ?? ''));
  const silent = told(await browser.authorize({ client_id, redirect_uri, prompt: 'none' }));
  assert.ok(silent.members.code !== undefined, 'an approval is remembered');
  const { request } = await browser.page({ client_id, redirect_uri, prompt: 'consent' });
  await admit('off');
  assert.equal((await browser.decide(request, 'approve')).status, 400);
  assert.equal(await statusOf('/client.json'), 400);
});

test('a document that is wrong, long, slow or elsewhere is a page that says so', {
  skip,
}, async () => {
  await admit('any');
  for (const path of ['/other.json', '/moved.json', '/page.json', '/long.json', '/slow.json']) {
    assert.equal(await statusOf(path), 400, path);
  }
  for (const client_id of [
    'https://127.0.0.1/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/client.json',
    `https://localhost:${new URL(bed.url).port}/client.json`,
    `${origin}/../client.json`,
    `${origin}/client.json#x`,
    `${origin.replace('//', '//user@')}/client.json`,
    `${origin.replace('https', 'http')}/client.json`,
  ]) {
    const answer = await browser.authorize({ client_id, redirect_uri });
    assert.deepEqual([answer.status, answer.location], [400, null], client_id);
  }
  const client_id = `${origin}/client.json`;
  const elsewhere = await browser.authorize({ client_id, redirect_uri: 'https://evil.example/' });
  assert.deepEqual([elsewhere.status, elsewhere.location], [400, null]);
});
