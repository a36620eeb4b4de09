// An act whose record cannot be appended is not done: the row, seats, members, keys and the
// wallet's version stay what they were.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makePerson, type TestPerson } from '../me/person.ts';
import { base, type Company, join, type Members, makeCompany, rowOf } from './company.ts';

let bed: Testbed;
let contract: Contract;
let company: Company;
let person: TestPerson;
let invited: TestPerson;
let admin: string;
const ids: Record<string, string> = {};

before(async () => {
  bed = await openTestbed({ own: 'it breaks the audit' });
  contract = await Contract.load(bed.url);
  company = await makeCompany(bed, contract);
  admin = bed.dev.admin_session_token;
  person = await makePerson(bed, contract);
  invited = await makePerson(bed, contract);
  await join(company, person, 'admin');
  const { owner, path } = company;
  const email = invited.email;
  const made = await owner.call('POST', `${path}/invitations`, { email });
  ids.invitation = (made.json.invitation as { id: string }).id;
  const group = await owner.call('POST', `${path}/groups`, { name: 'There' });
  ids.group = (group.json.group as { id: string }).id;
  const key = await owner.call('POST', `${path}/keys`, { label: 'there' });
  ids.key = (key.json.api_key as { id: string }).id;
  await bed.sql.unsafe(`
    CREATE FUNCTION break_audit() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the audit is broken'; END $$;
    CREATE TRIGGER broken BEFORE INSERT ON organization_audit_records
      FOR EACH ROW EXECUTE FUNCTION break_audit();`);
});
after(() => bed?.close());

/** All that an act could change, as one text. */
async function snapshot(): Promise<string> {
  const { wallet_id: wallet } = await rowOf(bed, company);
  const tables = [
    ['organizations', ''],
    ['organization_members', ''],
    ['organization_invitations', ''],
    ['organization_groups', ''],
    ['organization_group_members', ''],
    ['organization_audit_records', ''],
    ['accounts', 'WHERE organization_id IS NOT NULL OR default_organization_id IS NOT NULL'],
    ['api_keys', 'WHERE account_id IN (SELECT account_id FROM organizations)'],
  ];
  const parts = await Promise.all([
    ...tables.map(([table, where]) =>
      bed.sql.unsafe(`SELECT coalesce(json_agg(t ORDER BY t::text), '[]')::text AS rows
        FROM (SELECT * FROM ${table} ${where}) t`),
    ),
    bed.sql`SELECT version::text AS rows FROM wallets WHERE id = ${wallet}`,
    bed.sql`SELECT count(*)::text AS rows FROM mails WHERE template = 'invitation'`,
  ]);
  return JSON.stringify(parts);
}

type Act = [
  who: 'owner' | 'person' | 'invited' | 'admin',
  method: string,
  path: string,
  body?: Members,
];

function acts(): Act[] {
  const { path, id, name } = company;
  const my = '/api/me';
  const own = `/api/admin/organizations/${id}`;
  const reason = { reason: 'A test.' };
  const key = { api_key_id: ids.key };
  return [
    ['owner', 'POST', base, { name: 'Another' }],
    ['owner', 'PATCH', path, { name: 'Other' }],
    ['owner', 'POST', `${path}/suspend`, reason],
    ['owner', 'POST', `${path}/close`, { confirm: name }],
    ['owner', 'POST', `${path}/owner`, { user_id: person.accountId, confirm: name }],
    ['owner', 'PATCH', `${path}/members/${person.accountId}`, { role: 'member' }],
    ['owner', 'DELETE', `${path}/members/${person.accountId}`],
    ['person', 'POST', `${my}/organizations/${id}/leave`],
    ['owner', 'POST', `${path}/invitations`, { email: 'new@example.test' }],
    ['owner', 'POST', `${path}/invitations/${ids.invitation}/resend`],
    ['owner', 'DELETE', `${path}/invitations/${ids.invitation}`],
    ['invited', 'POST', `${my}/invitations/${ids.invitation}/accept`],
    ['invited', 'POST', `${my}/invitations/${ids.invitation}/decline`],
    ['owner', 'POST', `${path}/groups`, { name: 'New' }],
    ['owner', 'PATCH', `${path}/groups/${ids.group}`, { name: 'New' }],
    ['owner', 'PUT', `${path}/groups/${ids.group}/members`, { user_ids: [person.accountId] }],
    ['owner', 'DELETE', `${path}/groups/${ids.group}`],
    ['owner', 'POST', `${path}/keys`, { label: 'new' }],
    ['owner', 'POST', `${path}/keys/update`, { ...key, label: 'other' }],
    ['owner', 'POST', `${path}/keys/rotate`, key],
    ['owner', 'POST', `${path}/keys/revoke`, key],
    ['admin', 'POST', '/api/admin/organizations', { name: 'New', owner_email: person.email }],
    ['admin', 'PATCH', own, { seat_limit: 300 }],
    ['admin', 'POST', `${own}/owner`, { user_id: person.accountId, ...reason }],
    ['admin', 'POST', `${own}/suspend`, reason],
    ['admin', 'POST', `${own}/close`, reason],
  ];
}

test('without its record nothing is done, whatever the act', async () => {
  const known = await snapshot();
  const people = { owner: company.owner, person, invited };
  for (const [who, method, path, body] of acts()) {
    const what = `${who} ${method} ${path}`;
    const reply =
      who === 'admin'
        ? await company.owner.call(method, path, body, admin)
        : await people[who].call(method, path, body);
    assert.ok(reply.status >= 500, `${what}: ${reply.status} ${reply.text}`);
    assert.equal(await snapshot(), known, what);
  }
});
