// OAuth clients and the settings of identity are records of the catalog. Shown are their faults,
// who wins, what shards get, and how long a secret is good.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { documentFaults, faultLine } from '../../../actors/catalog/faults.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import { clientSecrets, storedDocument } from '../../../actors/catalog/stored.ts';
import { defaultIdentitySettings } from '../../../actors/identity/settings.ts';
import { readCatalogIfAny } from '../../../db/catalog.ts';
import { type CatalogStage, type Members, openCatalogStage } from './stage.ts';

let stage: CatalogStage;
before(async () => {
  stage = await openCatalogStage();
});
after(() => stage?.close());

const client = (name: string, more: Members = {}) => ({
  name,
  display_name: 'Web app',
  type: 'public',
  redirect_uris: ['https://app.example.com/callback'],
  grants: ['authorization_code', 'refresh_token'],
  scopes: ['profile', 'app'],
  ...more,
});
const patch = (members: Members) => ({ verb: 'update', patch: members }) as const;
const served = (id: string) => stage.served().clients.find((found) => found.id === id);

function linesOf(document: Members): string[] {
  return documentFaults(v.parse(catalogDocumentSchema, document)).map(faultLine);
}

test('a client that contradicts itself is a fault with its path', () => {
  const lines = (more: Members) => linesOf({ oauth_clients: [client('a', more)] });
  assert.deepEqual(lines({}), []);
  const uris = ['https://a.example/', 'javascript:alert(1)', 'https://a.example/'];
  assert.deepEqual(lines({ redirect_uris: uris }), [
    'oauth_clients[0].redirect_uris[1]: expected https, http at a loopback address, or a scheme ' +
      'of its own such as com.example.app:/',
    'oauth_clients[0].redirect_uris[2]: "https://a.example/" is there twice',
  ]);
  assert.deepEqual(lines({ redirect_uris: [] }), [
    'oauth_clients[0].redirect_uris: the grant authorization_code needs one',
  ]);
  const [line = ''] = lines({ grants: ['refresh_token'] });
  assert.match(line, /^oauth_clients\[0\]\.grants: one of authorization_code and/);
  const device = 'urn:ietf:params:oauth:grant-type:device_code';
  assert.deepEqual(lines({ grants: [device], redirect_uris: [] }), []);
  assert.deepEqual(linesOf({ oauth_clients: [client('a'), client('a')] }), [
    'oauth_clients: "a" is declared twice',
  ]);
  assert.deepEqual(linesOf({ identity: [{ terms_url: 'https://a.example/terms' }] }), [
    'identity.terms_version: terms_url needs a version',
  ]);
});

test('a name that misleads whoever reads it is refused', () => {
  const isFine = (display_name: string) => {
    const document = { oauth_clients: [client('a', { display_name })] };
    return v.safeParse(catalogDocumentSchema, document).success;
  };
  for (const name of ['App', 'Žluťoučký kůň', '写真', 'A'.repeat(60), '👩‍💻 Notes']) {
    assert.ok(isFine(name), name);
  }
  for (const name of [
    '',
    ' ',
    'A'.repeat(61),
    'a\nb',
    'a\u202eb',
    'a\u2066b',
    '\u200f',
    'a\u0007',
  ]) {
    assert.ok(!isFine(name), JSON.stringify(name));
  }
});

test('the service has its own programs as clients from the beginning', async () => {
  await stage.change('oauth_clients', 'mine', { verb: 'create', definition: client('mine') });
  const desktop = served('svc-desktop');
  assert.deepEqual(desktop?.grants, ['authorization_code', 'refresh_token']);
  assert.ok(desktop?.redirectUris.includes('svc-desktop:/callback'));
  assert.equal(served('svc-cli')?.grants.length, 3);
  for (const id of ['svc-desktop', 'svc-cli']) {
    const { type, firstParty, enabled, scopes, secrets } = served(id) ?? assert.fail(id);
    assert.deepEqual([type, firstParty, enabled], ['public', true, true]);
    assert.deepEqual(scopes, ['profile', 'email', 'offline_access', 'app']);
    assert.deepEqual(secrets, []);
  }
  assert.deepEqual(stage.served().identity, defaultIdentitySettings);
});

test('what an administrator made of a seeded client outlives a start', async () => {
  await stage.change('oauth_clients', 'svc-cli', { verb: 'disable' });
  await stage.change('oauth_clients', 'svc-desktop', { verb: 'delete' });
  assert.deepEqual(await stage.start({}), ['= nothing to change']);
  assert.equal((await stage.stored('oauth_clients', 'svc-cli'))?.enabled, false);
  assert.equal(await stage.stored('oauth_clients', 'svc-desktop'), null);
});

