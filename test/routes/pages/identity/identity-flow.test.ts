// A person with a browser alone, against the real service. It signs up with a code of the mailbox,
// lets a device and an app act, sees them, and cuts them off.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import * as oidc from 'openid-client';
import type { Page } from 'playwright-core';
import { noChromium } from '../../../harness/chromium.ts';
import { IdentityBench, type Opened, waitMs } from './bench.ts';

const skip = noChromium;
let bench: IdentityBench;
before(async () => {
  const started = await IdentityBench.start();
  if (started !== null) bench = started;
});
after(() => bench?.close());

// slow: A browser goes through four lives of accounts, and loads some thirty pages.

const scope = 'profile email offline_access app';

const shows = (page: Page, selector: string) =>
  page.locator(`${selector}:visible`).waitFor({ timeout: waitMs });

async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.insertText(text);
  await page.keyboard.press('Enter');
}

/** The newest code that was sent to the address; the one before it is not meant. */
async function codeFor(address: string, before = ''): Promise<string> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const path = `/dev/mailbox/messages?to=${encodeURIComponent(address)}`;
    const { data } = (await (await fetch(bench.bed.url + path)).json()) as {
      data: { text: string }[];
    };
    const code = /\b\d{6}\b/.exec(data[0]?.text ?? '')?.[0] ?? before;
    if (code !== before) return code;
    assert.ok(performance.now() < deadline, `no code for ${address}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A new account whose person is on the page that it wanted. */
async function signUp(address: string, target = '/account'): Promise<Opened> {
  const opened = await bench.open(`/signup?return_to=${encodeURIComponent(target)}`);
  const { page } = opened;
  await shows(page, '#address-step');
  await page.keyboard.insertText(address);
  await page.locator('#full_name').focus();
  await page.keyboard.insertText('Ann Example');
  await page.locator('#terms_accepted').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await shows(page, '#code-step');
  await type(page, await codeFor(address));
  return opened;
}

const discover = () =>
  oidc.discovery(new URL(bench.bed.url), 'svc-cli', undefined, oidc.None(), {
    algorithm: 'oauth2',
    execute: [oidc.allowInsecureRequests],
  });

/** What an access token is answered with on a route of users. */
async function statusWith(token: string): Promise<number> {
  const reply = await fetch(`${bench.bed.url}/api/me/billing/summary`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await reply.arrayBuffer();
  return reply.status;
}

async function disconnect(page: Page): Promise<void> {
  await page.goto(`${bench.bed.url}/account/apps`);
  await page.getByRole('button', { name: 'Disconnect Command line' }).press('Enter');
  await page.getByRole('button', { name: 'Disconnect it' }).press('Enter');
  await page.getByText('No app acts for you.').waitFor({ timeout: waitMs });
}

test('a person signs up, lets a device in by its code, and cuts it off', { skip }, async () => {
  const config = await discover();
  const device = await oidc.initiateDeviceAuthorization(config, { scope });
  assert.equal(device.verification_uri, `${bench.bed.url}/oauth/device`);
  const opened = await signUp('device-owner@example.com', '/oauth/device');
  const { page, faults } = opened;
  await page.waitForURL(device.verification_uri, { timeout: waitMs });
  await shows(page, '#code-step');
  await type(page, device.user_code.toLowerCase());
  await shows(page, '#ask-step');
  assert.equal(await page.textContent('#title'), 'Allow Command line to use your account?');
  assert.equal(await page.textContent('#account-address'), 'device-owner@example.com');
  assert.ok(await page.locator('#elsewhere').isHidden(), 'it is in the same network');
  await page.locator('#approve').press('Enter');
  await shows(page, '#done-step');
  const tokens = await oidc.pollDeviceAuthorizationGrant(config, device);
  assert.equal(await statusWith(tokens.access_token), 200);
  await disconnect(page);
  assert.equal(await statusWith(tokens.access_token), 401);
  await assert.rejects(oidc.refreshTokenGrant(config, tokens.refresh_token ?? ''), {
    error: 'invalid_grant',
  });
  assert.deepEqual(faults, []);
  await opened.close();
});

test('an app on this computer is allowed by who had to sign in first', { skip }, async (t) => {
  const seen: URL[] = [];
  const app = createServer((asked, reply) => {
    seen.push(new URL(asked.url ?? '', `http://${asked.headers.host}`));
    reply.end('Signed in.');
  }).listen(0, '127.0.0.1');
  t.after(() => {
    app.close();
    app.closeAllConnections();
  });
  await once(app, 'listening');
  const redirectUri = `http://127.0.0.1:${(app.address() as AddressInfo).port}/callback`;
  const config = await discover();
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const asked = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const target = asked.pathname + asked.search;
  const opened = await bench.open(target);
  const { page } = opened;
  await shows(page, '#address-step');
  assert.equal(new URL(page.url()).searchParams.get('return_to'), target);
  await page.locator('#to-signup').press('Enter');
  const address = 'app-owner@example.com';
  await page.keyboard.insertText(address);
  await page.locator('#full_name').fill('Ann Example');
  await page.locator('#terms_accepted').check();
  await page.locator('#full_name').press('Enter');
  await shows(page, '#code-step');
  await type(page, await codeFor(address));
  await shows(page, '#ask-step');
  assert.match((await page.textContent('#outcome')) ?? '', /An app on this computer/);
  await page.locator('#approve').press('Enter');
  await page.waitForURL(`${redirectUri}**`, { timeout: waitMs });
  const answer = seen.find((url) => url.searchParams.has('code'));
  assert.ok(answer);
  const tokens = await oidc.authorizationCodeGrant(config, answer, {
    pkceCodeVerifier: verifier,
    expectedState: state,
  });
  assert.equal(await statusWith(tokens.access_token), 200);
  // What was approved before is asked again: the port may be anybody's.
  await page.goto(asked.href);
  await shows(page, '#ask-step');
  await page.locator('#deny').press('Enter');
  await page.waitForURL(/error=access_denied/, { timeout: waitMs });
  await disconnect(page);
  assert.equal(await statusWith(tokens.access_token), 401);
  await opened.close();
});

