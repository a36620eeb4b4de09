// Every cell of roles, routes and status: what the table of rights says is what a person is
// answered.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type OrganizationStatus, organizationRoles } from '../../../db/organizations/role.ts';
import { judge, type Right, type RightName, rights } from '../../../routes/organizations/rights.ts';
import { routes } from '../../../routes/table.ts';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makePerson, type TestPerson } from '../me/person.ts';
import { base, type Company, fill, makeCompany, refusalOf } from './company.ts';

let bed: Testbed;
let contract: Contract;
let company: Company;
let people: [name: string, person: TestPerson, isCanonical: boolean][];
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
  company = await makeCompany(bed, contract);
  const roles = await fill(bed, contract, company);
  people = [['owner', company.owner, true]];
  for (const role of organizationRoles) people.push([role, roles[role], false]);
  const made = await company.owner.call('POST', `${company.path}/groups`, { name: 'There' });
  assert.equal(made.status, 201, made.text);
});
after(() => bed?.close());

interface Row {
  right: RightName;
  method: string;
  /** Behind the organization, as the document has it. */
  path: string;
  /** The same as it is asked; left out: as it is. */
  asked?: string;
  body?: unknown;
  /** What is answered once the right is there: nothing is changed by it. */
  answers: readonly string[];
}

const none = ['404 not_found'];
const wrong = ['400 invalid_request'];
const reason = { reason: 'A test of rights.' };
const confirm = { confirm: 'another name' };
const key = { api_key_id: 'key_none' };

const place = `${base}/{organization_id}`;
const served = new Set(routes.map(({ method, path }) => `${method} ${path}`));

const all: readonly Row[] = [
  { right: 'organization.read', method: 'GET', path: '', answers: ['200'] },
  { right: 'organization.update', method: 'PATCH', path: '', body: {}, answers: ['200'] },
  {
    ...{ right: 'organization.suspend', method: 'POST', path: '/suspend', body: reason },
    answers: ['200'],
  },
  {
    ...{ right: 'organization.activate', method: 'POST', path: '/activate', body: reason },
    answers: ['200'],
  },
  {
    ...{ right: 'organization.close', method: 'POST', path: '/close', body: confirm },
    answers: wrong,
  },
  {
    ...{ right: 'organization.hand_over', method: 'POST', path: '/owner' },
    ...{ body: { user_id: 'acc_none', ...confirm }, answers: wrong },
  },
  { right: 'members.read', method: 'GET', path: '/members', answers: ['200'] },
  {
    ...{ right: 'members.read', method: 'GET', path: '/members/{user_id}', asked: '/members/me' },
    answers: ['200'],
  },
  {
    ...{ right: 'members.update', method: 'PATCH', path: '/members/{user_id}' },
    ...{ asked: '/members/acc_none', body: {}, answers: none },
  },
  {
    ...{ right: 'members.remove', method: 'DELETE', path: '/members/{user_id}' },
    ...{ asked: '/members/acc_none', answers: none },
  },
  {
    ...{ right: 'members.leave', method: 'DELETE', path: '/members/{user_id}' },
    asked: '/members/me?preview=true',
    answers: ['200', '409 invalid_state canonical_owner'],
  },
  { right: 'invitations.read', method: 'GET', path: '/invitations', answers: ['200'] },
  {
    ...{ right: 'invitations.write', method: 'POST', path: '/invitations', answers: wrong },
    body: { email: 'somebody@example.test', group_ids: ['grp_none'] },
  },
  {
    ...{ right: 'invitations.revoke', method: 'DELETE', path: '/invitations/{invitation_id}' },
    ...{ asked: '/invitations/inv_none', answers: none },
  },
  {
    ...{ right: 'invitations.write', method: 'POST', asked: '/invitations/inv_none/resend' },
    ...{ path: '/invitations/{invitation_id}/resend', answers: none },
  },
  { right: 'groups.read', method: 'GET', path: '/groups', answers: ['200'] },
  {
    ...{ right: 'groups.write', method: 'POST', path: '/groups', body: { name: 'There' } },
    answers: ['409 conflict name'],
  },
  {
    ...{ right: 'groups.write', method: 'PATCH', path: '/groups/{group_id}' },
    ...{ asked: '/groups/grp_none', body: { name: 'Other' }, answers: none },
  },
  {
    ...{ right: 'groups.remove', method: 'DELETE', path: '/groups/{group_id}' },
    ...{ asked: '/groups/grp_none', answers: none },
  },
  {
    ...{ right: 'groups.write', method: 'PUT', path: '/groups/{group_id}/members' },
    ...{ asked: '/groups/grp_none/members', body: { user_ids: [] }, answers: none },
  },
  { right: 'audit.read', method: 'GET', path: '/audit', answers: ['200'] },
  {
    ...{ right: 'audit.read', method: 'GET', path: '/audit/{seq}', asked: '/audit/999999' },
    answers: none,
  },
  {
    ...{ right: 'audit.read', method: 'GET', path: '/audit/{seq}/proof' },
    ...{ asked: '/audit/999999/proof', answers: none },
  },
  { right: 'audit.read', method: 'GET', path: '/audit/checkpoints', answers: ['200'] },
  { right: 'audit.read', method: 'GET', path: '/audit/keys', answers: ['200'] },
  {
    ...{ right: 'audit.read', method: 'GET', path: '/audit/export' },
    ...{ asked: '/audit/export?from_seq=999999', answers: wrong },
  },
  {
    ...{ right: 'audit.checkpoint', method: 'POST', path: '/audit/checkpoints' },
    answers: ['201', '429 rate_limited'],
  },
  { right: 'domains.read', method: 'GET', path: '/domains', answers: ['200'] },
  {
    ...{ right: 'domains.write', method: 'POST', path: '/domains', body: { domain: 'com' } },
    answers: ['400 invalid_request', '400 invalid_request public_suffix'],
  },
  {
    ...{ right: 'domains.write', method: 'POST', path: '/domains/{domain}/verify' },
    ...{ asked: '/domains/none.example/verify', answers: none },
  },
  {
    ...{ right: 'domains.remove', method: 'DELETE', path: '/domains/{domain}' },
    ...{ asked: '/domains/none.example', answers: none },
  },
  { right: 'wallet.read', method: 'GET', path: '/wallet', answers: ['200'] },
  { right: 'infrastructure.read', method: 'GET', path: '/infrastructure', answers: ['200'] },
  { right: 'settings.read', method: 'GET', path: '/settings', answers: ['200'] },
  {
    ...{ right: 'settings.update', method: 'PATCH', path: '/settings', answers: ['200'] },
    body: { settings: {} },
  },
  { right: 'keys.read', method: 'GET', path: '/keys', answers: ['200'] },
  {
    ...{ right: 'keys.write', method: 'POST', path: '/keys', answers: wrong },
    body: { label: 'a', expires_at: '2001-01-01T00:00:00Z' },
  },
  { right: 'keys.write', method: 'POST', path: '/keys/update', body: key, answers: none },
  { right: 'keys.write', method: 'POST', path: '/keys/rotate', body: key, answers: none },
  { right: 'keys.revoke', method: 'POST', path: '/keys/revoke', body: key, answers: none },
];

