// Organizations are made whole, shown to their members alone, changed under a revision, and handed
// over; administrators see and seat all of them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, openAdminApi, refusal } from '../admin/admin-api.ts';
import { makePerson, newSession } from '../me/person.ts';
import {
  base,
  type Company,
  join,
  type Members,
  makeCompany,
  refusalOf,
  rowOf,
} from './company.ts';

let bed: Testbed;
let contract: Contract;
let adminApi: AdminApi;
before(async () => {
  bed = await openTestbed({ own: 'it changes who may make organizations' });
  contract = await Contract.load(bed.url);
  adminApi = await openAdminApi(bed);
});
after(() => bed?.close());

const organizationOf = ({ json }: { json: Members }) => json.organization as Members;

test('an organization has an account, a wallet, and its maker as owner with a seat', async () => {
  const owner = await makePerson(bed, contract);
  const slug = `co-${owner.accountId.slice(-12)}`;
  const made = await owner.call('POST', base, { name: 'Acme GmbH', slug });
  assert.equal(made.status, 201, made.text);
  const shown = organizationOf(made);
  const id = shown.id as number;
  assert.ok(Number.isInteger(id) && id >= 100_000 && id < 2 ** 31);
  assert.equal(shown.role, 'owner');
  assert.equal(shown.owner_user_id, owner.accountId);
  assert.equal(shown.seats_taken, 1);
  assert.equal(shown.seat_limit, 25);
  assert.equal(shown.credit_balance_micros, 0);
  const [kinds] = await bed.sql<Members[]>`
    SELECT o.account_id = a.id AND a.kind = 'organization' AS own, w.type,
      w.account_id = a.id AS its,
      m.role, c.kind, c.person_id
    FROM organizations o JOIN accounts a ON a.organization_id = o.id AND a.kind = 'organization'
    JOIN wallets w ON w.id = o.wallet_id
    JOIN organization_members m ON m.organization_id = o.id JOIN accounts c ON c.id = m.account_id
    WHERE o.id = ${id}`;
  assert.deepEqual(
    { ...kinds },
    {
      ...{ own: true, type: 'organization', its: true, role: 'owner', kind: 'member' },
      person_id: owner.accountId,
    },
  );
  const again = await owner.call('POST', base, { name: 'Other', slug });
  assert.equal(refusalOf(again), '409 conflict slug');
  const listed = await owner.call('GET', base);
  assert.deepEqual(
    (listed.json.data as Members[]).map((each) => each.id),
    [id],
  );
  const mine = await owner.call('GET', '/api/me/organizations');
  const [membership] = mine.json.data as Members[];
  assert.equal(membership?.organization_id, id);
  assert.equal(membership?.is_canonical_owner, true);
});

test('to who is no member it is not there', async () => {
  const company = await makeCompany(bed, contract);
  const stranger = await makePerson(bed, contract);
  for (const id of [company.id, 7, 99_999_999_999, 'x']) {
    const asked = await stranger.call('GET', `${base}/${id}`);
    assert.equal(refusalOf(asked), '404 not_found');
  }
  const changed = await stranger.call('PATCH', company.path, { name: 'Mine' });
  assert.equal(changed.status, 404);
});

test('a change under a revision that is gone is refused, others are counted', async () => {
  const { path, owner } = await makeCompany(bed, contract);
  const before = organizationOf(await owner.call('GET', path));
  const body = { name: 'New name', expected_revision: before.revision };
  const changed = await owner.call('PATCH', path, body);
  assert.equal(changed.status, 200, changed.text);
  assert.equal(organizationOf(changed).name, 'New name');
  assert.equal(organizationOf(changed).revision, (before.revision as number) + 1);
  const stale = await owner.call('PATCH', path, { ...body, name: 'Other' });
  assert.equal(refusalOf(stale), '409 conflict');
  const same = await owner.call('PATCH', path, { name: 'New name' });
  assert.equal(organizationOf(same).revision, organizationOf(changed).revision);
  const stranger = await makePerson(bed, contract);
  const billing = await owner.call('PATCH', path, { billing_user_id: stranger.accountId });
  assert.equal(refusalOf(billing), '400 invalid_request');
  const domain = await owner.call('PATCH', path, { allowed_domain: 'example.com' });
  assert.equal(refusalOf(domain), '400 invalid_request');
});

test('who only typed an address makes none, nor where administrators do', async () => {
  const person = await makePerson(bed, contract);
  await bed.sql`
    UPDATE accounts SET email_owned = false, email_verified_at = NULL
    WHERE id = ${person.accountId}`;
  const fresh = await newSession(bed, person.accountId);
  const refused = await person.call('POST', base, { name: 'Mine' }, fresh.token);
  assert.equal(refusalOf(refused), '403 forbidden unverified');
  const read = await adminApi('GET', '/organizations/defaults');
  assert.equal((read.json.organization_defaults as Members).creation, 'users');
  const put = { creation: 'admins', seat_limit: 3 };
  const written = await adminApi('PUT', '/organizations/defaults', { body: put });
  assert.equal(written.status, 200, written.text);
  const other = await makePerson(bed, contract);
  const barred = await other.call('POST', base, { name: 'Mine' });
  assert.equal(refusalOf(barred), '403 forbidden creation');
  const body = { name: 'For somebody', owner_email: other.email };
  const made = await adminApi('POST', '/organizations', { body });
  assert.equal(made.status, 201, made.text);
  assert.equal(organizationOf(made).seat_limit, 3);
  assert.equal(organizationOf(made).owner_user_id, other.accountId);
  const nobody = { name: 'For nobody', owner_email: 'nobody@example.test' };
  assert.equal((await adminApi('POST', '/organizations', { body: nobody })).status, 400);
  await adminApi('PUT', '/organizations/defaults', { body: { creation: 'users' } });
});

