// The other endpoints: metadata, device codes, revocation, who the person is, keys that apps make.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { createOAuthLimits } from '../../../actors/oauth/limits.ts';
import { readUserCode, userCodeDigest } from '../../../actors/oauth/user-code.ts';
import { findDevice } from '../../../db/oauth.ts';
import { failed, invalidClient } from '../../../routes/oauth/problems.ts';
import { createFailureBuffers, FailureLimiter } from '../../../runtime/failure-limiter.ts';
import { createSealer } from '../../../runtime/seal.ts';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { askEverywhere } from '../admin/admin-api.ts';
import { type OAuthCalls, openOAuthCalls, refusalOf, tokensOf } from './calls.ts';

const masterKey = Buffer.alloc(32, 5).toString('base64url');

let bed: Testbed;
let calls: OAuthCalls;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_SECRET: masterKey }, shards: 4 });
  calls = await openOAuthCalls(bed.url);
  account = await bed.account();
});
after(() => bed?.close());

const signIn = (scopes?: string[]) =>
  calls.signIn(bed.sql, account.accountId, scopes === undefined ? {} : { scopes });

test('the server tells what it offers, and that it is no OpenID provider', async () => {
  const { contract, url } = { contract: calls.contract, url: bed.url };
  const server = await contract.call('GET', '/.well-known/oauth-authorization-server');
  assert.equal(server.status, 200);
  assert.equal(server.headers.get('access-control-allow-origin'), '*');
  assert.deepEqual(server.json, {
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/oauth/token`,
    revocation_endpoint: `${url}/oauth/revoke`,
    device_authorization_endpoint: `${url}/oauth/device/code`,
    userinfo_endpoint: `${url}/oauth/userinfo`,
    scopes_supported: ['profile', 'email', 'offline_access', 'app'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: [
      'none',
      'client_secret_basic',
      'client_secret_post',
    ],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: false,
    service_documentation: `${url}/docs`,
  });
  const resource = await contract.call('GET', '/.well-known/oauth-protected-resource');
  assert.deepEqual([resource.json.resource, resource.json.authorization_servers], [url, [url]]);
  const connect = await fetch(`${url}/.well-known/openid-configuration`);
  assert.equal(connect.status, 404);
});

test('a device gets codes to show, kept so that nobody can read them', async () => {
  const scope = 'app nothing offline_access';
  const reply = await calls.post('/oauth/device/code', { client_id: 'svc-cli', scope });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  const { device_code: deviceCode, user_code: shown, ...rest } = reply.json;
  assert.deepEqual(rest, {
    verification_uri: `${bed.url}/oauth/device`,
    expires_in: 900,
    interval: 5,
  });
  const userCode = readUserCode(String(shown));
  assert.equal(userCode, shown);
  const digest = userCodeDigest(createSealer(masterKey), String(userCode));
  const device = await findDevice(bed.sql, digest);
  assert.deepEqual(
    [device?.client, device?.scopes, device?.network, device?.status],
    ['svc-cli', ['offline_access', 'app'], '127.0.0.0/24', 'pending'],
  );
  assert.deepEqual(refusalOf(await calls.poll(String(deviceCode))), [400, 'authorization_pending']);
  const [row] = await bed.sql`SELECT row_to_json(d)::text AS text FROM oauth_devices d`;
  for (const secret of [deviceCode, userCode]) assert.ok(!row?.text.includes(secret));
});

test('who may have no devices gets no codes', async () => {
  const ask = (form: Record<string, string>) => calls.post('/oauth/device/code', form);
  assert.deepEqual(refusalOf(await ask({ client_id: 'svc-desktop' })), [
    400,
    'unauthorized_client',
  ]);
  assert.deepEqual(refusalOf(await ask({ client_id: 'nobody' })), [401, 'invalid_client']);
  const reply = await ask({ client_id: 'svc-cli', scope: 'openid' });
  assert.deepEqual(refusalOf(reply), [400, 'invalid_scope']);
  const usual = await ask({ client_id: 'svc-cli', scope: '' });
  assert.equal(usual.status, 200);
  const [row] = await bed.sql`
    SELECT scopes FROM oauth_devices
    WHERE device_code_hash = ${tokenHash(String(usual.json.device_code))}`;
  assert.deepEqual(row?.scopes, ['profile']);
});

test('a refresh token that is given back ends everything, on every shard, at once', async () => {
  const tokens = await signIn();
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  const made = await calls.contract.call('POST', '/api/me/api-keys', {
    headers,
    body: { label: 'made by an app' },
  });
  assert.equal(made.status, 201, made.text);
  const key = { authorization: `Bearer ${made.json.raw_token}` };
  const statuses = async (path: string, sent: Record<string, string>) => [
    ...new Set((await askEverywhere(bed.url + path, sent)).map(({ status }) => status)),
  ];
  assert.deepEqual(await statuses('/oauth/userinfo', headers), [200]);
  assert.deepEqual(await statuses('/v1/models', key), [200]);
  const form = { client_id: 'svc-cli', token: tokens.refresh_token };
  const reply = await calls.post('/oauth/revoke', form);
  assert.deepEqual([reply.status, reply.json], [200, {}]);
  assert.deepEqual(await statuses('/oauth/userinfo', headers), [401]);
  assert.deepEqual(await statuses('/v1/models', key), [401]);
  assert.deepEqual(refusalOf(await calls.refresh(tokens.refresh_token)), [400, 'invalid_grant']);
  assert.equal((await calls.post('/oauth/revoke', form)).status, 200);
});

test('a key that a person makes ends with no app', async () => {
  const tokens = await signIn();
  const own = await calls.contract.call('POST', '/api/me/api-keys', {
    headers: { 'x-svc-session': account.sessionToken },
    body: { label: 'own' },
  });
  await calls.post('/oauth/revoke', { client_id: 'svc-cli', token: tokens.refresh_token });
  const headers = { authorization: `Bearer ${own.json.raw_token}` };
  assert.equal((await calls.contract.call('GET', '/v1/models', { headers })).status, 200);
});

test('an access token that is given back ends alone', async () => {
  const first = await signIn();
  const second = tokensOf(await calls.refresh(first.refresh_token));
  const hint = 'refresh_token';
  const form = { client_id: 'svc-cli', token: first.access_token, token_type_hint: hint };
  assert.equal((await calls.post('/oauth/revoke', form)).status, 200);
  assert.equal((await calls.get('/oauth/userinfo', first.access_token)).status, 401);
  assert.equal((await calls.get('/oauth/userinfo', second.access_token)).status, 200);
  assert.equal((await calls.refresh(second.refresh_token)).status, 200);
});

test('only its own client gives a token back; what is unknown is as good as gone', async () => {
  const { refresh_token: token } = await signIn();
  const foreign = await calls.post('/oauth/revoke', { client_id: 'svc-desktop', token });
  assert.deepEqual(refusalOf(foreign), [400, 'invalid_grant']);
  const nobody = await calls.post('/oauth/revoke', { client_id: 'nobody', token });
  assert.deepEqual(refusalOf(nobody), [401, 'invalid_client']);
  const none = await calls.post('/oauth/revoke', { client_id: 'svc-cli' });
  assert.deepEqual(refusalOf(none), [400, 'invalid_request']);
  for (const unknown of [newToken('refresh'), newToken('access'), newToken('code'), 'x']) {
    const reply = await calls.post('/oauth/revoke', { client_id: 'svc-cli', token: unknown });
    assert.equal(reply.status, 200);
  }
  assert.equal((await calls.refresh(token)).status, 200);
});

test('a token tells of the person what its scopes say', async () => {
  await bed.sql`
    UPDATE accounts SET email = ${`${account.accountId}@example.com`}, email_owned = true,
      email_verified_at = now(), full_name = 'Ada Löwe' WHERE id = ${account.accountId}`;
  const told = async (scopes: string[]) => {
    const { access_token: token } = await signIn(scopes);
    return (await calls.get('/oauth/userinfo', token)).json;
  };
  const profile = { sub: account.accountId, name: 'Ada Löwe' };
  const email = { email: `${account.accountId}@example.com`, email_verified: true };
  assert.deepEqual(await told(['profile']), profile);
  assert.deepEqual(await told(['email']), email);
  assert.deepEqual(await told(['profile', 'email', 'app']), { ...profile, ...email });
  const other = await bed.account();
  const { access_token: token } = await calls.signIn(bed.sql, other.accountId);
  assert.deepEqual((await calls.get('/oauth/userinfo', token)).json, { sub: other.accountId });
});

test('who a person is is told for an access token in its place alone', async () => {
  const { access_token: token } = await signIn();
  const { access_token: app } = await signIn(['app']);
  const get = (path: string, headers: Record<string, string> = {}) =>
    calls.contract.call('GET', path, { headers });
  const refused = [
    await get('/oauth/userinfo'),
    await get(`/oauth/userinfo?access_token=${token}`),
    await get('/oauth/userinfo', { authorization: `Bearer ${newToken('access')}` }),
    await get('/oauth/userinfo', { authorization: `Bearer ${account.apiKey}` }),
    await get('/oauth/userinfo', { 'x-svc-session': account.sessionToken }),
    await get('/oauth/userinfo', { cookie: `svc_session=${account.sessionToken}` }),
  ];
  for (const reply of refused) {
    assert.deepEqual(refusalOf(reply), [401, 'invalid_token'], reply.text);
    const challenge = reply.headers.get('www-authenticate') ?? '';
    assert.match(challenge, /^Bearer resource_metadata="http/);
  }
  const reply = await calls.get('/oauth/userinfo', app);
  assert.deepEqual(refusalOf(reply), [403, 'insufficient_scope']);
  const disabled = await bed.account();
  const { access_token: last } = await calls.signIn(bed.sql, disabled.accountId);
  await bed.sql`UPDATE accounts SET disabled_at = now() WHERE id = ${disabled.accountId}`;
  assert.equal((await calls.get('/oauth/userinfo', last)).status, 401);
});

test('clients of a network fail 60 times a minute, in development 6,000 times', () => {
  const limits = { oauth: createOAuthLimits({ mode: 'production' }) };
  const failures = new FailureLimiter(createFailureBuffers(Date.now()));
  const services = { access: { failures }, limits } as unknown as Parameters<typeof failed>[2];
  const fail = (clientAddress: string) => failed(invalidClient(), { clientAddress }, services);
  const statuses = Array.from({ length: 62 }, () => fail('192.0.2.1').status);
  assert.equal(statuses.indexOf(429), 60);
  assert.ok(Number(fail('192.0.2.1').headers['retry-after']) >= 1);
  assert.equal(fail('192.0.2.2').status, 401);
  assert.equal(limits.oauth.devices.limit, 30);
  const dev = createOAuthLimits({ mode: 'dev' });
  assert.deepEqual([dev.failures.limit, dev.devices.limit], [6_000, 3_000]);
});
