// What an administrator is told of a record that the configuration declares: who wins, and until
// when.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, makeRecord, openAdminApi } from './admin-api.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let adminApi: AdminApi;
before(async () => {
  bed = await openTestbed();
  adminApi = await openAdminApi(bed);
});
after(() => bed?.close());

test('a change of what is declared is answered with who wins, and until when', async () => {
  const read = await adminApi('GET', '/packages/starter');
  const declared = {
    source: 'environment',
    wins: 'declaration',
    until: 'administrator_changes',
    overruled_at: null,
  };
  const { declaration, ...record } = read.json.package as Members;
  assert.deepEqual(declaration, declared);
  const won = (reply: { json: Members }) => {
    const { overruled_at, ...told } = reply.json.declaration as Members;
    assert.ok(Math.abs(Date.parse(String(overruled_at)) - Date.now()) < 60_000);
    return told;
  };
  const ruled = { source: 'environment', wins: 'administrator', until: 'declaration_changes' };
  const changes: [string, string, Members | undefined][] = [
    ['PATCH', '/packages/starter', { name: 'Beginner' }],
    ['PATCH', '/packages/starter', { name: 'Beginner' }],
    ['POST', '/packages/starter/disable', undefined],
    ['POST', '/packages/starter/enable', undefined],
  ];
  for (const [method, path, body] of changes) {
    const reply = await adminApi(method, path, body === undefined ? {} : { body });
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(won({ json: reply.json.package as Members }), ruled);
  }
  assert.deepEqual(won(await adminApi('DELETE', '/packages/starter')), ruled);
  const { slug, name, credits, price_usd } = record;
  const again = await makeRecord(adminApi, 'packages', { slug, name, credits, price_usd });
  assert.deepEqual([again.declared, won({ json: again })], [true, ruled]);
});
