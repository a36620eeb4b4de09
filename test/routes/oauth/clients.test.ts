// OAuth clients and the settings of identity under administration, over a whole life and on every
// shard.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isToken, newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import {
  type AdminApi,
  askEverywhere,
  everything,
  makeRecord,
  openAdminApi,
  refusal,
} from '../admin/admin-api.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let adminApi: AdminApi;
before(async () => {
  bed = await openTestbed({ own: 'it changes the settings of identity' });
  adminApi = await openAdminApi(bed);
});
after(() => bed?.close());

const path = '/oauth-clients';
const client = (name: string, more: Members = {}) => ({
  name,
  display_name: 'Notes',
  type: 'public',
  redirect_uris: ['https://notes.example.com/callback', 'com.example.notes:/callback'],
  grants: ['authorization_code'],
  scopes: ['profile'],
  ...more,
});
async function make(body: Members): Promise<Members> {
  const reply = await adminApi('POST', path, { body });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.oauth_client as Members;
}

test('a client is created, read, changed, disabled, deleted, and audited', async () => {
  const made = await make(client('notes'));
  const defaults = { refresh_grace_seconds: 10, first_party: false, enabled: true };
  for (const [member, value] of Object.entries({ ...client('notes'), ...defaults })) {
    assert.deepEqual(made[member], value, member);
  }
  assert.deepEqual([made.has_secret, made.former_secret_until, made.revision], [false, null, 1]);
  const read = await adminApi('GET', `${path}/notes`);
  assert.deepEqual(read.json.oauth_client, made);
  assert.equal(read.headers.get('etag'), '"1"');
  const listed = await everything(adminApi, path, 1);
  assert.deepEqual(
    listed.map(({ name }) => name),
    ['notes', 'svc-cli', 'svc-desktop'],
  );
  const changed = await adminApi('PATCH', `${path}/notes`, {
    body: { scopes: ['profile', 'app'], first_party: true, revision: 1 },
  });
  assert.deepEqual((changed.json.oauth_client as Members).scopes, ['profile', 'app']);
  const stale = refusal(
    await adminApi('PATCH', `${path}/notes`, { body: { display_name: 'x' }, ifMatch: '"1"' }),
  );
  assert.deepEqual([stale.status, stale.details], [409, { revision: 2 }]);
  for (const verb of ['disable', 'enable']) {
    const reply = await adminApi('POST', `${path}/notes/${verb}`);
    assert.equal((reply.json.oauth_client as Members).enabled, verb === 'enable');
  }
  assert.equal((await adminApi('DELETE', `${path}/notes`)).status, 200);
  assert.equal((await adminApi('GET', `${path}/notes`)).status, 404);
  const events = await everything(adminApi, '/audit?subject=oauth_client:notes');
  assert.deepEqual(
    events.map(({ action }) => action),
    ['delete', 'enable', 'disable', 'update', 'create'].map((verb) => `oauth_client.${verb}`),
  );
});