test('a person is in at most 20, however many are made at once', async () => {
  const person = await makePerson(bed, contract);
  const made = await Promise.all(
    Array.from({ length: 24 }, (_, index) => person.call('POST', base, { name: `No ${index}` })),
  );
  const statuses = made.map(({ status }) => status).toSorted();
  assert.deepEqual(statuses, [...Array(20).fill(201), ...Array(4).fill(409)]);
  const [refused] = made.filter(({ status }) => status === 409);
  assert.equal(refused && refusalOf(refused), '409 conflict memberships');
});

test('seats are never fewer than those that are taken', async () => {
  const company = await makeCompany(bed, contract);
  await join(company, await makePerson(bed, contract), 'member');
  const path = `/organizations/${company.id}`;
  const less = await adminApi('PATCH', path, { body: { seat_limit: 1 } });
  assert.equal(refusal(less).details.reason, 'seats_taken');
  const just = await adminApi('PATCH', path, { body: { seat_limit: 2 } });
  assert.equal(just.status, 200, just.text);
  const one = { email: 'one.more@example.test' };
  const invited = await company.owner.call('POST', `${company.path}/invitations`, one);
  assert.equal(refusalOf(invited), '409 conflict no_seat');
  assert.equal((await rowOf(bed, company)).seats_taken, 2);
});

test('what an operator suspends, an operator activates', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path } = company;
  const reason = { reason: 'A look at it.' };
  const own = await owner.call('POST', `${path}/suspend`, reason);
  assert.deepEqual(
    [organizationOf(own).status, organizationOf(own).suspended_by],
    ['suspended', 'owner'],
  );
  const taken = await adminApi('POST', `/organizations/${company.id}/suspend`, { body: reason });
  assert.equal(organizationOf(taken).suspended_by, 'operator');
  const barred = await owner.call('POST', `${path}/activate`, reason);
  assert.equal(refusalOf(barred), '409 invalid_state suspended_by_operator');
  const lifted = await adminApi('POST', `/organizations/${company.id}/activate`, { body: reason });
  assert.equal(organizationOf(lifted).status, 'active');
  await owner.call('POST', `${path}/suspend`, reason);
  const again = await owner.call('POST', `${path}/activate`, reason);
  assert.equal(organizationOf(again).status, 'active');
});

async function hands(company: Company, to: string, session?: string) {
  const body = { user_id: to, confirm: company.name };
  return company.owner.call('POST', `${company.path}/owner`, body, session);
}

test('handing over and closing take a fresh sign-in and the name', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path, name } = company;
  const heir = await makePerson(bed, contract);
  await join(company, heir, 'member');
  const old = await newSession(bed, owner.accountId, { ageMs: 11 * 60_000 });
  assert.equal(
    refusalOf(await hands(company, heir.accountId, old.token)),
    '403 forbidden reauthenticate',
  );
  const wrong = await owner.call('POST', `${path}/close`, { confirm: 'another name' });
  assert.equal(refusalOf(wrong), '400 invalid_request');
  const stranger = await makePerson(bed, contract);
  assert.equal((await hands(company, stranger.accountId)).status, 400);
  const handed = await hands(company, heir.accountId);
  assert.equal(handed.status, 200, handed.text);
  assert.equal(organizationOf(handed).owner_user_id, heir.accountId);
  // Who was the canonical owner is one owner among others.
  const closing = await owner.call('POST', `${path}/close`, { confirm: name });
  assert.equal(refusalOf(closing), '403 forbidden role');
  await bed.sql`
    UPDATE organizations SET settings = '{"legal_hold": true}' WHERE id = ${company.id}`;
  const held = await heir.call('POST', `${path}/close`, { confirm: name });
  assert.equal(refusalOf(held), '409 invalid_state legal_hold');
  await bed.sql`UPDATE organizations SET settings = '{}' WHERE id = ${company.id}`;
  const closed = await heir.call('POST', `${path}/close`, { confirm: name });
  assert.equal(closed.status, 200, closed.text);
  assert.equal(organizationOf(closed).status, 'closed');
  assert.equal((await owner.call('GET', path)).status, 403);
});

test('an operator appoints an owner or admin, and all who lead are told', async () => {
  const company = await makeCompany(bed, contract);
  const admin = await makePerson(bed, contract);
  const member = await makePerson(bed, contract);
  await join(company, admin, 'admin');
  await join(company, member, 'member');
  const path = `/organizations/${company.id}/owner`;
  const reason = 'The former one is gone.';
  const plain = await adminApi('POST', path, { body: { user_id: member.accountId, reason } });
  assert.equal(plain.status, 400);
  const done = await adminApi('POST', path, { body: { user_id: admin.accountId, reason } });
  assert.equal(done.status, 200, done.text);
  assert.equal(organizationOf(done).owner_user_id, admin.accountId);
  const mails = await bed.sql<{ account_id: string }[]>`
    SELECT account_id FROM mails WHERE template = 'organization_owner' ORDER BY account_id`;
  const leading = [company.owner.accountId, admin.accountId].toSorted();
  assert.deepEqual(
    mails.map(({ account_id: id }) => id),
    leading,
  );
});
