// What is scoped to organizations is erased when its time has come. A legal hold keeps it. A person
// who is erased leaves every organization first.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openAudit } from '../../../actors/audit/checkpoint.ts';
import { sweepInvitations } from '../../../actors/organization/expiry.ts';
import { eraseAccount } from '../../../actors/personal-data/erasing.ts';
import { sweepErasures } from '../../../actors/personal-data/rounds.ts';
import { deleteAccount } from '../../../db/erasure.ts';
import { closeOrganization } from '../../../db/organizations/closing.ts';
import { createInvitation } from '../../../db/organizations/invitations.ts';
import { admitMember, endMembership } from '../../../db/organizations/members.ts';
import { createOrganization, takeSeats } from '../../../db/organizations/records.ts';
import type { Organization } from '../../../db/organizations.ts';
import { newId } from '../../../runtime/ids.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openStage, type Stage } from '../personal-data/stage.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(() => stage?.close());

const never = new AbortController().signal;
const erase = (id: string) => eraseAccount(stage.deps, id, never);
const sealer = createSealer(randomBytes(32).toString('base64url'));

async function made(ownerUserId: string): Promise<Organization> {
  const id = () => newId('acc', 0);
  return await stage.sql.begin(async (sql) => {
    const organization = await createOrganization(sql, {
      ...{ name: 'Acme', slug: null, ownerUserId, seatLimit: 9 },
      ...{ accountId: id(), walletId: newId('wal', 0), ownerAccountId: id() },
    });
    const { id: organizationId } = organization;
    await openAudit(sql, { organizationId, sealer, baseUrl: 'https://tollgate.example' });
    return organization;
  });
}

/** A member with a note in a conversation there. */
async function joined({ id: organizationId }: Organization, userId: string): Promise<string> {
  const accountId = await stage.sql.begin(async (sql) => {
    await takeSeats(sql, organizationId, 1);
    const member = { organizationId, userId, accountId: newId('acc', 0) };
    const terms = { role: 'member', managedBy: 'manual', capMicros: null } as const;
    return { made: await admitMember(sql, { ...member, ...terms }) };
  });
  await stage.sql`
    INSERT INTO conversations (account_id, conversation_id, route, model)
    VALUES (${accountId.made}, 'note', 'one', 'm')`;
  return accountId.made;
}

