// `oauth4webapi`, the strictest reader of replies, unpatched: every reply and every refusal of the
// endpoints is one that it takes for what it is.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import type { TestAccount } from '../../harness/account.ts';
import { issueFor } from '../../harness/oauth.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makeSecretClient } from './secret-client.ts';

const insecure = { [oauth.allowInsecureRequests]: true } as const;
const loopback = 'http://127.0.0.1:51235/callback';

let bed: Testbed;
let account: TestAccount;
let server: oauth.AuthorizationServer;
let secret: string;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
  const issuer = new URL(bed.url);
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  server = await oauth.processDiscoveryResponse(issuer, found);
  secret = await makeSecretClient(bed, 'oauth4webapi-server');
});
after(() => bed?.close());

async function redeem(client: oauth.Client, auth: oauth.ClientAuth, redirectUri: string) {
  const verifier = oauth.generateRandomCodeVerifier();
  const challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const { client_id } = client;
  const code = await issueFor(bed.sql, account.accountId, challenge, {
    client: client_id,
    redirectUri,
  });
  const answer = new URL(
    `${redirectUri}?${new URLSearchParams({ code, state: 's', iss: bed.url })}`,
  );
  const parameters = oauth.validateAuthResponse(server, client, answer, 's');
  const reply = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    auth,
    parameters,
    redirectUri,
    verifier,
    insecure,
  );
  return oauth.processAuthorizationCodeResponse(server, client, reply);
}

async function refresh(client: oauth.Client, auth: oauth.ClientAuth, token = '') {
  const reply = await oauth.refreshTokenGrantRequest(server, client, auth, token, insecure);
  return oauth.processRefreshTokenResponse(server, client, reply);
}

async function revoke(client: oauth.Client, auth: oauth.ClientAuth, token = '') {
  const reply = await oauth.revocationRequest(server, client, auth, token, insecure);
  return oauth.processRevocationResponse(reply);
}

async function live(client: oauth.Client, auth: oauth.ClientAuth, redirectUri: string) {
  const tokens = await redeem(client, auth, redirectUri);
  const told = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
  const person = await oauth.processUserInfoResponse(server, client, account.accountId, told);
  assert.equal(person.sub, account.accountId);
  const next = await refresh(client, auth, tokens.refresh_token);
  const again = await refresh(client, auth, tokens.refresh_token);
  assert.deepEqual(again, next);
  await revoke(client, auth, next.refresh_token);
  await assert.rejects(refresh(client, auth, next.refresh_token), { error: 'invalid_grant' });
}

test('public clients live by their name alone', async () => {
  for (const client_id of ['svc-cli', 'svc-desktop']) {
    await live({ client_id }, oauth.None(), loopback);
  }
});

test('a server lives by its secret, in either place', async () => {
  const client = { client_id: 'oauth4webapi-server' };
  const redirectUri = 'https://server.example.com/callback';
  await live(client, oauth.ClientSecretBasic(secret), redirectUri);
  await live(client, oauth.ClientSecretPost(secret), redirectUri);
  for (const auth of [oauth.ClientSecretBasic('x'), oauth.ClientSecretPost('x'), oauth.None()]) {
    const refused = redeem(client, auth, redirectUri);
    await assert.rejects(refused, oauth.WWWAuthenticateChallengeError);
  }
});

test('a device is told in its own words', async () => {
  const client = { client_id: 'svc-cli' };
  const auth = oauth.None();
  const asked = await oauth.deviceAuthorizationRequest(server, client, auth, {}, insecure);
  const device = await oauth.processDeviceAuthorizationResponse(server, client, asked);
  const poll = async () => {
    const { device_code: code } = device;
    const reply = await oauth.deviceCodeGrantRequest(server, client, auth, code, insecure);
    return oauth.processDeviceCodeResponse(server, client, reply);
  };
  await assert.rejects(poll(), { error: 'authorization_pending' });
  await assert.rejects(poll(), { error: 'slow_down' });
});

test('a token that is good for nothing is challenged as RFC 6750 has it', async () => {
  const client = { client_id: 'svc-cli' };
  const tokens = await redeem(client, oauth.None(), loopback);
  await revoke(client, oauth.None(), tokens.access_token);
  const told = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
  const read = oauth.processUserInfoResponse(server, client, oauth.skipSubjectCheck, told);
  await assert.rejects(read, (error: unknown) => {
    assert.ok(error instanceof oauth.WWWAuthenticateChallengeError);
    const [challenge] = error.cause;
    assert.deepEqual([challenge?.scheme, challenge?.parameters.error], ['bearer', 'invalid_token']);
    return true;
  });
});

test('the resources name their server', async () => {
  const url = new URL(bed.url);
  const reply = await oauth.resourceDiscoveryRequest(url, insecure);
  const resource = await oauth.processResourceDiscoveryResponse(url, reply);
  assert.deepEqual(resource.authorization_servers, [bed.url]);
});
