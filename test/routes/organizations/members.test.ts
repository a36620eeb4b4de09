// Members: what ends with a membership, and what a return takes up again. Caps and their figures.
// The rule of the directory, groups, and the keys of an organization.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createKey } from '../../../db/keys.ts';
import { newId } from '../../../runtime/ids.ts';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makePerson, type TestPerson } from '../me/person.ts';
import { type Company, join, type Members, makeCompany, refusalOf, rowOf } from './company.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

async function accountOf({ id }: Company, { accountId }: TestPerson): Promise<string> {
  const [row] = await bed.sql<{ account_id: string }[]>`
    SELECT account_id FROM organization_members
    WHERE organization_id = ${id} AND user_id = ${accountId}`;
  assert.ok(row !== undefined);
  return row.account_id;
}

/** A key and a server of the membership, as the person would make them there. */
async function equip(company: Company, person: TestPerson): Promise<string> {
  const accountId = await accountOf(company, person);
  const { wallet_id: walletId } = await rowOf(bed, company);
  const id = newId('key', 0);
  const mark = randomBytes(32);
  const terms = {
    requestsPerMinute: 60,
    concurrencyMax: 4,
    environment: 'test',
    scopes: [],
  } as const;
  const named = { id, accountId, walletId, label: 'there', prefix: 'svc_test_x', tokenHash: mark };
  await createKey(bed.sql, { ...terms, scopes: [], ...named });
  await bed.sql`
    INSERT INTO mcp_servers (id, account_id, name, slug, url)
    VALUES (${newId('mcp', 0)}, ${accountId}, 'Docs', 'docs', 'https://mcp.example.com/')`;
  return id;
}

const versionOf = async (company: Company) => {
  const { wallet_id: id } = await rowOf(bed, company);
  const [row] = await bed.sql<{ version: bigint }[]>`SELECT version FROM wallets WHERE id = ${id}`;
  return row?.version;
};

test('removal takes keys, servers, groups, the default and the seat at once', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path } = company;
  const person = await makePerson(bed, contract);
  await join(company, person, 'member');
  const keyId = await equip(company, person);
  const set = await person.call('POST', '/api/me/organizations/default', {
    organization_id: company.id,
  });
  assert.equal(set.status, 200, set.text);
  const made = await owner.call('POST', `${path}/groups`, { name: 'Research' });
  const { id: group } = made.json.group as { id: string };
  await owner.call('PUT', `${path}/groups/${group}/members`, { user_ids: [person.accountId] });
  const place = `${path}/members/${person.accountId}`;
  const removed = { keys: 1, connections: 0, mcp_servers: 1 };
  const preview = await owner.call('DELETE', `${place}?preview=true`);
  assert.deepEqual(preview.json, { ok: true, removed });
  assert.equal((await person.call('GET', path)).status, 200);
  const version = await versionOf(company);
  const done = await owner.call('DELETE', place);
  assert.deepEqual(done.json, { ok: true, removed });
  assert.notEqual(await versionOf(company), version);
  assert.equal((await person.call('GET', path)).status, 404);
  assert.equal((await owner.call('DELETE', place)).status, 404);
  const [left] = await bed.sql<Members[]>`
    SELECT (SELECT status FROM api_keys WHERE id = ${keyId}) AS key,
      (SELECT count(*)::integer FROM organization_group_members
        WHERE group_id = ${group}) AS groups,
      (SELECT default_organization_id FROM accounts WHERE id = ${person.accountId}) AS chosen`;
  assert.deepEqual({ ...left }, { key: 'revoked', groups: 0, chosen: null });
  assert.equal((await rowOf(bed, company)).seats_taken, 1);
});

