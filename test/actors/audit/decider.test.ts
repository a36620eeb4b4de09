// What is decided by a durable record: many in one commit, in one order with changes of settings,
// and nothing without a database.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAuditComponent } from '../../../actors/audit/component.ts';
import type { DecideReply } from '../../../actors/audit/protocol.ts';
import type { PolicyAction } from '../../../actors/organization/policy.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { openPool } from '../../../db/driver/sql.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { createLog } from '../../../runtime/log.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { appendMany, makeOrganization, type Organization } from './stage.ts';

const log = createLog({ level: 'silent', base: {}, sync: true });

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 6);
});
after(() => database.close());

function openAudits(pool: Sql) {
  const { component, services } = createAuditComponent({ sql: pool, log, system: () => system });
  const system = createActorSystem({ node: 1, kinds: component.kinds, log });
  return { decideRecorded: services.decideRecorded, stop: () => system.stop(100) };
}

async function join({ id, ownerId }: Organization, role: string): Promise<void> {
  const membership = `${ownerId}_${id}`;
  await sql`
    INSERT INTO accounts (id, role, kind, person_id, organization_id)
    VALUES (${membership}, 'user', 'member', ${ownerId}, ${id})`;
  await sql`
    INSERT INTO organization_members (organization_id, user_id, account_id, role)
    VALUES (${id}, ${ownerId}, ${membership}, ${role})`;
}

function requestOf({ ownerId }: Organization, action: PolicyAction) {
  const actor = { type: 'user' as const, id: ownerId };
  return { actor, userId: ownerId, action, target: { type: 'mcp_server', id: 'mcp.example.com' } };
}

const adding: PolicyAction = { kind: 'mcp.add', host: 'mcp.example.com' };
const set = (id: number, settings: object) =>
  sql`
    UPDATE organizations SET settings = ${JSON.stringify(settings)}::text::jsonb,
      settings_revision = settings_revision + 1 WHERE id = ${id}`.then(() => undefined);

async function recordsOf(id: number) {
  const rows = await sql<{ record: string; details: string; transaction: string }[]>`
    SELECT record, details, xmin::text AS transaction FROM organization_audit_records
    WHERE organization_id = ${id} ORDER BY seq`;
  return rows.map((row) => ({ ...JSON.parse(row.record), ...row, told: JSON.parse(row.details) }));
}

test('a decision is recorded with its rule, and a policy holds from its commit on', async () => {
  const organization = await makeOrganization(sql);
  await join(organization, 'member');
  const { decideRecorded, stop } = openAudits(sql);
  const ask = () => decideRecorded(organization.id, requestOf(organization, adding));
  assert.equal((await ask()).status, 'allowed');
  await set(organization.id, { mcp_policy: 'none' });
  const blocked = await ask();
  assert.deepEqual(blocked, { status: 'blocked', rule: 'mcp_policy', revision: 2n });
  await sql`UPDATE organizations SET status = 'suspended', suspended_by = 'owner'
    WHERE id = ${organization.id}`;
  const suspended = await ask();
  assert.equal(suspended.status === 'blocked' && suspended.rule, 'organization_status');
  const records = await recordsOf(organization.id);
  assert.deepEqual(
    records.map(({ action, result, told }) => [action, result, told.rule ?? null]),
    [
      ['mcp.add', 'ok', null],
      ['mcp.add', 'blocked', 'mcp_policy'],
      ['mcp.add', 'blocked', 'organization_status'],
    ],
  );
  await stop();
});

test('who is no member any more is blocked, and an organization that is not there', async () => {
  const organization = await makeOrganization(sql);
  const { decideRecorded, stop } = openAudits(sql);
  const reply = await decideRecorded(organization.id, requestOf(organization, adding));
  assert.equal(reply.status, 'blocked');
  const nowhere = await decideRecorded(2, requestOf(organization, adding));
  assert.equal(nowhere.status, 'blocked');
  await stop();
});

test('many at once share commits, and are in one order with changes of settings', async () => {
  const organization = await makeOrganization(sql);
  await join(organization, 'member');
  const { decideRecorded, stop } = openAudits(sql);
  const replies: DecideReply[] = [];
  const asking = Array.from({ length: 300 }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, index / 4));
    replies.push(await decideRecorded(organization.id, requestOf(organization, adding)));
  });
  const changing = (async () => {
    for (let round = 0; round < 20; round += 1) {
      await set(organization.id, { mcp_policy: round % 2 === 0 ? 'none' : 'all' });
    }
  })();
  await Promise.all([...asking, changing]);
  // With each revision there was one policy: odd ones allow.
  for (const reply of replies) {
    assert.ok(reply.status !== 'unavailable');
    assert.equal(reply.status === 'allowed', reply.revision !== null && reply.revision % 2n === 1n);
  }
  const records = await recordsOf(organization.id);
  assert.deepEqual(
    records.map(({ seq }) => seq),
    Array.from({ length: 300 }, (_, index) => index + 1),
  );
  const commits = new Set(records.map(({ transaction }) => transaction)).size;
  assert.ok(commits < 300, `${commits} commits`);
  await stop();
});

test('without a database nothing is allowed', async () => {
  const organization = await makeOrganization(sql);
  await appendMany(sql, organization, 1);
  const url = 'postgres://nobody@127.0.0.1:1/nothing';
  const away = openPool({ url, purpose: 'general', connectionsMax: 1, statementTimeoutMs: 1_000 });
  const { decideRecorded, stop } = openAudits(away);
  const reply = await decideRecorded(organization.id, requestOf(organization, adding));
  assert.deepEqual(reply, { status: 'unavailable' });
  await stop();
  await away.end({ timeout: 1 });
});
