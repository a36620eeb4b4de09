// The SDK of the Model Context Protocol is a client that is registered here, unpatched. The
// challenge of a 401 leads it to the metadata, and from there it gets in by itself.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { withOAuth } from '@modelcontextprotocol/sdk/client/middleware.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type App, cli, desktop, everyScope, makeSecrets } from './apps.ts';
import { makePerson, type Person } from './person.ts';

const redirectUri = 'https://server.example.com/callback';
const servers: readonly App[] = [
  { id: 'mcp-basic', authentication: 'client_secret_basic', redirectUri },
  { id: 'mcp-post', authentication: 'client_secret_post', redirectUri },
];

let bed: Testbed;
let secrets: Map<string, string>;
before(async () => {
  bed = await openTestbed();
  secrets = await makeSecrets(bed, servers);
});
after(() => bed?.close());

/** What an app keeps between its steps, as the SDK has it handed over. */
class Kept implements OAuthClientProvider {
  readonly #app: App;
  readonly #issuer: string;
  #verifier = '';
  saved: OAuthTokens | undefined;
  sentTo: URL | undefined;

  constructor(app: App, issuer: string) {
    this.#app = app;
    this.#issuer = issuer;
  }

  get redirectUrl(): string {
    return this.#app.redirectUri;
  }

  get clientMetadata() {
    return { redirect_uris: [this.redirectUrl] };
  }

  state(): string {
    return 'of the app';
  }

  clientInformation(): OAuthClientInformationMixed {
    const { id, authentication } = this.#app;
    const secret = secrets.get(id);
    return {
      client_id: id,
      issuer: this.#issuer,
      token_endpoint_auth_method: authentication,
      ...(secret === undefined ? {} : { client_secret: secret }),
    };
  }

  tokens(): OAuthTokens | undefined {
    return this.saved;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.saved = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.sentTo = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'tokens') this.saved = undefined;
  }
}

/** Where its person's browser is sent back to, and with what. */
async function approve(kept: Kept, person: Person): Promise<string> {
  assert.ok(kept.sentTo !== undefined);
  const query = Object.fromEntries(kept.sentTo.searchParams);
  assert.deepEqual([query.scope, query.resource], [everyScope, bed.url]);
  const answer = await person.decide(kept.sentTo);
  assert.ok(answer.href.startsWith(kept.redirectUrl), answer.href);
  assert.equal(answer.searchParams.get('state'), 'of the app');
  assert.equal(answer.searchParams.get('iss'), bed.url);
  return answer.searchParams.get('code') ?? '';
}

for (const app of [cli, desktop, ...servers]) {
  test(`as ${app.id} (${app.authentication}) it gets in, stays in, and is let go`, async () => {
    const person = await makePerson(bed);
    const serverUrl = new URL('/api/me/api-keys', bed.url);
    const challenge = await fetch(serverUrl);
    assert.equal(challenge.status, 401);
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(challenge);
    assert.equal(resourceMetadataUrl?.href, `${bed.url}/.well-known/oauth-protected-resource`);

    const kept = new Kept(app, bed.url);
    const where = { serverUrl, resourceMetadataUrl };
    assert.equal(await auth(kept, where), 'REDIRECT');
    const authorizationCode = await approve(kept, person);
    assert.equal(await auth(kept, { ...where, authorizationCode }), 'AUTHORIZED');
    const { access_token: first, refresh_token: refresh } = kept.saved ?? {};
    assert.ok(first !== undefined && refresh !== undefined);

    const get = withOAuth(kept, serverUrl)(fetch);
    assert.equal((await get(serverUrl)).status, 200);
    await revoke(first, app);
    assert.equal((await get(serverUrl)).status, 200, 'it refreshes by itself');
    assert.notEqual(kept.saved?.access_token, first);
    assert.notEqual(kept.saved?.refresh_token, refresh);

    await revoke(kept.saved?.refresh_token ?? '', app);
    kept.sentTo = undefined;
    await assert.rejects(get(serverUrl), /Authentication requires user authorization/);
    assert.equal(kept.saved, undefined, 'it has understood that they are no good');
    assert.ok(kept.sentTo !== undefined, 'it asks its person again');
  });
}

/** The SDK has no call for this. */
async function revoke(token: string, { id }: App): Promise<void> {
  const secret = secrets.get(id);
  const client = { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }) };
  const body = new URLSearchParams({ token, ...client });
  const reply = await fetch(`${bed.url}/oauth/revoke`, { method: 'POST', body });
  assert.equal(reply.status, 200);
}
