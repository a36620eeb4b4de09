// Hostile forms at the endpoints of apps: only documented answers come back, nothing breaks, and
// what apps were given stays good.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newToken } from '../../../actors/credentials/token.ts';
import { oauthGrants } from '../../../actors/oauth/client.ts';
import { fc } from '../../harness/properties.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type OAuthCalls, openOAuthCalls } from './calls.ts';

let bed: Testbed;
let calls: OAuthCalls;
before(async () => {
  bed = await openTestbed();
  calls = await openOAuthCalls(bed.url);
});
after(() => bed?.close());

const names = [
  ...['grant_type', 'client_id', 'client_secret', 'code', 'redirect_uri', 'code_verifier'],
  ...['refresh_token', 'device_code', 'scope', 'token', 'token_type_hint', 'resource'],
  ...['__proto__', 'constructor', 'toString', ''],
];
const values = fc.oneof(
  fc.constantFrom(
    ...oauthGrants,
    ...['svc-cli', 'svc-desktop', 'https://app.example.com/c.json', 'password', '', '\0'],
    ...['profile', 'profile app', ' ', '"', '\r\nset-cookie: a=b', '\ud800', '%', '__proto__'],
    ...(['access', 'refresh', 'code', 'deviceCode', 'clientSecret'] as const).map(newToken),
    ...['a'.repeat(43), 'a'.repeat(3_000)],
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const fields = fc.array(fc.tuple(fc.constantFrom(...names), values), { maxLength: 10 });
/** Near what is right, so that deep places are reached. */
const nearly = fields.map((pairs): [string, string][] => [
  ['client_id', 'svc-cli'],
  ...pairs.filter(([name]) => name !== 'client_id'),
]);
const raw = fc.string({ unit: 'binary', maxLength: 200 });
const forms = fc.oneof(
  fields.map((pairs) => new URLSearchParams(pairs).toString()),
  nearly.map((pairs) => new URLSearchParams(pairs).toString()),
  raw,
);
const credentials = fc.oneof(
  fc.constant({}),
  fc.constantFrom('svc-cli:', 'svc-cli:x', ':', '%:%', 'a', '').map((text) => ({
    authorization: `Basic ${Buffer.from(text).toString('base64')}`,
  })),
  fc.constantFrom('Basic', 'basic =', 'Bearer x', 'Basic \t').map((authorization) => ({
    authorization,
  })),
);
const paths = fc.constantFrom('/oauth/token', '/oauth/revoke', '/oauth/device/code');
const expected = new Set([200, 400, 401, 429]);

test('any form has a documented answer', async () => {
  const account = await bed.account();
  const tokens = await calls.signIn(bed.sql, account.accountId);
  await fc.assert(
    fc.asyncProperty(paths, forms, credentials, async (path, form, headers) => {
      const reply = await calls.post(path, form, headers);
      assert.ok(expected.has(reply.status), reply.text);
      assert.equal(reply.headers.get('cache-control'), 'no-store');
      assert.equal(reply.headers.get('set-cookie'), null);
    }),
    { numRuns: 200 },
  );
  assert.equal((await calls.get('/oauth/userinfo', tokens.access_token)).status, 200);
  assert.equal((await calls.refresh(tokens.refresh_token)).status, 200);
});
