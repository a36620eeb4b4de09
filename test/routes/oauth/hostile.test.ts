// Hostile queries and bodies at the pages of OAuth. Only documented answers come back, and nobody
// is sent to where no app is registered.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { redirectKindOf } from '../../../actors/oauth/redirect.ts';
import { fc } from '../../harness/properties.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type Browser, loopbackRedirect, openBrowsers, usual } from './front.ts';

let bed: Testbed;
let browser: Browser;
let nobody: Browser;
before(async () => {
  bed = await openTestbed();
  const browsers = await openBrowsers(bed);
  const made = await bed.account({ requestsPerMinute: 1_000_000 });
  browser = browsers.of(made.sessionToken);
  nobody = browsers.nobody;
});
after(() => bed?.close());

const names = [
  ...Object.keys(usual),
  ...['prompt', 'login_hint', 'resource', 'request', 'request_uri', 'response_mode'],
  ...['signed_in_after', '__proto__', 'constructor', 'toString', 'nonce', ''],
];
const values = fc.oneof(
  fc.constantFrom(
    ...Object.values(usual),
    ...['none', 'login', 'consent', 'none login', 'query', 'fragment', 'plain', 'openid'],
    ...['https://evil.example/', '//evil.example', 'javascript:alert(1)', 'svc-desktop:/callback'],
    ...['svc-desktop', '\0', '\r\nset-cookie: a=b', '<script>', '%', '%0d%0a', '\ud800', ''],
    ...['99999999999', '-1', '1e400', 'null', '[]', '{}'],
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const queries = fc.array(fc.tuple(fc.constantFrom(...names), values), { maxLength: 10 });

/** Near what is right, so that deep places are reached. */
const nearly = fc.tuple(fc.subarray(Object.entries(usual), { minLength: 4 }), queries);

test('a query is answered with a page, or a redirect to a registered place', async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(nearly, fc.boolean(), async ([entries, more], isSignedIn) => {
      const all = new URLSearchParams([...entries, ...more]);
      const answer = await (isSignedIn ? browser : nobody).get(`/oauth/authorize?${all}`);
      const { status, location } = answer;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      assert.ok([200, 303, 400].includes(status), `${status} ${all}`);
      assert.equal(answer.headers.get('set-cookie'), null);
      if (status !== 303) return assert.equal(location, null);
      assert.ok(location !== null && !/[\r\n\s]/.test(location));
      if (location.startsWith('/signin?return_to=')) return;
      const asked = all.get('redirect_uri') ?? '';
      assert.ok(location.startsWith(asked) && redirectKindOf(asked) !== null, location);
      assert.ok([loopbackRedirect, 'svc-desktop:/callback'].includes(asked), asked);
      const told = new URL(location).searchParams;
      assert.deepEqual(told.getAll('iss'), [bed.url]);
      assert.equal(told.getAll('error').length + told.getAll('code').length, 1);
    }),
    { numRuns: 400 },
  );
  for (const status of [200, 303, 400]) assert.ok((statuses.get(status) ?? 0) > 10, `${status}`);
});

test('a raw query that no encoder made is answered as well', async () => {
  const piece = fc.constantFrom(
    ...['client_id=svc-cli', '&', '=', '%', '%ff', '%00', '+', ';', '&&', '?', '%zz', '&=&', '/'],
    ...['redirect_uri=', encodeURIComponent(loopbackRedirect), 'state=', '%c3%28', '[]', '\\'],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const { status } = await browser.get(`/oauth/authorize?${pieces.join('')}`);
      assert.ok(status === 303 || status === 400, `${status} ${pieces.join('')}`);
    }),
    { numRuns: 150 },
  );
});

test('a body is answered as documented, whatever it is', async () => {
  const paths = fc.constantFrom('/oauth/authorize/decision', '/oauth/device');
  const members = fc.dictionary(
    fc.constantFrom('request', 'decision', 'user_code', '__proto__', 'extra'),
    fc.oneof(fc.constantFrom('approve', 'deny', 'BCDF-GHJK', null, 1, [], {}), values),
    { maxKeys: 4 },
  );
  const bodies = fc.oneof(members, fc.json(), fc.constantFrom('', '{', '[]', 'null', '"x"'));
  await fc.assert(
    fc.asyncProperty(paths, bodies, async (path, body) => {
      // The contract of the reply is checked where it is sent.
      const { status, json } = await browser.post(path, body);
      assert.ok(status === 400 || status === 429, `${status} ${JSON.stringify(body)}`);
      assert.deepEqual(Object.keys(json).sort(), ['error', 'error_description']);
    }),
    { numRuns: 200 },
  );
});
