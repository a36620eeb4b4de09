// Another address: proved by a code, told to the former one, and never taken from anybody.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { IdentityBed, type Members, refusal, someone, wrong } from '../identity/bed.ts';
import { makePerson, newSession, type TestPerson } from './person.ts';

let bed: Testbed;
let identity: IdentityBed;
before(async () => {
  bed = await openTestbed();
  identity = await IdentityBed.over(bed);
});
after(() => bed?.close());

const ask = (person: TestPerson, email: unknown, session?: string) =>
  person.call('POST', '/api/me/account/email', { email }, session);
const verify = (person: TestPerson, code: string) =>
  person.call('POST', '/api/me/account/email/verify', { code });
const newPerson = () => makePerson(bed, identity.contract);

async function addressOf(person: TestPerson): Promise<unknown> {
  const { json } = await person.call('GET', '/api/me/account');
  return (json.user as Members).email;
}

/** Asks for a code, and reads it. */
async function codeFor(person: TestPerson, email: string): Promise<string> {
  const reply = await ask(person, email);
  assert.deepEqual([reply.status, reply.json], [200, { ok: true, expires_in: 600, resend_in: 60 }]);
  return await identity.code(email);
}

test('a right code changes the address, and the former one is told', async () => {
  const person = await newPerson();
  const email = someone();
  const code = await codeFor(person, email.toUpperCase().replace('EXAMPLE', 'example'));
  assert.equal(await addressOf(person), person.email, 'not before');
  assert.deepEqual(refusal(await verify(person, wrong(code))), {
    status: 401,
    code: 'unauthenticated',
    reason: 'invalid_code',
  });
  const reply = await verify(person, code);
  assert.equal(reply.status, 200, reply.text);
  const user = reply.json.user as Members;
  assert.deepEqual([user.email, user.email_verified], [email, true]);
  const notice = await identity.nextMail(person.email);
  assert.equal(notice.subject, 'The address of your account was changed');
  assert.ok(notice.text.includes(email));
  assert.equal((await verify(person, code)).status, 401, 'a code is good once');
  const events = await bed.sql<{ action: string; details: string }[]>`
    SELECT action, details::text FROM audit_events
    WHERE account_id = ${person.accountId} AND action = 'address.change'`;
  assert.deepEqual([...events], [{ action: 'address.change', details: '{}' }]);
});

test('whoever signs in does so with the new address from then on', async () => {
  const person = await newPerson();
  const email = someone();
  await verify(person, await codeFor(person, email));
  const browser = identity.browser();
  await browser.post('/api/auth/otp/request', { email, purpose: 'login' });
  const body = { email, purpose: 'login', code: await identity.code(email) };
  const { json } = await browser.post('/api/auth/otp/verify', body);
  assert.equal((json.user as Members).id, person.accountId);
});

test('a change wants a fresh sign-in and another address', async () => {
  const person = await newPerson();
  const old = await newSession(bed, person.accountId, { ageMs: 10 * 60_000 + 1_000 });
  const stale = await ask(person, someone(), old.token);
  assert.deepEqual([stale.status, refusal(stale).reason], [403, 'reauthenticate']);
  for (const email of ['a', 'no address', 7, person.email]) {
    const reply = await ask(person, email);
    assert.deepEqual([reply.status, refusal(reply).path], [400, 'email'], String(email));
  }
  assert.equal((await verify(person, '123456')).status, 401, 'nothing was asked for');
});

test('an address of another account is told with a right code alone, and stays there', async () => {
  const [person, other] = [await newPerson(), await newPerson()];
  const code = await codeFor(person, other.email);
  assert.equal((await verify(person, wrong(code))).status, 401);
  const reply = await verify(person, code);
  assert.deepEqual(refusal(reply), { status: 409, code: 'conflict' });
  assert.equal(await addressOf(person), person.email);
  assert.equal(await addressOf(other), other.email);
  assert.equal((await identity.mails(person.email)).length, 0, 'nothing has changed');
});

test('of two that prove one address at once, one has it', async () => {
  const [one, two] = [await newPerson(), await newPerson()];
  const email = someone();
  const codes = [await codeFor(one, email), await codeFor(two, email)] as const;
  const replies = await Promise.all([verify(one, codes[0]), verify(two, codes[1])]);
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409]);
  const addresses = [await addressOf(one), await addressOf(two)];
  assert.equal(addresses.filter((address) => address === email).length, 1);
});

test('a code of another account or for another purpose is good for nothing', async () => {
  const [one, two] = [await newPerson(), await newPerson()];
  const code = await codeFor(one, someone());
  await codeFor(two, someone());
  assert.equal((await verify(two, code)).status, 401);
  const late = someone();
  const first = await codeFor(one, someone());
  const second = await codeFor(one, late);
  if (first !== second) assert.equal((await verify(one, first)).status, 401, 'the last one counts');
  assert.equal((await verify(one, second)).status, 200);
  assert.equal(await addressOf(one), late);
});

test('after five wrong codes there is a wait, and the right one does not help', async () => {
  const person = await newPerson();
  const code = await codeFor(person, someone());
  for (let step = 1; step <= 5; step += 1) {
    assert.equal((await verify(person, wrong(code, step))).status, 401);
  }
  const reply = await verify(person, code);
  assert.equal(reply.status, 429);
  assert.ok(Number(reply.headers.get('retry-after')) > 0);
});

test('an account that only typed its address is its own by the change', async () => {
  const { headers, email: typed } = await identity.register();
  const email = someone();
  const asked = await identity.post('/api/me/account/email', { email }, headers);
  assert.equal(asked.status, 200, asked.text);
  const code = await identity.code(email);
  const { json } = await identity.post('/api/me/account/email/verify', { code }, headers);
  const user = json.user as Members;
  assert.deepEqual([user.email, user.status], [email, 'active']);
  assert.equal((await identity.mails(typed)).length, 0, 'who never proved it is not told');
});
