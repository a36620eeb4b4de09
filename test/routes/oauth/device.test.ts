// A person lets a device act: by the code that it shows, of which few may be wrong.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { newUserCode, userCodeDigest } from '../../../actors/oauth/user-code.ts';
import { findDevice, startDevice } from '../../../db/oauth.ts';
import { newId } from '../../../runtime/ids.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { openAdminApi } from '../admin/admin-api.ts';
import { openBrowsers } from './front.ts';

const masterKey = randomBytes(32).toString('base64url');
const sealer = createSealer(masterKey);
let bed: Testbed;
let browsers: Awaited<ReturnType<typeof openBrowsers>>;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_SECRET: masterKey } });
  browsers = await openBrowsers(bed);
});
after(() => bed?.close());

interface Asking {
  client?: string;
  network?: string | null;
  livesMs?: number;
}

/** A device that asks; its user code. */
async function ask({ client = 'svc-cli', network = '127.0.0.0/24', livesMs }: Asking = {}) {
  const code = newUserCode();
  await startDevice(bed.sql, {
    id: newId('dev', 0),
    deviceCodeHash: tokenHash(newToken('deviceCode')),
    userCodeDigest: userCodeDigest(sealer, code),
    client,
    scopes: ['profile', 'app'],
    network,
    expiresAt: new Date(Date.now() + (livesMs ?? 900_000)),
  });
  return code;
}
const statusOf = async (code: string) =>
  (await findDevice(bed.sql, userCodeDigest(sealer, code)))?.status;

test('the code tells who asks, for what, when and from where', async () => {
  const { browser } = await browsers.someone();
  const user_code = await ask();
  const reply = await browser.post('/oauth/device', { user_code });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  const { asked_at, ...told } = reply.json;
  assert.deepEqual(told, {
    ok: true,
    client: {
      id: 'svc-cli',
      display_name: 'Command line',
      host: null,
      first_party: true,
      verified: true,
    },
    scopes: ['profile', 'app'],
    network: '127.0.0.0/24',
    is_other_network: false,
  });
  assert.ok(Math.abs(Date.parse(String(asked_at)) - Date.now()) < 60_000);
  assert.equal(await statusOf(user_code), 'pending', 'to look is not to decide');
  for (const network of ['192.0.2.0/24', null]) {
    const other = await browser.post('/oauth/device', { user_code: await ask({ network }) });
    assert.deepEqual([other.json.network, other.json.is_other_network], [network, true]);
  }
  const typed = ` ${user_code.toLowerCase().replace('-', ' ')}`;
  assert.equal((await browser.post('/oauth/device', { user_code: typed })).status, 200);
});

test('a decision is one, and stands in the audit trail', async () => {
  const { browser, account } = await browsers.someone();
  const other = await browsers.someone();
  for (const [decision, status] of [
    ['approve', 'approved'],
    ['deny', 'denied'],
  ] as const) {
    const user_code = await ask();
    const reply = await browser.post('/oauth/device', { user_code, decision });
    assert.deepEqual([reply.status, reply.json], [200, { ok: true, decision }]);
    assert.equal(await statusOf(user_code), status);
    for (const again of ['approve', 'deny']) {
      const late = await other.browser.post('/oauth/device', { user_code, decision: again });
      assert.deepEqual([late.status, late.json.error], [400, 'invalid_request']);
    }
    const [row] = await bed.sql`
      SELECT account_id, granted_scopes, method FROM oauth_devices
      WHERE user_code_digest = ${userCodeDigest(sealer, user_code)}`;
    const isApproved = decision === 'approve';
    assert.equal(row?.account_id, isApproved ? account.accountId : null);
    assert.deepEqual(row?.granted_scopes, isApproved ? ['profile', 'app'] : null);
  }
  const events = await bed.sql`
    SELECT action, details FROM audit_events
    WHERE account_id = ${account.accountId} AND subject = 'oauth_client:svc-cli' ORDER BY id`;
  assert.deepEqual(
    events.map(({ action, details }) => [action, details.by]),
    [
      ['oauth.approve', 'device'],
      ['oauth.deny', 'device'],
    ],
  );
});

test('of many decisions at once one counts', async () => {
  const people = await Promise.all(Array.from({ length: 6 }, () => browsers.someone()));
  const user_code = await ask();
  const body = { user_code, decision: 'approve' };
  const replies = await Promise.all(
    people.map(({ browser }) => browser.post('/oauth/device', body)),
  );
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array(5).fill(400)]);
});

test('a code that is over, or of a client that is switched off, is none', async () => {
  const { browser } = await browsers.someone();
  const adminApi = await openAdminApi(bed);
  const made = await adminApi('POST', '/oauth-clients', {
    body: {
      name: 'tv',
      display_name: 'TV',
      type: 'public',
      grants: ['urn:ietf:params:oauth:grant-type:device_code'],
      scopes: ['profile'],
    },
  });
  assert.equal(made.status, 201, made.text);
  const code = await ask({ client: 'tv' });
  const less = await browser.post('/oauth/device', { user_code: code });
  assert.deepEqual(less.json.scopes, ['profile'], 'what it may not be given is not asked');
  await adminApi('POST', '/oauth-clients/tv/disable');
  for (const user_code of [code, await ask({ livesMs: -1_000 })]) {
    for (const decision of [undefined, 'approve', 'deny']) {
      const reply = await browser.post('/oauth/device', { user_code, decision });
      assert.deepEqual([reply.status, reply.json.error], [400, 'invalid_request']);
    }
  }
});

test('ten wrong codes in ten minutes end the guessing of an account, on every shard', async () => {
  const { browser, account } = await browsers.someone();
  const user_code = await ask();
  const wrong = ['BCDF-GHJK', 'aeiou', '', ' ', 'x'.repeat(41), '0000-0000'];
  const statuses: number[] = [];
  for (let index = 0; statuses.filter((status) => status === 400).length < 10; index += 1) {
    const reply = await browser.post('/oauth/device', { user_code: wrong[index] ?? newUserCode() });
    statuses.push(reply.status);
    assert.equal(reply.status, 400, reply.text);
  }
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => {
      const own = browsers.of(account.sessionToken);
      return own.post('/oauth/device', { user_code }, { connection: 'close' });
    }),
  );
  // Two texts that are no code at all were refused before they were looked at.
  const after = replies.map(({ status }) => status);
  assert.ok(after.includes(200), `${after}`);
  for (let index = 0; index < 2; index += 1) {
    await browser.post('/oauth/device', { user_code: newUserCode() });
  }
  const refused = await browser.post('/oauth/device', { user_code });
  assert.equal(refused.status, 429, refused.text);
  const seconds = Number(refused.headers.get('retry-after'));
  assert.ok(seconds > 30 && seconds <= 60, `${seconds}`);
  const other = await browsers.someone();
  assert.equal((await other.browser.post('/oauth/device', { user_code })).status, 200);
});

test('a device is decided about by pages of this origin that are signed in', async () => {
  const { browser } = await browsers.someone();
  const user_code = await ask();
  const body = { user_code, decision: 'approve' };
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  assert.equal((await browser.post('/oauth/device', body, foreign)).status, 403);
  assert.equal((await browsers.nobody.post('/oauth/device', body)).status, 401);
  assert.equal(await statusOf(user_code), 'pending');
});