/** Rows whose route is served by now. */
const rows = all.filter(({ method, path }) => served.has(`${method} ${place}${path}`));

const statuses: readonly OrganizationStatus[] = ['active', 'suspended', 'closed'];

async function put(status: OrganizationStatus): Promise<void> {
  const by = status === 'suspended' ? 'owner' : null;
  await bed.sql`
    UPDATE organizations SET status = ${status}, suspended_by = ${by},
      closed_at = CASE WHEN ${status === 'closed'} THEN now() END
    WHERE id = ${company.id}`;
}

async function ask(row: Row, person: TestPerson): Promise<string> {
  const { method, asked = row.path, body } = row;
  const reply = await person.call(method, `${company.path}${asked}`, body);
  return reply.status < 300 ? `${reply.status}` : refusalOf(reply);
}

const refused = {
  forbidden: ['403 forbidden role'],
  invalid_state: ['409 invalid_state organization_status'],
};

test('every role is answered on every route in every status as the table says', async () => {
  const misses: string[] = [];
  for (const status of statuses) {
    await put(status);
    for (const row of rows) {
      for (const [name, person, isCanonicalOwner] of people) {
        const role = organizationRoles.find((each) => each === name);
        assert.ok(role !== undefined);
        const right: Right = rights[row.right];
        const refusal = judge(right, { role, isCanonicalOwner, status });
        const expected = refusal === null ? row.answers : refused[refusal];
        const answer = await ask(row, person);
        const where = `${status} ${name}${isCanonicalOwner ? ' (canonical)' : ''}`;
        const what = `${row.method} ${row.path}`;
        if (!expected.includes(answer))
          misses.push(`${where}: ${what}: ${answer}, not ${expected}`);
        if (row.right === 'organization.suspend' || row.right === 'organization.activate') {
          await put(status);
        }
      }
    }
  }
  await put('active');
  assert.deepEqual(misses, []);
});

test('to a stranger there is no route of it', async () => {
  const stranger = await makePerson(bed, contract);
  for (const row of rows) {
    assert.equal(await ask(row, stranger), '404 not_found', `${row.method} ${row.path}`);
  }
});

/** Routes of other domains, which have tables of their own. */
const others = /^\/(usage|requests|budgets|webhooks)\b/;

test('every right has a route, and every route is asked', () => {
  const named = new Set(all.map(({ right }) => right));
  // What is told of the balance is a part of an organization.
  const missing = Object.keys(rights).filter((name) => !named.has(name as RightName));
  assert.deepEqual(missing, ['balance.read']);
  const known = new Set(rows.map(({ method, path }) => `${method} ${path}`));
  const unasked = routes
    .filter(({ path }) => path.startsWith(place))
    .map(({ method, path }) => ({ method, path: path.slice(place.length) }))
    .filter(({ path }) => !others.test(path))
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => !known.has(route));
  assert.deepEqual(unasked, []);
});