test('who leaves and returns has the same account, and none of its keys', async () => {
  const company = await makeCompany(bed, contract);
  const person = await makePerson(bed, contract);
  await join(company, person, 'admin', { monthly_spend_limit_micros: 7 });
  const before = await accountOf(company, person);
  const keyId = await equip(company, person);
  const left = await person.call('POST', `/api/me/organizations/${company.id}/leave`);
  assert.deepEqual(left.json.removed, { keys: 1, connections: 0, mcp_servers: 1 });
  const gone = await company.owner.call('GET', `${company.path}/members/${person.accountId}`);
  assert.equal((gone.json.member as Members).status, 'left');
  await join(company, person, 'member');
  assert.equal(await accountOf(company, person), before);
  const me = await person.call('GET', `${company.path}/members/me`);
  const { role, status, monthly_spend_limit_micros: cap } = me.json.member as Members;
  assert.deepEqual([role, status, cap], ['member', 'active', null]);
  const [key] = await bed.sql<Members[]>`SELECT status FROM api_keys WHERE id = ${keyId}`;
  assert.equal(key?.status, 'revoked');
  assert.equal((await rowOf(bed, company)).seats_taken, 2);
});

test('the canonical owner is neither demoted nor removed, and does not leave', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path } = company;
  const other = await makePerson(bed, contract);
  await join(company, other, 'owner');
  const expected = '409 invalid_state canonical_owner';
  const place = `${path}/members/${owner.accountId}`;
  assert.equal(refusalOf(await other.call('PATCH', place, { role: 'admin' })), expected);
  assert.equal(refusalOf(await other.call('DELETE', place)), expected);
  assert.equal(refusalOf(await other.call('DELETE', `${place}?preview=true`)), expected);
  assert.equal(refusalOf(await owner.call('DELETE', `${path}/members/me`)), expected);
  const leaving = await owner.call('POST', `/api/me/organizations/${company.id}/leave`);
  assert.equal(refusalOf(leaving), expected);
  const capped = await other.call('PATCH', place, { monthly_spend_limit_micros: 5 });
  assert.equal(capped.status, 200, capped.text);
});

test('a cap, what it comes to, and what was spent of it', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path, id } = company;
  const person = await makePerson(bed, contract);
  await join(company, person, 'member');
  await bed.sql`
    UPDATE organizations SET settings = '{"default_member_spend_limit_micros": 900}'
    WHERE id = ${id}`;
  const account = await accountOf(company, person);
  const { wallet_id: wallet } = await rowOf(bed, company);
  await bed.sql`
    INSERT INTO spend (wallet_id, spender, period, starts_at, ends_at, spent_micros, held_micros)
    SELECT ${wallet}, ${account}, 'month', m, m + interval '1 month', 40, 2
    FROM date_trunc('month', now(), 'UTC') AS m`;
  const place = `${path}/members/${person.accountId}`;
  const figures = (reply: { json: Members }) => {
    const member = reply.json.member as Members;
    const { monthly_spend_limit_micros: own, effective_limit_micros: effective } = member;
    return [own, effective, member.spent_micros, member.held_micros];
  };
  assert.deepEqual(figures(await owner.call('GET', place)), [null, 900, 40, 2]);
  const version = await versionOf(company);
  const capped = await owner.call('PATCH', place, { monthly_spend_limit_micros: 50 });
  assert.deepEqual(figures(capped), [50, 50, 40, 2]);
  assert.notEqual(await versionOf(company), version);
  const admin = await owner.call('PATCH', place, {
    role: 'admin',
    monthly_spend_limit_micros: null,
  });
  assert.deepEqual(figures(admin), [null, null, 40, 2]);
  // While it is suspended a cap may only become lower.
  await owner.call('POST', `${path}/suspend`, { reason: 'A pause.' });
  const lower = await owner.call('PATCH', place, { monthly_spend_limit_micros: 30 });
  assert.equal(lower.status, 200, lower.text);
  const higher = await owner.call('PATCH', place, { monthly_spend_limit_micros: 31 });
  assert.equal(refusalOf(higher), '409 invalid_state organization_status');
  const role = await owner.call('PATCH', place, { role: 'member' });
  assert.equal(refusalOf(role), '409 invalid_state organization_status');
});

