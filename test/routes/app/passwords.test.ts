// Apps make accounts and sign in by passwords; an address belongs to the account that proved it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { IdentityBed, type Members, refusal, someone, wrong } from '../identity/bed.ts';

let bed: Testbed;
let identity: IdentityBed;
before(async () => {
  bed = await openTestbed();
  identity = await IdentityBed.over(bed);
});
after(() => bed.close());

const auth = '/api/app/auth';
const invalidCode = { status: 401, code: 'unauthenticated', reason: 'invalid_code' };
const invalidCredentials = {
  status: 401,
  code: 'unauthenticated',
  reason: 'invalid_credentials',
};

type Headers = Record<string, string>;

const logIn = (email: string, password: string) =>
  identity.post(`${auth}/login`, { email, password });

/** The statuses of several requests, which reach all shards. */
async function statuses(headers: Headers): Promise<Set<number>> {
  const asked = Array.from({ length: 6 }, () => identity.get(`${auth}/session`, headers));
  return new Set((await Promise.all(asked)).map(({ status }) => status));
}

/** Verifies the account of these headers. */
async function verifyEmail(email: string, headers: Headers) {
  assert.equal((await identity.post(`${auth}/email/code`, undefined, headers)).status, 200);
  const code = await identity.code(email);
  return await identity.post(`${auth}/email/verify`, { code }, headers);
}

/** What an app with an access token was let do, as the OAuth routes write it. */
async function authorizationOf(accountId: string) {
  const id = newId('auth', 0);
  const token = newToken('access');
  await bed.sql`
    INSERT INTO oauth_authorizations (id, account_id, client, scopes, method, authenticated_at,
      expires_at)
    VALUES (${id}, ${accountId}, 'svc-cli', '{app,profile}', 'otp', now(),
      now() + interval '1 day')`;
  await bed.sql`
    INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at)
    VALUES (${tokenHash(token)}, ${id}, 'access', now() + interval '1 hour')`;
  return { id, headers: { authorization: `Bearer ${token}` } };
}

test('an app registers, verifies the address, signs out and in again', async () => {
  const { reply, email, password, user, session, headers } = await identity.register();
  assert.equal(session.header_name, 'X-Svc-Session');
  assert.match(String(session.token), /^svc_app_\w{49}$/);
  assert.deepEqual([session.kind, session.method], ['app', 'password']);
  assert.deepEqual(
    [user.status, user.email_verified, user.has_password],
    ['unverified', false, true],
  );
  assert.deepEqual(reply.headers.getSetCookie(), []);
  const shown = await identity.get(`${auth}/session`, headers);
  assert.deepEqual(shown.json.user, user);
  const { token: _, header_name: __, ...told } = session;
  assert.deepEqual(shown.json.session, told);
  assert.deepEqual(await identity.mails(email), [], 'registering writes to nobody');

  const verified = await verifyEmail(email, headers);
  assert.equal(verified.status, 200, verified.text);
  assert.equal((verified.json.user as Members).status, 'active');
  const again = await identity.post(`${auth}/email/code`, undefined, headers);
  assert.equal(refusal(again).code, 'invalid_state');

  assert.equal((await identity.post(`${auth}/logout`, undefined, headers)).status, 200);
  assert.deepEqual(await statuses(headers), new Set([401]));
  const entered = await logIn(` ${email.toUpperCase()}`, password);
  assert.equal(entered.status, 200, entered.text);
  assert.equal((entered.json.user as Members).id, user.id);
  assert.deepEqual(refusal(await logIn(email, `${password}!`)), invalidCredentials);
  assert.deepEqual(refusal(await logIn(someone(), password)), invalidCredentials);
});

test('passwords that are short, long or easily guessed are refused', async () => {
  const email = someone();
  const [local = ''] = email.split('@');
  for (const [password, reason] of [
    ['nine char', 'too_short'],
    ['x'.repeat(129), 'too_long'],
    ['password123!', 'too_common'],
    [`my ${local} word`, 'too_common'],
  ] as const) {
    const reply = await identity.post(`${auth}/register`, { email, password });
    const told = refusal(reply);
    assert.deepEqual([told.status, told.path, told.reason], [400, 'password', reason], password);
  }
});

