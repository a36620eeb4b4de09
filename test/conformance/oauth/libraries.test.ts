// openid-client and oauth4webapi are each kind of app, unpatched, with each way to authenticate.
// They find their way by the metadata, and a person's browser decides by HTTP. The tests in
// `test/routes/oauth/` have what the endpoints refuse.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  AuthorizationResponseError,
  ResponseBodyError,
  type WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type App, cli, confidentialApps, desktop, everyScope, makeSecrets } from './apps.ts';
import type { Library, Tokens } from './library.ts';
import { openOauth4webapi } from './oauth4webapi.ts';
import { openOpenidClient } from './openid-client.ts';
import { makePerson, type Person } from './person.ts';

const libraries = { 'openid-client': openOpenidClient, oauth4webapi: openOauth4webapi };
type Name = keyof typeof libraries;
const names = Object.keys(libraries) as Name[];
const ipv6 = { ...desktop, redirectUri: 'http://[::1]:51005/callback' };
const everyApp = [cli, desktop, ipv6, ...confidentialApps];

let bed: Testbed;
let secrets: Map<string, string>;
let person: Person;
before(async () => {
  bed = await openTestbed();
  secrets = await makeSecrets(bed, confidentialApps);
  person = await makePerson(bed);
});
after(() => bed?.close());

const open = (name: Name, app: App) =>
  libraries[name](bed.url, { ...app, secret: secrets.get(app.id) ?? null });
const ownRoute = () => new URL('/api/me/api-keys', bed.url);

async function signIn(library: Library, scope = everyScope): Promise<Tokens> {
  const { url, finish } = await library.begin(scope);
  return await finish(await person.decide(url));
}

/** A refusal as the library throws it. */
const refused = (error: string, status: number) => (thrown: unknown) =>
  thrown instanceof ResponseBodyError && thrown.error === error && thrown.status === status;

/** A challenge as both libraries read it. */
function challengeOf(thrown: unknown) {
  assert.equal((thrown as Error).name, 'WWWAuthenticateChallengeError', String(thrown));
  const { status, cause } = thrown as WWWAuthenticateChallengeError;
  const [challenge] = cause;
  assert.ok(challenge !== undefined);
  return { status, scheme: challenge.scheme, parameters: { ...challenge.parameters } };
}

/** The challenge says that a token is good no more, and where the metadata is. */
function challenged(thrown: unknown): boolean {
  const resource_metadata = `${bed.url}/.well-known/oauth-protected-resource`;
  assert.deepEqual(challengeOf(thrown), {
    status: 401,
    scheme: 'bearer',
    parameters: { error: 'invalid_token', resource_metadata },
  });
  return true;
}

async function checkTokens(library: Library, tokens: Tokens): Promise<void> {
  const { token_type: type, expires_in: seconds, scope } = tokens;
  assert.deepEqual([type, seconds, scope], ['bearer', 3_600, everyScope]);
  assert.deepEqual(await library.userInfo(tokens.access_token, person.accountId), {
    sub: person.accountId,
    name: 'Ada Example',
    email: person.email,
    email_verified: true,
  });
  assert.equal((await library.get(tokens.access_token, ownRoute())).status, 200);
}

for (const name of names) {
  for (const app of everyApp) {
    const { id, authentication, redirectUri } = app;
    const as = `${name}, ${id} (${authentication}, ${redirectUri})`;

    test(`${as}: code, userinfo, refresh and revocation`, async () => {
      person = await makePerson(bed);
      const library = await open(name, app);
      const first = await signIn(library);
      await checkTokens(library, first);
      const second = await library.refresh(first.refresh_token ?? '');
      assert.notEqual(second.refresh_token, first.refresh_token);
      await checkTokens(library, second);
      await library.revoke(second.access_token);
      await assert.rejects(library.get(second.access_token, ownRoute()), challenged);
      const third = await library.refresh(second.refresh_token ?? '');
      await library.revoke(third.refresh_token ?? '');
      await assert.rejects(library.get(third.access_token, ownRoute()), challenged);
      await assert.rejects(library.userInfo(third.access_token, person.accountId), challenged);
      const again = library.refresh(third.refresh_token ?? '');
      await assert.rejects(again, refused('invalid_grant', 400));
      await library.revoke(third.refresh_token ?? '');
    });
  }

  test(`${name}: an app at an https address is let through when it comes again`, async () => {
    person = await makePerson(bed);
    for (const app of confidentialApps) {
      const library = await open(name, app);
      await signIn(library);
      const { url, finish } = await library.begin(everyScope);
      await checkTokens(library, await finish(await person.pass(url)));
    }
  });

  test(`${name}: a smaller scope is what the token is good for`, async () => {
    const library = await open(name, cli);
    const tokens = await signIn(library, 'profile unheard_of');
    assert.deepEqual([tokens.scope, tokens.refresh_token], ['profile', undefined]);
    const shown = await library.userInfo(tokens.access_token, person.accountId);
    assert.deepEqual(shown, { sub: person.accountId, name: 'Ada Example' });
    await assert.rejects(library.get(tokens.access_token, ownRoute()), (thrown) => {
      const { status, parameters } = challengeOf(thrown);
      const { error, scope: wanted } = parameters;
      assert.deepEqual([status, error, wanted], [403, 'insufficient_scope', 'app']);
      return true;
    });
  });

  test(`${name}: an app is told of a no, and of a grant that it may not use`, async () => {
    const library = await open(name, cli);
    const denied = await library.begin(everyScope);
    const answer = await person.decide(denied.url, 'deny');
    await assert.rejects(
      async () => denied.finish(answer),
      (thrown) => thrown instanceof AuthorizationResponseError && thrown.error === 'access_denied',
    );
    const other = await open(name, desktop);
    await assert.rejects(other.startDevice('app'), refused('unauthorized_client', 400));
  });
}

/** The openid-client waits for its interval first, so all devices ask at once. */
test('devices get their tokens once the person has typed the code', async () => {
  const apps = [cli, ...confidentialApps];
  const asking = names.flatMap((name) =>
    apps.map(async (app) => {
      const library = await open(name, app);
      const device = await library.startDevice(everyScope);
      assert.equal(device.verificationUri, `${bed.url}/oauth/device`);
      assert.match(device.userCode, /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
      assert.equal(device.expiresIn, 900);
      await person.decideDevice(device.userCode.toLowerCase());
      const tokens = await device.poll();
      await checkTokens(library, tokens);
      await checkTokens(library, await library.refresh(tokens.refresh_token ?? ''));
      await library.revoke(tokens.refresh_token ?? '');
    }),
  );
  const denied = names.map(async (name) => {
    const library = await open(name, cli);
    const device = await library.startDevice('app');
    await person.decideDevice(device.userCode, 'deny');
    await assert.rejects(device.poll(), refused('access_denied', 400));
  });
  await Promise.all([...asking, ...denied]);
});