test('a person sees where it is signed in, leaves, and comes back as itself', {
  skip,
}, async () => {
  const address = 'traveller@example.com';
  const opened = await signUp(address, '/account/sessions');
  const { page, faults } = opened;
  await shows(page, '#list .tag');
  assert.match((await page.textContent('#list')) ?? '', /Chrome on Linux This browserIn use now/);
  await page.goto(`${bench.bed.url}/account`);
  await page.locator('body[data-phase="ready"]').waitFor({ timeout: waitMs });
  await page.locator('#full_name').fill('Ann <Other>');
  await page.locator('#full_name').press('Enter');
  await page.locator('#news').filter({ hasText: 'saved' }).waitFor({ timeout: waitMs });
  await page.locator('#sign-out').press('Enter');
  await page.waitForURL(/\/signin$/, { timeout: waitMs });
  const earlier = await codeFor(address);
  await type(page, address);
  await shows(page, '#code-step');
  await type(page, '000000');
  await page.locator('#code-error').filter({ hasText: 'wrong' }).waitFor({ timeout: waitMs });
  await page.locator('#code').fill('');
  await type(page, await codeFor(address, earlier));
  await page.waitForURL(/\/account$/, { timeout: waitMs });
  await page.locator('body[data-phase="ready"]').waitFor({ timeout: waitMs });
  assert.equal(await page.inputValue('#full_name'), 'Ann <Other>');
  assert.equal(await page.textContent('#address-text'), address);
  assert.deepEqual(faults, []);
  await opened.close();
});

test('an account that was to be deleted is kept by who signs in again', { skip }, async () => {
  const address = 'leaver@example.com';
  const opened = await signUp(address);
  const { page, faults } = opened;
  await page.locator('body[data-phase="ready"]').waitFor({ timeout: waitMs });
  const earlier = await codeFor(address);
  await page.locator('#delete').press('Enter');
  await shows(page, '#delete-dialog');
  await type(page, address);
  await page.getByRole('heading', { name: 'Your account is being deleted' }).waitFor();
  await page.getByRole('link', { name: 'Sign in' }).press('Enter');
  await page.waitForURL(/\/signin$/, { timeout: waitMs });
  await shows(page, '#address-step');
  await type(page, address);
  await shows(page, '#code-step');
  await type(page, await codeFor(address, earlier));
  await shows(page, '#restore-step');
  await page.locator('#restore').press('Enter');
  await page.waitForURL(/\/account$/, { timeout: waitMs });
  await page.locator('body[data-phase="ready"]').waitFor({ timeout: waitMs });
  assert.equal(await page.textContent('#address-text'), address);
  assert.deepEqual(faults, []);
  await opened.close();
});