test('a file declares both, and the administrator wins until it changes', async () => {
  const identity = { signup: 'closed', email_domains: ['example.com'] };
  const file = { oauth_clients: [client('web')], identity };
  assert.deepEqual(await stage.start(file), [
    '+ oauth_client web',
    '~ identity settings: signup, email_domains',
  ]);
  await stage.change('identity', 'settings', patch({ signup: 'invited' }));
  await stage.change('oauth_clients', 'web', { verb: 'disable' });
  const lines = await stage.start(file);
  assert.ok(
    lines.includes('! identity settings: signup: the administrator wins until the file changes it'),
  );
  assert.equal((await stage.stored('identity', 'settings'))?.signup, 'invited');
  const changed = { ...file, identity: { ...identity, signup: 'open' } };
  await stage.start(changed);
  assert.equal((await stage.stored('identity', 'settings'))?.signup, 'open');
  assert.equal((await stage.stored('oauth_clients', 'web'))?.enabled, false);
  const left = await stage.start({});
  assert.ok(
    left.some((line) => line.endsWith('not any more; it stays as it is')),
    left.join('\n'),
  );
  await assert.rejects(
    stage.start({ identity: { terms_url: 'https://example.com/terms' } }),
    /TOLLGATE_CONFIG: identity\.terms_version: terms_url needs a version/,
  );
  await assert.rejects(
    stage.start({ identity: { name: 'x' } }),
    /Unknown property 'identity\.name'/,
  );
});

test('a new secret leaves the former one a day, and a public client has none', async () => {
  const definition = client('server', { type: 'confidential' });
  await stage.change('oauth_clients', 'server', { verb: 'create', definition });
  const hashes = Array.from({ length: 3 }, () => randomBytes(32).toString('base64'));
  for (const secretHash of hashes) {
    const reply = await stage.change('oauth_clients', 'server', { verb: 'secret', secretHash });
    assert.ok(reply.status === 'changed' && reply.record.hasSecret);
  }
  const [newest, former, ...others] = served('server')?.secrets ?? [];
  assert.deepEqual(newest, { hash: hashes[2], untilMs: null });
  assert.equal(former?.hash, hashes[1]);
  const leftMs = (former?.untilMs ?? 0) - Date.now();
  assert.ok(leftMs > 86_000_000 && leftMs <= 86_400_000, `${leftMs}`);
  assert.deepEqual(others, []);
  assert.deepEqual(await clientsOfStart(), stage.served().clients, 'a start serves the same');
  await stage.change('oauth_clients', 'server', patch({ type: 'public' }));
  assert.deepEqual(served('server')?.secrets, []);
  const secretHash = hashes[0] ?? '';
  const refused = await stage.change('oauth_clients', 'server', { verb: 'secret', secretHash });
  assert.deepEqual(refused, { status: 'public' });
  await stage.change('oauth_clients', 'server', patch({ type: 'confidential' }));
  assert.deepEqual(served('server')?.secrets, [], 'the secret of before does not come back');
  const other = await stage.change('surfaces', 'server', { verb: 'secret', secretHash });
  assert.deepEqual(other, { status: 'not_found' });
});

async function clientsOfStart() {
  const stored = await readCatalogIfAny(stage.sql);
  assert.ok(stored !== null);
  const document = storedDocument(stored, () => null, 100);
  return buildSnapshot(document, () => 0, clientSecrets(stored)).clients;
}

test('a deleted client takes its authorizations and the keys made through them along', async () => {
  const { sql } = stage;
  await stage.change('oauth_clients', 'gone', { verb: 'create', definition: client('gone') });
  await sql`INSERT INTO accounts (id) VALUES ('acc_1')`;
  await sql`INSERT INTO wallets (id, account_id, type) VALUES ('wal_1', 'acc_1', 'personal')`;
  for (const [id, name] of [
    ['auth_1', 'gone'],
    ['auth_2', 'svc-cli'],
  ] as const) {
    await sql`
      INSERT INTO oauth_authorizations
        (id, account_id, client, scopes, method, authenticated_at, expires_at)
      VALUES (${id}, 'acc_1', ${name}, '{app}', 'otp', now(), now() + interval '1 day')`;
  }
  const keyId = `key_${'0'.repeat(24)}`;
  await sql`
    INSERT INTO api_keys (id, account_id, wallet_id, label, environment, scopes, token_hash, prefix,
      requests_per_minute, concurrency_max, authorization_id)
    VALUES (${keyId}, 'acc_1', 'wal_1', 'k', 'live', '{}', ${randomBytes(32)}, 'svc', 1, 1,
      'auth_1')`;
  const reply = await stage.change('oauth_clients', 'gone', { verb: 'delete' });
  assert.ok(reply.status === 'changed');
  assert.deepEqual(reply.endedKeys, [keyId]);
  const rows = await sql`
    SELECT id, revoked_reason FROM oauth_authorizations ORDER BY id`;
  assert.deepEqual(
    rows.map(({ id, revoked_reason }) => [id, revoked_reason]),
    [
      ['auth_1', 'admin'],
      ['auth_2', null],
    ],
  );
});

test('a database of before these kinds is read as one without them', async () => {
  const { sql } = stage;
  await sql.begin(async (transaction) => {
    await transaction`DROP TABLE oauth_clients, identity`;
  });
  const catalog = await readCatalogIfAny(sql);
  assert.deepEqual(catalog?.oauth_clients, []);
  assert.deepEqual(catalog?.identity, []);
});
