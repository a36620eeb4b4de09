// People in a real Chromium sign in and allow an app. Their browser ends where the app waits: at a
// program on this computer, at a server, or at the scheme of an app. One of the apps is the
// conformance program of the Model Context Protocol.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type Certificate, makeCertificate, withoutOpenssl } from '../../harness/certificate.ts';
import { noChromium, openChromium } from '../../harness/chromium.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, openAdminApi } from '../../routes/admin/admin-api.ts';
import { IdentityBed } from '../../routes/identity/bed.ts';
import { type App, cli, desktop, everyScope } from './apps.ts';
import { ChromiumPerson, waitMs } from './chromium-person.ts';
import { openOpenidClient } from './openid-client.ts';
import { runProgram } from './program.ts';

const skip = noChromium;
let bed: Testbed;
let adminApi: AdminApi;
let browser: Browser;
let person: ChromiumPerson;
before(async () => {
  if (skip !== false) return;
  [bed, browser] = await Promise.all([
    openTestbed({ own: 'it changes the settings of identity' }),
    openChromium(),
  ]);
  adminApi = await openAdminApi(bed);
  person = await ChromiumPerson.open(browser, await IdentityBed.over(bed));
});
after(async () => {
  await browser?.close();
  await bed?.close();
});

/** Its port, until the test is over. */
async function listen(
  context: TestContext,
  server: Server & { closeAllConnections(): void },
): Promise<number> {
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The tokens that an app got for what its person was sent back with are good. */
async function checkWorks(accessToken: string): Promise<void> {
  const headers = { authorization: `Bearer ${accessToken}` };
  assert.equal((await fetch(`${bed.url}/api/me/api-keys`, { headers })).status, 200);
}

test('the conformance program finds nothing but that documents are off', { skip }, async () => {
  const run = await runProgram(bed.url, cli.id, async (asked) => {
    const page = await person.open(asked);
    await person.signIn(page);
    await person.allow(page);
  });
  const found = run.checks.map(({ id, status }) => [id, status]);
  assert.deepEqual(
    found.sort(),
    [
      ['authorization-code-grant', 'SUCCESS'],
      ['authorization-server-metadata', 'SUCCESS'],
      ['authorization-server-metadata-cimd', 'WARNING'],
    ],
    run.printed,
  );
  assert.equal(run.exitCode, 0, run.printed);
});

test('with documents of any host it finds nothing', { skip }, async () => {
  const admitted = await adminApi('PUT', '/identity', { body: { client_documents: 'any' } });
  assert.equal(admitted.status, 200, admitted.text);
  const run = await runProgram(bed.url, desktop.id, async (asked) => {
    await person.allow(await person.open(asked));
  });
  const statuses = run.checks.map(({ status }) => status);
  assert.deepEqual(statuses, ['SUCCESS', 'SUCCESS', 'SUCCESS'], run.printed);
  assert.equal(run.exitCode, 0, run.printed);
});

test('an approval ends at the port on which a program waits', { skip }, async (context) => {
  const callbacks: string[] = [];
  const server = createHttpServer((asked, reply) => {
    if (asked.url?.startsWith('/callback') === true) callbacks.push(asked.url);
    reply.end('You can close this window.');
  });
  const place = `http://127.0.0.1:${await listen(context, server)}`;
  const app = { ...cli, secret: null, redirectUri: `${place}/callback` };
  const library = await openOpenidClient(bed.url, app);
  for (const _time of ['first', 'and each time, as any program may wait there']) {
    const { url, finish } = await library.begin(everyScope);
    const page = await person.open(url);
    const { title, outcome } = await person.allow(page);
    assert.match(title, /Command line/);
    assert.ok(outcome.includes(new URL(place).host), outcome);
    await page.waitForURL(`${place}/callback?**`, { timeout: waitMs });
    const tokens = await finish(new URL(callbacks.at(-1) ?? '', place));
    await checkWorks(tokens.access_token);
  }
  assert.equal(callbacks.length, 2);
  assert.deepEqual(person.faults, []);
});

test('an approval ends at the server of an app, which needs no second click', {
  skip: skip === false ? withoutOpenssl : skip,
}, async (context) => {
  const certificate: Certificate = await makeCertificate();
  context.after(() => certificate.remove());
  const callbacks: string[] = [];
  const server = createHttpsServer(certificate, (asked, reply) => {
    if (asked.url?.startsWith('/signed-in') === true) callbacks.push(asked.url);
    reply.end('Welcome.');
  });
  const place = `https://localhost:${await listen(context, server)}`;
  const redirectUri = `${place}/signed-in`;
  const secret = await makeWebApp(redirectUri);
  const app: App = { id: 'web-app', authentication: 'client_secret_basic', redirectUri };
  const library = await openOpenidClient(bed.url, { ...app, secret });
  const first = await library.begin(everyScope);
  const page = await person.open(first.url);
  const { title } = await person.allow(page);
  assert.match(title, /Web notes/);
  await page.waitForURL(`${redirectUri}?**`, { timeout: waitMs });
  const second = await library.begin(everyScope);
  const passed = await person.open(second.url);
  assert.ok(passed.url().startsWith(`${redirectUri}?`), passed.url());
  for (const { finish } of [first, second]) {
    const tokens = await finish(new URL(callbacks.shift() ?? '', place));
    await checkWorks(tokens.access_token);
  }
  assert.deepEqual(person.faults, []);
});

/** A confidential client; its secret. */
async function makeWebApp(redirectUri: string): Promise<string> {
  const body = {
    name: 'web-app',
    display_name: 'Web notes',
    type: 'confidential',
    redirect_uris: [redirectUri],
    grants: ['authorization_code', 'refresh_token'],
    scopes: everyScope.split(' '),
  };
  assert.equal((await adminApi('POST', '/oauth-clients', { body })).status, 201);
  return String((await adminApi('POST', '/oauth-clients/web-app/secret')).json.secret);
}

test('an approval ends at the scheme of an app', { skip }, async () => {
  const library = await openOpenidClient(bed.url, { ...desktop, secret: null });
  const { url, finish } = await library.begin(everyScope);
  const page = await person.open(url);
  // No program here has the scheme: that the browser asks for one is all there is to see.
  const asked = page.waitForRequest((request) => request.url().startsWith('svc-desktop:'), {
    timeout: waitMs,
  });
  const { title, outcome } = await person.allow(page);
  assert.match(title, /Desktop app/);
  assert.match(outcome, /svc-desktop:/);
  const request = await asked;
  assert.ok(request.isNavigationRequest());
  await page.locator('#done-step:visible').waitFor({ timeout: waitMs });
  assert.doesNotMatch(await page.content(), /svc_ac_/, 'no code is there to be copied');
  const tokens = await finish(new URL(request.url()));
  await checkWorks(tokens.access_token);
  assert.deepEqual(person.faults, []);
});
