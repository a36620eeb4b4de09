// Credentials of providers under administration: kept, shown to nobody, and sent nowhere else.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, everything, makeRecord, openAdminApi, refusal } from './admin-api.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let adminApi: AdminApi;
let provider: Members;
before(async () => {
  bed = await openTestbed({ own: 'it changes the catalog and reads the log' });
  adminApi = await openAdminApi(bed);
  provider = { family: 'openai-chat', base_url: `${bed.dev.simulator_url}/v1` };
});
after(() => bed?.close());

test('a credential is stored, replaced and removed, and comes out of nothing', async () => {
  const secrets = ['very-secret-credential-1', 'very-secret-credential-2'];
  const body = { name: 'sealed', ...provider };
  const first = await makeRecord(adminApi, 'providers', { ...body, api_key: secrets[0] });
  assert.equal(first.has_credential, true);
  assert.match(String(first.credential_key_id), /^[0-9a-f]{12}$/);
  const texts = [JSON.stringify(first)];
  const changes: Members[] = [{ api_key: secrets[1] }, { simulated: true }, { api_key: null }];
  const had = [];
  for (const change of changes) {
    const reply = await adminApi('PATCH', '/providers/sealed', { body: change });
    had.push((reply.json.provider as Members).has_credential);
    texts.push(reply.text, (await adminApi('GET', '/providers/sealed')).text);
  }
  assert.deepEqual(had, [true, true, false]);
  const bad = { ...body, name: 'x', base_url: 'http://169.254.169.254', api_key: secrets[0] };
  texts.push((await adminApi('POST', '/providers', { body: bad })).text);
  texts.push((await adminApi('GET', '/providers?limit=100')).text);
  const events = await everything(adminApi, '/audit?subject=provider:sealed');
  assert.deepEqual(
    events.map(({ details }) => (details as Members).credential),
    ['removed', 'kept', 'set', 'set'],
  );
  const rows = await bed.sql`SELECT to_jsonb(p) FROM providers p`;
  const trail = await bed.sql`SELECT to_jsonb(e) FROM audit_events e`;
  const everywhere = [...texts, JSON.stringify([rows, trail, events]), bed.gateway.logs.join('\n')];
  for (const secret of secrets) {
    const hex = Buffer.from(secret).toString('hex');
    for (const text of everywhere) assert.ok(!text.includes(secret) && !text.includes(hex));
  }
});

test('a stored credential stays with its server: another one needs it again', async () => {
  const base_url = 'https://api.example.com/v1';
  const path = '/providers/moving';
  await makeRecord(adminApi, 'providers', {
    ...provider,
    name: 'moving',
    base_url,
    api_key: 'first',
  });
  const change = (body: Members) => adminApi('PATCH', path, { body });
  for (const other of [
    'https://api.example.org/v1',
    'https://api.example.com:8443/v1',
    'http://api.example.com/v1',
  ]) {
    const { status, code, details } = refusal(await change({ base_url: other }));
    assert.deepEqual([status, code, details.path], [400, 'invalid_request', 'api_key'], other);
  }
  for (const nowhere of ['http://[', 'https://api.example.com:99999/v1', 'http://a%zz/v1']) {
    const { status, code, details } = refusal(await change({ base_url: nowhere }));
    assert.deepEqual([status, code, details.path], [400, 'invalid_request', 'base_url'], nowhere);
  }
  const hasCredential = async (body: Members) => {
    const reply = await change(body);
    assert.equal(reply.status, 200, reply.text);
    const { base_url: address, has_credential } = reply.json.provider as Members;
    return [address, has_credential];
  };
  const [same, other, third] = [
    'https://api.example.com/v2',
    'https://api.example.org/v1',
    'http://10.0.0.7:11434/v1',
  ];
  assert.deepEqual(await hasCredential({ base_url: same }), [same, true], 'the same server');
  const moved = await hasCredential({ base_url: other, api_key: 'second' });
  assert.deepEqual(moved, [other, true]);
  assert.deepEqual(await hasCredential({ base_url: third, api_key: null }), [third, false]);
  assert.deepEqual(await hasCredential({ base_url: same }), [same, false], 'there is none');
});
