// Whole flows go from the page to a call in the person's name: by code, by device, with a secret.
// Codes that come to the wrong hands are good for nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { deviceGrant } from '../../../actors/oauth/client.ts';
import { challengeOf } from '../../../actors/oauth/pkce.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { openAdminApi } from '../admin/admin-api.ts';
import { codeForm, type OAuthCalls, openOAuthCalls, tokensOf } from './calls.ts';
import { loopbackRedirect, openBrowsers, verifier, webRedirect } from './front.ts';

let bed: Testbed;
let calls: OAuthCalls;
let browsers: Awaited<ReturnType<typeof openBrowsers>>;
let secret: string;
before(async () => {
  bed = await openTestbed({ own: 'it adds a client with a secret' });
  calls = await openOAuthCalls(bed.url);
  browsers = await openBrowsers(bed);
  const adminApi = await openAdminApi(bed);
  const body = {
    name: 'server',
    display_name: 'Server',
    type: 'confidential',
    redirect_uris: [webRedirect],
    grants: ['authorization_code', 'refresh_token'],
    scopes: ['profile', 'email', 'offline_access', 'app'],
  };
  assert.equal((await adminApi('POST', '/oauth-clients', { body })).status, 201);
  secret = String((await adminApi('POST', '/oauth-clients/server/secret')).json.secret);
});
after(() => bed?.close());

const codeOf = (url: URL) => url.searchParams.get('code') ?? '';

test('an app on this computer gets what the person approved, and calls in its name', async () => {
  const { browser, account } = await browsers.someone();
  const code = codeOf(await browser.approve({ scope: 'profile offline_access app' }));
  const form = codeForm({ code, verifier, redirectUri: loopbackRedirect });
  const reply = await calls.post('/oauth/token', { client_id: 'svc-cli', ...form });
  assert.equal(reply.status, 200, reply.text);
  const tokens = tokensOf(reply);
  assert.equal(tokens.scope, 'profile offline_access app');
  const person = await calls.get('/oauth/userinfo', tokens.access_token);
  assert.equal(person.json.sub, account.accountId);
  const keys = await calls.get('/api/me/api-keys', tokens.access_token);
  assert.equal(keys.status, 200);
  assert.equal((await calls.refresh(tokens.refresh_token)).status, 200);
});

test('a server shows its secret in one of two places, the former one too', async () => {
  const adminApi = await openAdminApi(bed);
  const { browser } = await browsers.someone();
  const query = { client_id: 'server', redirect_uri: webRedirect, prompt: 'consent' };
  const redeem = async (shown: string, place: 'form' | 'basic') => {
    const code = codeOf(await browser.approve(query));
    const form = codeForm({ code, verifier, redirectUri: webRedirect });
    const basic = Buffer.from(`server:${shown}`).toString('base64');
    const { status, json } = await (place === 'basic'
      ? calls.post('/oauth/token', form, { authorization: `Basic ${basic}` })
      : calls.post('/oauth/token', { ...form, client_id: 'server', client_secret: shown }));
    return [status, json.error];
  };
  assert.deepEqual(await redeem(secret, 'form'), [200, undefined]);
  assert.deepEqual(await redeem(secret, 'basic'), [200, undefined]);
  const newer = String((await adminApi('POST', '/oauth-clients/server/secret')).json.secret);
  assert.deepEqual(await redeem(newer, 'basic'), [200, undefined]);
  assert.deepEqual(await redeem(secret, 'basic'), [200, undefined], 'for a day more');
  const newest = String((await adminApi('POST', '/oauth-clients/server/secret')).json.secret);
  assert.deepEqual(await redeem(secret, 'form'), [401, 'invalid_client']);
  assert.deepEqual(await redeem(newer, 'form'), [200, undefined]);
  await bed.sql`UPDATE oauth_clients SET former_secret_until = now() WHERE name = 'server'`;
  await adminApi('PATCH', '/oauth-clients/server', { body: { display_name: 'The server' } });
  assert.deepEqual(await redeem(newer, 'form'), [401, 'invalid_client'], 'its day is over');
  assert.deepEqual(await redeem(newest, 'basic'), [200, undefined]);
});

test('a device is let in by the code that it shows', async () => {
  const { browser, account } = await browsers.someone();
  const asked = await calls.post('/oauth/device/code', {
    client_id: 'svc-cli',
    scope: 'profile app',
  });
  const { user_code, device_code } = asked.json as Record<string, string>;
  const shown = await browser.post('/oauth/device', { user_code });
  assert.deepEqual(shown.json.scopes, ['profile', 'app']);
  assert.equal(shown.json.is_other_network, false);
  const form = { client_id: 'svc-cli', grant_type: deviceGrant, device_code: device_code ?? '' };
  const waiting = await calls.post('/oauth/token', form);
  assert.equal(waiting.json.error, 'authorization_pending');
  await browser.post('/oauth/device', { user_code, decision: 'approve' });
  await bed.sql`UPDATE oauth_devices SET polled_at = now() - interval '1 minute'`;
  const reply = await calls.post('/oauth/token', form);
  assert.equal(reply.status, 200, reply.text);
  const person = await calls.get('/oauth/userinfo', tokensOf(reply).access_token);
  assert.equal(person.json.sub, account.accountId);
  const late = await browser.post('/oauth/device', { user_code });
  assert.equal(late.status, 400, 'its code is used up');
});

test('RFC 9700, code injection: a stolen code is no good in another session', async () => {
  const victim = await browsers.someone();
  const attacker = randomBytes(32).toString('base64url');
  const stolen = codeOf(await victim.browser.approve());
  const inject = (code: string, more: Record<string, string> = {}) => {
    const form = codeForm({ code, verifier: attacker, redirectUri: loopbackRedirect });
    return calls.post('/oauth/token', { client_id: 'svc-cli', ...form, ...more });
  };
  const injected = await inject(stolen);
  assert.deepEqual([injected.status, injected.json.error], [400, 'invalid_grant']);
  const own = await inject(stolen, { code_verifier: verifier });
  assert.equal(own.json.error, 'invalid_grant', 'who showed it wrongly has used it up');
  const challenged = { code_challenge: challengeOf(attacker) ?? '' };
  const theirs = codeOf(await victim.browser.approve(challenged));
  const mixed = await inject(theirs, { client_id: 'svc-desktop' });
  assert.equal(mixed.json.error, 'invalid_grant', 'of another client');
  const moved = codeOf(await victim.browser.approve(challenged));
  const elsewhere = await inject(moved, { redirect_uri: 'http://127.0.0.1:1/callback' });
  assert.equal(elsewhere.json.error, 'invalid_grant', 'of another redirect');
});

test('RFC 9700, PKCE downgrade: no challenge no code, no verifier no token', async () => {
  const { browser } = await browsers.someone();
  const bare = await browser.authorize({
    code_challenge: undefined,
    code_challenge_method: undefined,
  });
  assert.match(bare.location ?? '', /[?&]error=invalid_request&/);
  const code = codeOf(await browser.approve());
  const { code_verifier: _left, ...form } = codeForm({
    code,
    verifier,
    redirectUri: loopbackRedirect,
  });
  const reply = await calls.post('/oauth/token', { client_id: 'svc-cli', ...form });
  assert.equal(reply.status, 400);
});
