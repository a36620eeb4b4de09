// Where a person is signed in, and how it ends: on every shard before the answer, and in no other
// account.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract, type Reply } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { askEverywhere } from '../admin/admin-api.ts';
import { makePerson, newSession, type TestPerson } from './person.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

type Members = Record<string, unknown>;

async function statusesOf(token: string, path = '/api/me/account'): Promise<number[]> {
  const replies = await askEverywhere(bed.url + path, { 'x-svc-session': token });
  return [...new Set(replies.map(({ status }) => status))];
}

function idsOf(reply: Reply): unknown[] {
  assert.equal(reply.status, 200, reply.text);
  return (reply.json.data as Members[]).map(({ id }) => id);
}

const list = (person: TestPerson, query = '') => person.call('GET', `/api/me/sessions${query}`);
const revoke = (person: TestPerson, body: unknown) =>
  person.call('POST', '/api/me/sessions/revoke', body);

test('an account is told and renamed by a session, and by nothing else', async () => {
  const person = await makePerson(bed, contract);
  const { json } = await person.call('GET', '/api/me/account');
  const user = json.user as Members;
  assert.equal(user.id, person.accountId);
  assert.equal(user.email, person.email);
  assert.equal(user.full_name, person.fullName);
  assert.equal(user.status, 'active');
  const renamed = await person.call('PATCH', '/api/me/account', { full_name: 'Ada Lovelace' });
  assert.equal((renamed.json.user as Members).full_name, 'Ada Lovelace');
  const unnamed = await person.call('PATCH', '/api/me/account', { full_name: null });
  assert.equal((unnamed.json.user as Members).full_name, null);
  for (const body of [{}, { full_name: '' }, { full_name: 'a', x: 1 }, { full_name: 'a\nb' }]) {
    assert.equal((await person.call('PATCH', '/api/me/account', body)).status, 400);
  }
  const headers = { authorization: `Bearer ${person.apiKey}` };
  assert.equal((await contract.call('GET', '/api/me/account', { headers })).status, 401);
});

test('sessions are listed with where they are, newest first, page by page', async () => {
  const person = await makePerson(bed, contract);
  const [first, second] = [
    await newSession(bed, person.accountId, { userAgent: 'one', network: '198.51.100.0/24' }),
    await newSession(bed, person.accountId, { kind: 'browser', userAgent: 'two' }),
  ];
  const { json } = await list(person);
  const [newest, middle, own] = json.data as Members[];
  assert.deepEqual([newest?.id, middle?.id, own?.id], [second.id, first.id, person.session.id]);
  assert.deepEqual([newest?.kind, newest?.user_agent, newest?.current], ['browser', 'two', false]);
  assert.deepEqual([middle?.network, middle?.method], ['198.51.100.0/24', 'password']);
  assert.equal(own?.current, true);
  assert.equal((json.data as Members[]).length, 4, 'with that of the test bed itself');
  const page = await list(person, '?limit=1');
  assert.deepEqual(idsOf(page), [second.id]);
  const next = await list(person, `?limit=2&cursor=${page.json.next_cursor}`);
  assert.deepEqual(idsOf(next), [first.id, person.session.id]);
  assert.ok(!page.text.includes(person.session.token));
});

test('a session that nobody used for its time is not listed', async () => {
  const person = await makePerson(bed, contract);
  const idle = await newSession(bed, person.accountId, { kind: 'browser' });
  const ago = new Date(Date.now() - 14 * 86_400_000);
  await bed.sql`
    UPDATE sessions SET last_used_at = ${ago}, created_at = ${ago}, authenticated_at = ${ago}
    WHERE id = ${idle.id}`;
  assert.ok(!idsOf(await list(person)).includes(idle.id));
});

test('one session ends on every shard, and nobody ends another account of it', async () => {
  const [person, other] = [await makePerson(bed, contract), await makePerson(bed, contract)];
  const second = await newSession(bed, person.accountId);
  assert.deepEqual(await statusesOf(second.token), [200]);
  assert.equal((await revoke(other, { session_id: second.id })).status, 404);
  assert.deepEqual(await statusesOf(second.token), [200]);
  const reply = await revoke(person, { session_id: second.id });
  assert.deepEqual(reply.json, { ok: true, sessions: 1 });
  assert.deepEqual(await statusesOf(second.token), [401]);
  assert.deepEqual(await statusesOf(person.session.token), [200]);
  assert.equal((await revoke(person, { session_id: second.id })).status, 404);
  for (const body of [{}, { all_others: false }, { all_others: true, session_id: second.id }]) {
    assert.equal((await revoke(person, body)).status, 400);
  }
});

test('all others end, the one that asks stays, and it may end itself', async () => {
  const [person, other] = [await makePerson(bed, contract), await makePerson(bed, contract)];
  const others = await Promise.all([1, 2, 3].map(() => newSession(bed, person.accountId)));
  for (const { token } of others) assert.deepEqual(await statusesOf(token), [200]);
  const reply = await revoke(person, { all_others: true });
  assert.equal(reply.json.sessions, 4, 'with that of the test bed itself');
  for (const { token } of others) assert.deepEqual(await statusesOf(token), [401]);
  assert.deepEqual(await statusesOf(person.session.token), [200]);
  assert.deepEqual(await statusesOf(other.session.token), [200]);
  assert.deepEqual((await revoke(person, { all_others: true })).json.sessions, 0);
  const events = await bed.sql`
    SELECT FROM audit_events WHERE account_id = ${person.accountId} AND action = 'session.end'`;
  assert.equal(events.length, 1);
  await revoke(person, { session_id: person.session.id });
  assert.deepEqual(await statusesOf(person.session.token), [401]);
});