test('a client that is wrong is refused with the path of the member', async () => {
  const cases: [Members, string][] = [
    [{ name: 'Upper' }, 'name'],
    [{ display_name: 'a\u202eb' }, 'display_name'],
    [{ display_name: 'x'.repeat(61) }, 'display_name'],
    [{ type: 'secret' }, 'type'],
    [{ redirect_uris: ['https://a.example/', 'http://a.example/'] }, 'redirect_uris[1]'],
    [{ redirect_uris: ['https://u@a.example/'] }, 'redirect_uris[0]'],
    [{ redirect_uris: ['https://a.example/#x'] }, 'redirect_uris[0]'],
    [{ redirect_uris: ['javascript:/x'] }, 'redirect_uris[0]'],
    [
      { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`) },
      'redirect_uris',
    ],
    [{ redirect_uris: [] }, 'redirect_uris'],
    [{ grants: ['password'] }, 'grants[0]'],
    [{ grants: [] }, 'grants'],
    [{ scopes: ['openid'] }, 'scopes[0]'],
    [{ refresh_grace_seconds: 61 }, 'refresh_grace_seconds'],
    [{ secret: 'x' }, 'secret'],
  ];
  for (const [members, at] of cases) {
    const { status, code, details } = refusal(
      await adminApi('POST', path, { body: client('wrong', members) }),
    );
    assert.deepEqual([status, code, details.path], [400, 'invalid_request', at]);
  }
  const twice = refusal(await adminApi('POST', path, { body: client('svc-cli') }));
  assert.deepEqual([twice.status, twice.code], [409, 'conflict']);
});

test('a secret is told once, and nothing else ever shows it', async () => {
  await make(client('server', { type: 'confidential' }));
  const secrets: string[] = [];
  for (const hasFormer of [false, true]) {
    const reply = await adminApi('POST', `${path}/server/secret`);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers.get('cache-control'), 'no-store');
    const { secret, oauth_client: shown } = reply.json as { secret: string; oauth_client: Members };
    assert.ok(isToken('clientSecret', secret));
    assert.equal(shown.has_secret, true);
    assert.equal(shown.former_secret_until !== null, hasFormer);
    secrets.push(secret);
  }
  const [row] = await bed.sql<{ secret_hash: Buffer; former_secret_hash: Buffer }[]>`
    SELECT secret_hash, former_secret_hash FROM oauth_clients WHERE name = 'server'`;
  assert.deepEqual(row?.secret_hash, tokenHash(secrets[1] ?? ''));
  assert.deepEqual(row?.former_secret_hash, tokenHash(secrets[0] ?? ''));
  const texts = [
    (await adminApi('GET', `${path}/server`)).text,
    (await adminApi('GET', '/audit?subject=oauth_client:server')).text,
  ];
  for (const text of texts) {
    for (const secret of secrets) {
      assert.ok(!text.includes(secret.slice(0, 20)));
      assert.ok(!text.includes(tokenHash(secret).toString('base64')));
    }
  }
  const stale = await adminApi('POST', `${path}/server/secret`, { body: { revision: 1 } });
  assert.equal(stale.status, 409);
  const open = refusal(await adminApi('POST', `${path}/svc-cli/secret`));
  assert.deepEqual([open.status, open.code], [409, 'invalid_state']);
  assert.equal((await adminApi('POST', `${path}/nobody/secret`)).status, 404);
});

test('the settings of identity are read and written whole, on their revision', async () => {
  const first = await adminApi('GET', '/identity');
  const before = first.json.identity as Members;
  assert.deepEqual(
    [before.signup, before.email_domains, before.terms_url, before.terms_version],
    ['open', [], null, null],
  );
  assert.deepEqual([before.client_documents, before.client_document_hosts], ['off', []]);
  assert.ok(!('name' in before));
  const wanted = {
    signup: 'invited',
    email_domains: ['example.com', 'xn--bcher-kva.example'],
    terms_url: 'https://example.com/terms',
    terms_version: '2026-11',
    client_documents: 'listed',
    client_document_hosts: ['apps.example.com', 'localhost:8443'],
  };
  const revision = before.revision as number;
  const put = await adminApi('PUT', '/identity', { body: { ...wanted, revision } });
  assert.equal(put.status, 200, put.text);
  const now = put.json.identity as Members;
  for (const [member, value] of Object.entries(wanted)) assert.deepEqual(now[member], value);
  assert.equal(now.revision, revision + 1);
  assert.equal(put.headers.get('etag'), `"${revision + 1}"`);
  assert.deepEqual((await adminApi('GET', '/identity')).json.identity, now);
  const stale = refusal(await adminApi('PUT', '/identity', { body: { ...wanted, revision } }));
  assert.deepEqual([stale.status, stale.details], [409, { revision: revision + 1 }]);
  const bare = await adminApi('PUT', '/identity', { body: { signup: 'closed' } });
  const closed = bare.json.identity as Members;
  assert.deepEqual([closed.signup, closed.terms_url, closed.email_domains], ['closed', null, []]);
  const cases: [Members, string][] = [
    [{ signup: 'maybe' }, 'signup'],
    [{ email_domains: ['Example.com'] }, 'email_domains[0]'],
    [{ email_domains: ['com'] }, 'email_domains[0]'],
    [{ terms_url: 'http://example.com/' }, 'terms_url'],
    [{ terms_url: 'https://example.com/' }, 'terms_version'],
    [{ client_document_hosts: ['https://example.com'] }, 'client_document_hosts[0]'],
    [{ name: 'x' }, 'name'],
  ];
  for (const [body, at] of cases) {
    const { status, details } = refusal(await adminApi('PUT', '/identity', { body }));
    assert.deepEqual([status, details.path], [400, at]);
  }
  const [event] = await everything(adminApi, '/audit?subject=identity:settings');
  assert.equal(event?.action, 'identity.update');
  assert.equal((await adminApi('PUT', '/identity', { body: {} })).status, 200);
});

test('what a disabled client was let do rests on every shard, and comes back with it', async () => {
  await make(client('resting'));
  const { accountId } = await bed.account();
  const token = newToken('access');
  await bed.sql`
    INSERT INTO oauth_authorizations
      (id, account_id, client, scopes, method, authenticated_at, expires_at)
    VALUES (${newId('auth', 0)}, ${accountId}, 'resting', '{app}', 'otp', now(), now() + '1 day')`;
  await bed.sql`
    INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at)
    SELECT ${tokenHash(token)}, id, 'access', now() + interval '1 hour'
    FROM oauth_authorizations WHERE client = 'resting'`;
  const statuses = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const replies = await askEverywhere(`${bed.url}/api/me/api-keys`, headers);
    return [...new Set(replies.map(({ status }) => status))];
  };
  assert.deepEqual(await statuses(), [200]);
  await adminApi('POST', `${path}/resting/disable`);
  assert.deepEqual(await statuses(), [401]);
  await adminApi('POST', `${path}/resting/enable`);
  assert.deepEqual(await statuses(), [200]);
  await adminApi('DELETE', `${path}/resting`);
  assert.deepEqual(await statuses(), [401]);
  await make(client('resting'));
  assert.deepEqual(await statuses(), [401], 'another client of that name is another one');
});

test('nobody but an administrator sees or changes them', async () => {
  const { sessionToken: session } = await bed.account();
  for (const [method, at] of [
    ['GET', path],
    ['POST', `${path}/svc-cli/secret`],
    ['GET', '/identity'],
  ] as const) {
    assert.equal((await adminApi(method, at, { session })).status, 403);
  }
  assert.equal((await adminApi('PUT', '/identity', { session, body: {} })).status, 403);
});

test('kinds of records are not mixed up by their names', async () => {
  await makeRecord(adminApi, 'surfaces', { name: 'notes', display_name: 'Notes' });
  assert.equal((await adminApi('GET', `${path}/notes`)).status, 404);
  assert.equal((await adminApi('DELETE', '/surfaces/notes')).status, 200);
});
