// `openid-client` as people use it, unpatched: discovery, codes, devices, refresh, revocation. It
// is both programs of the service, and a server with a secret in either place.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as oidc from 'openid-client';
import type { TestAccount } from '../../harness/account.ts';
import { issueFor } from '../../harness/oauth.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makeSecretClient } from './secret-client.ts';

let bed: Testbed;
let account: TestAccount;
let secret: string;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
  secret = await makeSecretClient(bed, 'openid-client-server');
});
after(() => bed?.close());

const loopback = 'http://127.0.0.1:51234/callback';
const scope = 'profile email offline_access app';

function discover(clientId: string, authentication: oidc.ClientAuth): Promise<oidc.Configuration> {
  return oidc.discovery(new URL(bed.url), clientId, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [oidc.allowInsecureRequests],
  });
}

/** The way of a code, with the page's part of it done in the database. */
async function signIn(config: oidc.Configuration, redirectUri: string) {
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const asked = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  });
  assert.equal(asked.origin + asked.pathname, `${bed.url}/oauth/authorize`);
  const challenge = asked.searchParams.get('code_challenge') ?? '';
  const client = config.clientMetadata().client_id;
  const code = await issueFor(bed.sql, account.accountId, challenge, { client, redirectUri });
  const answer = new URL(redirectUri);
  answer.search = new URLSearchParams({ code, state, iss: bed.url }).toString();
  return { answer, checks: { pkceCodeVerifier: verifier, expectedState: state } };
}

/** A whole life of what a client gets. */
async function live(config: oidc.Configuration, redirectUri: string): Promise<void> {
  const { answer, checks } = await signIn(config, redirectUri);
  const tokens = await oidc.authorizationCodeGrant(config, answer, checks);
  assert.equal(tokens.scope, scope);
  assert.equal(tokens.expires_in, 3_600);
  const person = await oidc.fetchUserInfo(config, tokens.access_token, account.accountId);
  assert.equal(person.sub, account.accountId);
  const next = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
  assert.ok(next.refresh_token && next.refresh_token !== tokens.refresh_token);
  const less = await oidc.refreshTokenGrant(config, next.refresh_token, { scope: 'profile' });
  assert.equal(less.scope, 'profile');
  await oidc.tokenRevocation(config, less.access_token);
  await assert.rejects(
    oidc.fetchUserInfo(config, less.access_token, account.accountId),
    oidc.WWWAuthenticateChallengeError,
  );
  await oidc.tokenRevocation(config, less.refresh_token ?? '');
  await assert.rejects(oidc.refreshTokenGrant(config, less.refresh_token ?? ''), {
    error: 'invalid_grant',
  });
}

test('the desktop app signs in with a loopback and with a scheme of its own', async () => {
  const config = await discover('svc-desktop', oidc.None());
  for (const redirectUri of [loopback, 'svc-desktop:/callback']) await live(config, redirectUri);
});

test('the command line signs in', async () => {
  await live(await discover('svc-cli', oidc.None()), loopback);
});

test('a server shows its secret in the header or in the form', async () => {
  const redirectUri = 'https://server.example.com/callback';
  for (const authentication of [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)]) {
    await live(await discover('openid-client-server', authentication), redirectUri);
  }
  const config = await discover('openid-client-server', oidc.ClientSecretBasic(`${secret}x`));
  const { answer, checks } = await signIn(config, redirectUri);
  const refused = oidc.authorizationCodeGrant(config, answer, checks);
  // A challenge comes first with this client: RFC 6749, 5.2 has Basic with it.
  await assert.rejects(refused, oidc.WWWAuthenticateChallengeError);
  const posting = await discover('openid-client-server', oidc.ClientSecretPost(secret));
  assert.ok(await oidc.authorizationCodeGrant(posting, answer, checks), 'nothing was used up');
});

test('an answer of another issuer, or of none, is not redeemed', async () => {
  const config = await discover('svc-cli', oidc.None());
  for (const issuer of [null, 'https://evil.example']) {
    const { answer, checks } = await signIn(config, loopback);
    answer.searchParams.delete('iss');
    if (issuer !== null) answer.searchParams.set('iss', issuer);
    const redeemed = oidc.authorizationCodeGrant(config, answer, checks);
    await assert.rejects(redeemed, ({ cause }: Error) => /"iss"/.test(`${cause}`));
  }
});

test('a code that was injected, or taken without its verifier, is worth nothing', async () => {
  const config = await discover('svc-cli', oidc.None());
  const mine = await signIn(config, loopback);
  const theirs = await signIn(config, loopback);
  const injected = new URL(mine.answer);
  injected.searchParams.set('code', theirs.answer.searchParams.get('code') ?? '');
  await assert.rejects(oidc.authorizationCodeGrant(config, injected, mine.checks), {
    error: 'invalid_grant',
  });
  const { expectedState } = mine.checks;
  await assert.rejects(oidc.authorizationCodeGrant(config, mine.answer, { expectedState }), {
    error: 'invalid_request',
  });
});

test('a device without a browser is let in', async () => {
  const config = await discover('svc-cli', oidc.None());
  const asked = await oidc.initiateDeviceAuthorization(config, { scope });
  assert.match(asked.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.deepEqual([asked.interval, asked.expires_in], [5, 900]);
  assert.ok(!('verification_uri_complete' in asked));
  await bed.sql`
    UPDATE oauth_devices SET decided_at = now(), account_id = ${account.accountId},
      granted_scopes = scopes, method = 'otp', authenticated_at = now()
    WHERE id = (SELECT max(id) FROM oauth_devices WHERE client = 'svc-cli')`;
  const quick = { ...asked, interval: 0.05 };
  const tokens = await oidc.pollDeviceAuthorizationGrant(config, quick);
  const person = await oidc.fetchUserInfo(config, tokens.access_token, account.accountId);
  assert.equal(person.sub, account.accountId);
  await assert.rejects(oidc.pollDeviceAuthorizationGrant(config, quick), {
    error: 'invalid_grant',
  });
});
