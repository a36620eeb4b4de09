// What an account does to its own keys stands in the audit trail, once, without a token.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

interface EventRow {
  action: string;
  actor: string;
  subject: string;
  details: Record<string, unknown>;
}

test('a key that its owner makes and revokes leaves two events', async () => {
  const account = await bed.account();
  const headers = { 'x-svc-session': account.sessionToken };
  const events = () => bed.sql<EventRow[]>`
    SELECT action, actor, subject, details FROM audit_events
    WHERE account_id = ${account.accountId} AND action LIKE 'key.%' ORDER BY id`;
  const known = (await events()).length;
  const body = { label: 'laptop', scopes: ['models:read'] };
  const made = await contract.call('POST', '/api/me/api-keys', { headers, body });
  assert.equal(made.status, 201, made.text);
  const { id, prefix } = made.json.api_key as { id: string; prefix: string };
  for (const api_key_id of [id, id, 'key_of_nobody']) {
    const reply = { headers, body: { api_key_id } };
    const { status } = await contract.call('POST', '/api/me/api-keys/revoke', reply);
    assert.equal(status, api_key_id === id ? 200 : 404);
  }
  const [created, revoked, ...others] = (await events()).slice(known);
  assert.deepEqual(others, []);
  assert.ok(created !== undefined && revoked !== undefined);
  assert.equal(created.action, 'key.create');
  assert.deepEqual(created.details.scopes, ['models:read']);
  assert.equal(revoked.action, 'key.revoke');
  for (const { actor, subject, details } of [created, revoked]) {
    assert.equal(actor, account.accountId);
    assert.equal(subject, `key:${id}`);
    assert.equal(details.prefix, prefix);
    assert.ok(!JSON.stringify(details).includes(made.json.raw_token as string));
  }
});