async function noteCount(accountId: string): Promise<number> {
  const [row] = await stage.sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM conversations WHERE account_id = ${accountId}`;
  return row?.count ?? 0;
}

async function due(): Promise<string[]> {
  const ids: string[] = [];
  await sweepErasures(stage.sql, (id) => ids.push(id), stage.deps.limits);
  return ids;
}

const hold = (id: number, isHeld: boolean) => stage.sql`
  UPDATE organizations SET settings = ${JSON.stringify({ legal_hold: isHeld })}::text::jsonb
  WHERE id = ${id}`;

test('an ended membership is erased after 30 days, and not under a legal hold', async () => {
  const organization = await made(await stage.account(1));
  const userId = await stage.account(1);
  const accountId = await joined(organization, userId);
  const { id } = organization;
  assert.equal(await erase(accountId), 'waits', 'it is active');
  await stage.sql.begin((sql) => endMembership(sql, id, { userId, accountId }, 'removed'));
  const age = (days: number) => stage.sql`
    UPDATE organization_members
    SET ended_at = now() - make_interval(secs => ${days * 86_400}::float8)
    WHERE account_id = ${accountId}`;
  await age(29.9);
  assert.ok(!(await due()).includes(accountId));
  assert.equal(await erase(accountId), 'waits');
  await age(30.1);
  await hold(id, true);
  assert.ok(!(await due()).includes(accountId));
  assert.equal(await erase(accountId), 'waits');
  assert.equal(await noteCount(accountId), 1);
  await hold(id, false);
  assert.ok((await due()).includes(accountId));
  assert.equal(await erase(accountId), 'erased');
  assert.equal(await noteCount(accountId), 0);
  assert.ok(!(await due()).includes(accountId));
});

test('a closed organization is erased after 30 days with all that was made in it', async () => {
  const owner = await stage.account(1);
  const organization = await made(owner);
  const accountId = await joined(organization, await stage.account(1));
  const { id } = organization;
  await stage.sql.begin((sql) => closeOrganization(sql, id));
  assert.equal(await erase(organization.accountId), 'waits');
  assert.equal(await noteCount(accountId), 1);
  await stage.sql`
    UPDATE organizations SET closed_at = now() - interval '31 days' WHERE id = ${id}`;
  assert.ok((await due()).includes(organization.accountId));
  assert.equal(await erase(organization.accountId), 'erased');
  assert.equal(await noteCount(accountId), 0);
  assert.ok(!(await due()).includes(organization.accountId));
});

test('a canonical owner is not deleted, nor who is in an organization on legal hold', async () => {
  const owner = await stage.account(1);
  const userId = await stage.account(1);
  const organization = await made(owner);
  await joined(organization, userId);
  const reasonOf = (id: string) =>
    stage.sql.begin(async (sql) => {
      const deletion = await deleteAccount(sql, id);
      return deletion.status === 'barred' ? deletion.reason : deletion.status;
    });
  assert.equal(await reasonOf(owner), 'organization_owner');
  await hold(organization.id, true);
  assert.equal(await reasonOf(userId), 'legal_hold');
  await hold(organization.id, false);
  assert.equal(await reasonOf(userId), 'deleting');
  await hold(organization.id, true);
  await stage.deleted(userId, 15);
  assert.equal(await erase(userId), 'waits', 'the hold came before the erasing');
  await stage.sql.begin((sql) => closeOrganization(sql, organization.id));
  await hold(organization.id, false);
  assert.equal(await reasonOf(owner), 'deleting');
});

test('a person who is erased leaves, is waited for nowhere, and nothing of it stays', async () => {
  const organization = await made(await stage.account(1));
  const waiting = await made(await stage.account(1));
  const userId = await stage.account(1);
  const accountId = await joined(organization, userId);
  await stage.sql.begin(async (sql) => {
    await takeSeats(sql, waiting.id, 1);
    await createInvitation(sql, {
      ...{ id: newId('inv', 0), organizationId: waiting.id, email: `${userId}@example.test` },
      ...{ role: 'member', groupIds: [], capMicros: null, invitedBy: 'acc_x', lifetimeMs: 60_000 },
    });
  });
  await stage.deleted(userId, 15);
  assert.equal(await erase(userId), 'erased');
  assert.equal(await noteCount(accountId), 0);
  const rows = await stage.sql<{ seats_taken: number }[]>`
    SELECT seats_taken FROM organizations WHERE id IN (${organization.id}, ${waiting.id})`;
  assert.deepEqual(
    rows.map((row) => row.seats_taken),
    [1, 1],
  );
  const [member] = await stage.sql`
    SELECT status, erased_at IS NOT NULL AS erased FROM organization_members
    WHERE account_id = ${accountId}`;
  assert.deepEqual({ ...member }, { status: 'left', erased: true });
  assert.deepEqual(await stage.rowsWith(`${userId}@example.test`), {});
});

test('invitations whose time is over end, and give their seats back', async () => {
  const organization = await made(await stage.account(1));
  const { id: organizationId } = organization;
  await stage.sql.begin(async (sql) => {
    await takeSeats(sql, organizationId, 2);
    for (const [email, lifetimeMs] of [
      ['old@example.test', -1],
      ['new@example.test', 60_000],
    ] as const) {
      await createInvitation(sql, {
        ...{ id: newId('inv', 0), organizationId, email, role: 'member', groupIds: [] },
        ...{ capMicros: null, invitedBy: 'acc_x', lifetimeMs },
      });
    }
  });
  assert.equal(await sweepInvitations(stage.sql), 1);
  assert.equal(await sweepInvitations(stage.sql), 0);
  const [row] = await stage.sql<{ seats_taken: number }[]>`
    SELECT seats_taken FROM organizations WHERE id = ${organizationId}`;
  assert.equal(row?.seats_taken, 2);
});
