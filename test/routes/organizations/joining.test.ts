// Joining by a domain: who has proved an address of one that the organization has verified.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makePerson } from '../me/person.ts';
import { type Members, makeCompany, refusalOf, rowOf } from './company.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

test('a proved address of a good domain joins, once, with the seat that waited', async () => {
  const company = await makeCompany(bed, contract);
  const { owner, path, id } = company;
  const domain = `d${id}.example`;
  await bed.sql`
    INSERT INTO organization_domains (organization_id, domain, token, status, verified_at,
      expires_at)
    VALUES (${id}, ${domain}, ${'t'.repeat(43)}, 'verified', now(), now())`;
  const set = await owner.call('PATCH', path, { allowed_domain: domain });
  assert.equal(set.status, 200, set.text);
  const person = await makePerson(bed, contract);
  const joining = `/api/me/organizations/${id}/join`;
  assert.equal((await person.call('POST', joining)).status, 404, 'its address is of another');
  const address = `${person.accountId}@${domain}`;
  await bed.sql`UPDATE accounts SET email = ${address} WHERE id = ${person.accountId}`;
  await owner.call('POST', `${path}/invitations`, { email: address, role: 'admin' });
  assert.equal((await rowOf(bed, company)).seats_taken, 2);
  const mine = await person.call('GET', '/api/me/organizations');
  assert.deepEqual(mine.json.joinable, [{ organization_id: id, name: company.name }]);
  const joined = await person.call('POST', joining);
  assert.equal(joined.status, 200, joined.text);
  assert.equal((joined.json.membership as Members).role, 'member');
  assert.equal((await person.call('POST', joining)).status, 200);
  assert.equal((await rowOf(bed, company)).seats_taken, 2);
  const { member } = (await person.call('GET', `${path}/members/me`)).json as { member: Members };
  assert.equal(member.managed_by, 'domain');
  await bed.sql`
    UPDATE organization_domains SET status = 'lapsed', failing_at = now()
    WHERE organization_id = ${id}`;
  const late = await makePerson(bed, contract);
  await bed.sql`UPDATE accounts SET email = ${`late@${domain}`} WHERE id = ${late.accountId}`;
  assert.equal(refusalOf(await late.call('POST', joining)), '404 not_found');
});
