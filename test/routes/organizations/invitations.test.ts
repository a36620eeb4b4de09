// Invitations: seats are exact, only the account that has proved the address takes one, and only
// the newest, once. What cannot be recorded is not done.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract, type Reply } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makePerson, newSession, type TestPerson } from '../me/person.ts';
import { type Company, join, type Members, makeCompany, refusalOf, rowOf } from './company.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

async function invite(
  { owner, path }: Company,
  email: string,
  more: Members = {},
): Promise<string> {
  const made = await owner.call('POST', `${path}/invitations`, { email, ...more });
  assert.equal(made.status, 201, made.text);
  return (made.json.invitation as { id: string }).id;
}

const accept = (person: TestPerson, id: string) =>
  person.call('POST', `/api/me/invitations/${id}/accept`);

test('of 50 people for 10 seats exactly 10 are invited, and as many are in', async () => {
  const company = await makeCompany(bed, contract);
  await bed.sql`UPDATE organizations SET seat_limit = 11 WHERE id = ${company.id}`;
  const people = await Promise.all(Array.from({ length: 50 }, () => makePerson(bed, contract)));
  const tries = await Promise.all(
    people.map(async (person) => {
      const { owner, path } = company;
      const made = await owner.call('POST', `${path}/invitations`, { email: person.email });
      if (made.status !== 201) return refusalOf(made);
      const { id } = made.json.invitation as { id: string };
      return `${(await accept(person, id)).status}`;
    }),
  );
  const counts = tries.filter((outcome) => outcome === '200').length;
  assert.equal(counts, 10);
  assert.equal(tries.filter((outcome) => outcome === '409 conflict no_seat').length, 40);
  const [rows] = await bed.sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM organization_members
    WHERE organization_id = ${company.id} AND status = 'active'`;
  assert.equal(rows?.count, 11);
  assert.equal((await rowOf(bed, company)).seats_taken, 11);
});

test('an invitation is there for the account that has proved its address alone', async () => {
  const company = await makeCompany(bed, contract);
  const person = await makePerson(bed, contract);
  const other = await makePerson(bed, contract);
  const id = await invite(company, person.email.toUpperCase());
  assert.equal((await accept(other, id)).status, 404);
  // Whoever only typed the address has not proved it.
  await bed.sql`
    UPDATE accounts SET email = ${person.email}, email_owned = false, email_verified_at = NULL
    WHERE id = ${other.accountId}`;
  const typed = await newSession(bed, other.accountId);
  const path = `/api/me/invitations/${id}/accept`;
  assert.equal((await other.call('POST', path, undefined, typed.token)).status, 404);
  const listed = await person.call('GET', '/api/me/invitations');
  const [shown] = listed.json.data as Members[];
  assert.deepEqual([shown?.id, shown?.organization_id], [id, company.id]);
  const taken = await accept(person, id);
  assert.equal((taken.json.membership as Members).role, 'member');
  assert.deepEqual((await person.call('GET', '/api/me/invitations')).json.data, []);
});

test('a newer invitation replaces it, with one seat for both', async () => {
  const company = await makeCompany(bed, contract);
  const person = await makePerson(bed, contract);
  const old = await invite(company, person.email);
  const newer = await invite(company, person.email, { role: 'manager' });
  assert.equal((await rowOf(bed, company)).seats_taken, 2);
  assert.equal(refusalOf(await accept(person, old)), '409 invalid_state invitation_status');
  const taken = await accept(person, newer);
  assert.equal((taken.json.membership as Members).role, 'manager');
});

test('taken twice at once it makes one member', async () => {
  const company = await makeCompany(bed, contract);
  const person = await makePerson(bed, contract);
  const id = await invite(company, person.email);
  const tries = await Promise.all(Array.from({ length: 6 }, () => accept(person, id)));
  assert.deepEqual(tries.map(({ status }) => status).toSorted(), [200, 409, 409, 409, 409, 409]);
  assert.equal((await rowOf(bed, company)).seats_taken, 2);
});

test('declined, revoked or expired it gives its seat back, and is not taken', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path } = company;
  const person = await makePerson(bed, contract);
  const declined = await invite(company, person.email);
  const said = await person.call('POST', `/api/me/invitations/${declined}/decline`);
  assert.equal(said.status, 200, said.text);
  const revoked = await invite(company, person.email);
  assert.equal((await owner.call('DELETE', `${path}/invitations/${revoked}`)).status, 200);
  const expired = await invite(company, person.email);
  await bed.sql`
    UPDATE organization_invitations SET expires_at = now() - interval '1 s' WHERE id = ${expired}`;
  for (const id of [declined, revoked, expired]) {
    assert.equal(refusalOf(await accept(person, id)), '409 invalid_state invitation_status');
  }
  const resent = await owner.call('POST', `${path}/invitations/${expired}/resend`);
  assert.equal(refusalOf(resent), '409 invalid_state invitation_status');
  const states = (await owner.call('GET', `${path}/invitations`)).json.data as Members[];
  assert.deepEqual(
    states.map(({ status }) => status),
    ['expired', 'revoked', 'declined'],
  );
});

test('who is a member already stays what it is, and the seat is free', async () => {
  const company = await makeCompany(bed, contract);
  const person = await makePerson(bed, contract);
  await join(company, person, 'admin');
  const id = await invite(company, person.email, { role: 'member' });
  assert.equal((await rowOf(bed, company)).seats_taken, 3);
  const taken = await accept(person, id);
  assert.equal((taken.json.membership as Members).role, 'admin');
  assert.equal((await rowOf(bed, company)).seats_taken, 2);
});

test('groups and the cap of an invitation are those of the member', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path } = company;
  const person = await makePerson(bed, contract);
  const made = await owner.call('POST', `${path}/groups`, { name: 'Research' });
  const { id: group } = made.json.group as { id: string };
  const unknown = { email: person.email, group_ids: [group, 'grp_none'] };
  const refused = await owner.call('POST', `${path}/invitations`, unknown);
  assert.equal(((refused.json.error as Members).details as Members).path, 'group_ids[1]');
  await join(company, person, 'member', { group_ids: [group], monthly_spend_limit_micros: 12 });
  const { member } = (await person.call('GET', `${path}/members/me`)).json as { member: Members };
  assert.deepEqual([member.groups, member.monthly_spend_limit_micros], [[group], 12]);
});

test('the mail leads to the page of invitations, and is alike for who has no account', async () => {
  const company = await makeCompany(bed, contract);
  const person = await makePerson(bed, contract);
  const unknown = `nobody-${company.id}@example.test`;
  for (const email of [person.email, unknown]) await invite(company, email);
  type Mail = { subject: string; text: string };
  const mailTo = async (email: string): Promise<Mail> => {
    for (;;) {
      const path = `/dev/mailbox/messages?to=${encodeURIComponent(email)}`;
      const reply = await fetch(bed.url + path);
      const { data } = (await reply.json()) as { data: Mail[] };
      const [mail] = data;
      if (mail !== undefined) return mail;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const known = await mailTo(person.email);
  assert.match(known.text, /\/account\/invitations\n/);
  assert.ok(known.text.includes(company.name));
  assert.equal((await mailTo(unknown)).text, known.text);
});

test('an organization sends at most 100 an hour', async () => {
  const company = await makeCompany(bed, contract);
  await bed.sql`UPDATE organizations SET seat_limit = 500 WHERE id = ${company.id}`;
  const { owner, path } = company;
  const id = await invite(company, 'first@example.test');
  const tries: Reply[] = [];
  while (tries.length < 104) {
    const resend = () => owner.call('POST', `${path}/invitations/${id}/resend`);
    tries.push(...(await Promise.all(Array.from({ length: 26 }, resend))));
  }
  const refused = tries.filter(({ status }) => status === 429);
  // Two threads that count at the same moment may count one.
  assert.ok(refused.length >= 1 && refused.length <= 5, `${refused.length}`);
  assert.ok(Number(refused[0]?.headers.get('retry-after')) > 0);
});