test('a directory for managers shows others themselves alone', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path, id } = company;
  const person = await makePerson(bed, contract);
  await join(company, person, 'billing');
  const idsOf = ({ json }: { json: Members }) =>
    (json.data as Members[]).map((each) => each.user_id);
  assert.equal(idsOf(await person.call('GET', `${path}/members`)).length, 2);
  await bed.sql`
    UPDATE organizations SET settings = '{"member_directory_visibility": "managers"}'
    WHERE id = ${id}`;
  assert.deepEqual(idsOf(await person.call('GET', `${path}/members`)), [person.accountId]);
  const other = await person.call('GET', `${path}/members/${owner.accountId}`);
  assert.equal(other.status, 404);
  assert.equal(idsOf(await owner.call('GET', `${path}/members`)).length, 2);
  const both = { user_ids: [owner.accountId, person.accountId] };
  const made = await owner.call('POST', `${path}/groups`, { name: 'All' });
  const { id: group } = made.json.group as { id: string };
  const put = await owner.call('PUT', `${path}/groups/${group}/members`, both);
  assert.deepEqual((put.json.group as Members).user_ids, both.user_ids.toSorted());
  const [shown] = (await person.call('GET', `${path}/groups`)).json.data as Members[];
  assert.deepEqual([shown?.member_count, shown?.user_ids], [2, [person.accountId]]);
});

test('groups have one name each, members of the organization, and a revision', async () => {
  const { owner, path } = await makeCompany(bed, contract);
  const stranger = await makePerson(bed, contract);
  const made = await owner.call('POST', `${path}/groups`, { name: 'Research' });
  const { id, revision } = made.json.group as { id: string; revision: number };
  const twice = await owner.call('POST', `${path}/groups`, { name: 'Research' });
  assert.equal(refusalOf(twice), '409 conflict name');
  const place = `${path}/groups/${id}`;
  const put = await owner.call('PUT', `${place}/members`, {
    user_ids: [owner.accountId, stranger.accountId],
  });
  assert.equal(((put.json.error as Members).details as Members).path, 'user_ids[1]');
  const renamed = await owner.call('PATCH', place, { name: 'Sales', expected_revision: revision });
  assert.equal((renamed.json.group as Members).name, 'Sales');
  const stale = await owner.call('PATCH', place, { name: 'HR', expected_revision: revision });
  assert.equal(refusalOf(stale), '409 conflict');
  assert.equal((await owner.call('DELETE', place)).status, 200);
  assert.equal((await owner.call('DELETE', place)).status, 404);
});

test('its own keys are made, changed, rotated; those of members only revoked', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path } = company;
  const person = await makePerson(bed, contract);
  await join(company, person, 'member');
  const members = await equip(company, person);
  const spend_limit = { amount_microcredits: 5, period: 'month' };
  const made = await owner.call('POST', `${path}/keys`, { label: 'build', spend_limit });
  assert.equal(made.status, 201, made.text);
  const { id, user_id: whose } = made.json.api_key as { id: string; user_id: null };
  assert.equal(whose, null);
  const [row] = await bed.sql<Members[]>`
    SELECT k.account_id = o.account_id AND k.wallet_id = o.wallet_id AS own
    FROM api_keys k JOIN organizations o ON o.id = ${company.id} WHERE k.id = ${id}`;
  assert.equal(row?.own, true);
  const listed = (await owner.call('GET', `${path}/keys`)).json.data as Members[];
  assert.deepEqual(
    listed.map((key) => [key.id, key.user_id]),
    [
      [id, null],
      [members, person.accountId],
    ],
  );
  const change = { api_key_id: id, label: 'builder', disabled: true };
  const changed = await owner.call('POST', `${path}/keys/update`, change);
  assert.equal((changed.json.api_key as Members).status, 'disabled');
  const rotated = await owner.call('POST', `${path}/keys/rotate`, { api_key_id: id });
  assert.notEqual(rotated.json.raw_token, made.json.raw_token);
  for (const verb of ['update', 'rotate']) {
    const refused = await owner.call('POST', `${path}/keys/${verb}`, { api_key_id: members });
    assert.equal(refusalOf(refused), '403 forbidden members_key');
  }
  const foreign = await owner.call('POST', `${path}/keys/revoke`, { api_key_id: owner.keyId });
  assert.equal(foreign.status, 404);
  for (const each of [id, members]) {
    const revoked = await owner.call('POST', `${path}/keys/revoke`, { api_key_id: each });
    assert.equal((revoked.json.api_key as Members).status, 'revoked');
  }
  const late = await owner.call('POST', `${path}/keys/rotate`, { api_key_id: id });
  assert.equal(refusalOf(late), '409 invalid_state');
});