test('whoever prepares an account for an address gets nothing of its owner', async () => {
  const email = someone();
  const strangers = await identity.register(email, 'a stranger knows this');
  const second = await identity.register(email, 'and another stranger');
  assert.notEqual(strangers.accountId, second.accountId);
  const newest = await logIn(email, 'and another stranger');
  assert.equal((newest.json.user as Members).id, second.accountId);
  const victim = await identity.signUp(email);
  assert.ok(![strangers.accountId, second.accountId].includes(victim.accountId));
  assert.equal(victim.user.has_password, false);
  // The address is the victim's from now on: no password of a stranger opens anything by it.
  for (const password of ['a stranger knows this', 'and another stranger']) {
    assert.deepEqual(refusal(await logIn(email, password)), invalidCredentials);
  }
  const shown = await identity.get(`${auth}/session`, strangers.headers);
  assert.equal((shown.json.user as Members).email_verified, false);
  // Codes lead to the victim's account alone.
  const { browser } = victim;
  await browser.post('/api/auth/otp/request', { email, purpose: 'login' });
  const code = await identity.code(email);
  const entered = await browser.post('/api/auth/otp/verify', { email, code, purpose: 'login' });
  assert.equal((entered.json.user as Members).id, victim.accountId);
  // A stranger who gets at a code learns only then that the address is taken.
  const late = refusal(await verifyEmail(email, strangers.headers));
  assert.deepEqual(late, { status: 409, code: 'conflict' });
});

test('registering a taken address looks as registering a free one', async () => {
  const { email: taken } = await identity.signUp();
  const { email: typed } = await identity.register();
  const shapes = new Set<string>();
  for (const email of [someone(), taken, typed]) {
    const { reply } = await identity.register(email);
    const { session, user } = reply.json as { session: Members; user: Members };
    const names = [...reply.headers.keys()].filter((name) => !name.startsWith('x-ratelimit'));
    const { status, email_verified, role, full_name } = user;
    const members = [Object.keys(reply.json), Object.keys(session), Object.keys(user)];
    shapes.add(JSON.stringify([names, members, status, email_verified, role, full_name]));
  }
  assert.equal(shapes.size, 1);
});

test('a code verifies the account that asked for it, five wrong ones are too many', async () => {
  const mine = await identity.register();
  const other = await identity.register();
  await identity.post(`${auth}/email/code`, undefined, mine.headers);
  const code = await identity.code(mine.email);
  const verify = (guess: string, headers: Headers) =>
    identity.post(`${auth}/email/verify`, { code: guess }, headers);
  assert.deepEqual(refusal(await verify(code, other.headers)), invalidCode);
  const guesses = Array.from({ length: 12 }, (_, index) =>
    verify(wrong(code, index + 1), mine.headers),
  );
  const made = (await Promise.all(guesses)).map(({ status }) => status);
  assert.equal(made.filter((status) => status === 401).length, 5);
  assert.equal((await verify(code, mine.headers)).status, 429);
  assert.equal((await verifyEmail(mine.email, mine.headers)).status, 200);
});

test('a password is changed with the one before, or freshly signed in', async () => {
  const { email, password, headers, accountId } = await identity.register();
  await verifyEmail(email, headers);
  const second = await logIn(email, password);
  const { token } = second.json.session as Members;
  const others = { 'x-svc-session': String(token) };
  const app = await authorizationOf(accountId);
  assert.deepEqual(await statuses(app.headers), new Set([200]));
  const change = (body: Members) => identity.post(`${auth}/password/change`, body, headers);
  const next = 'green lantern under water';
  const common = await change({ new_password: 'password123!' });
  assert.deepEqual([common.status, refusal(common).path], [400, 'new_password']);
  const told = refusal(await change({ new_password: next, current_password: 'not this one' }));
  assert.deepEqual(told, invalidCredentials);
  const changed = await change({ new_password: next, current_password: password });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(await statuses(headers), new Set([200]), 'its own session stays');
  assert.deepEqual(await statuses(others), new Set([401]), 'others end');
  assert.deepEqual(await statuses(app.headers), new Set([200]), 'what apps may do goes on');
  assert.deepEqual(refusal(await logIn(email, password)), invalidCredentials);
  assert.equal((await logIn(email, next)).status, 200);
  const { text } = await identity.nextMail(email);
  assert.ok(!text.includes(next));
  const byBearer = await identity.post(
    `${auth}/password/change`,
    { new_password: next },
    app.headers,
  );
  assert.equal(byBearer.status, 403);

  assert.equal((await change({ new_password: 'first made freshly' })).status, 200);
  const late = (await logIn(email, 'first made freshly')).json.session as Members;
  await bed.sql`UPDATE sessions SET authenticated_at = now() - interval '11 minutes'
    WHERE id = ${String(late.id)}`;
  const lateHeaders = { 'x-svc-session': String(late.token) };
  const body = { new_password: 'second made too late' };
  const stale = refusal(await identity.post(`${auth}/password/change`, body, lateHeaders));
  assert.deepEqual(stale, { status: 403, code: 'forbidden', reason: 'reauthenticate' });
});

test('a code resets the password, and ends everything else that was signed in', async () => {
  const { browser, email, accountId } = await identity.signUp();
  const app = await authorizationOf(accountId);
  const next = 'seven quiet mountains';
  assert.equal((await identity.post(`${auth}/password/reset`, { email })).status, 200);
  const code = await identity.code(email);
  const confirm = (body: Members) => identity.post(`${auth}/password/reset/confirm`, body);
  const sign = { email, code, purpose: 'login' };
  assert.equal((await identity.post('/api/auth/otp/verify', sign)).status, 401, 'of no sign-in');
  const guess = { email, code: wrong(code), new_password: next };
  assert.deepEqual(refusal(await confirm(guess)), invalidCode);
  const common = await confirm({ email, code, new_password: 'password123!' });
  assert.deepEqual([common.status, refusal(common).path], [400, 'new_password']);
  const done = await confirm({ email, code, new_password: next });
  assert.equal(done.status, 200, done.text);
  assert.equal((done.json.user as Members).id, accountId);
  const { token } = done.json.session as Members;
  assert.deepEqual(await statuses({ 'x-svc-session': String(token) }), new Set([200]));
  assert.deepEqual(await statuses(app.headers), new Set([401]));
  const shown = await identity.get('/api/auth/session', { cookie: browser.cookie });
  assert.equal(shown.json.authenticated, false);
  assert.deepEqual(refusal(await confirm({ email, code, new_password: next })), invalidCode);
  assert.equal((await logIn(email, next)).status, 200);
});

test('a reset never leads into an account that has not proved its address', async () => {
  const { email, password } = await identity.register();
  for (const each of [email, someone()]) {
    const reply = await identity.post(`${auth}/password/reset`, { email: each });
    assert.deepEqual(reply.json, { ok: true, expires_in: 600, resend_in: 60 });
    assert.doesNotMatch((await identity.nextMail(each)).text, /\b[0-9]{6}\b/);
  }
  assert.equal((await logIn(email, password)).status, 200);
});

test('an access token that signs out ends itself, and what the app may do stays', async () => {
  const { accountId } = await identity.signUp();
  const { id, headers } = await authorizationOf(accountId);
  const shown = await identity.get(`${auth}/session`, headers);
  const session = shown.json.session as Members;
  assert.deepEqual([session.id, session.kind, session.client_id], [id, 'oauth', 'svc-cli']);
  assert.deepEqual(session.scopes, ['app', 'profile']);
  assert.equal((await identity.post(`${auth}/logout`, undefined, headers)).status, 200);
  assert.deepEqual(await statuses(headers), new Set([401]));
  const [row] = await bed.sql`SELECT revoked_at FROM oauth_authorizations WHERE id = ${id}`;
  assert.equal(row?.revoked_at, null);
});

test('who is disabled is told so behind a right password alone', async () => {
  const { email, password, headers, accountId } = await identity.register();
  await verifyEmail(email, headers);
  for (const [column, reason] of [
    ['disabled_at', 'account_disabled'],
    ['deleting_at', 'deleting'],
  ] as const) {
    await bed.sql`UPDATE accounts SET ${bed.sql(column)} = now() WHERE id = ${accountId}`;
    assert.deepEqual(refusal(await logIn(email, 'not the password')), invalidCredentials);
    const told = refusal(await logIn(email, password));
    assert.deepEqual(told, { status: 403, code: 'forbidden', reason });
    await bed.sql`UPDATE accounts SET ${bed.sql(column)} = NULL WHERE id = ${accountId}`;
  }
});
