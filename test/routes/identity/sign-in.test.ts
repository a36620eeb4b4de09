// People sign in and up by a code, on browsers that keep cookies, and nobody else gets in.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { IdentityBed, type Members, refusal, someone, wrong } from './bed.ts';

let bed: Testbed;
let identity: IdentityBed;
before(async () => {
  bed = await openTestbed();
  identity = await IdentityBed.over(bed);
});
after(() => bed.close());

const request = '/api/auth/otp/request';
const verify = '/api/auth/otp/verify';
const invalidCode = { status: 401, code: 'unauthenticated', reason: 'invalid_code' };

function setCookie(reply: { headers: Headers }, name: string): string | undefined {
  return reply.headers.getSetCookie().find((line) => line.startsWith(`${name}=`));
}

test('a new address signs up, is told what it lacks, and signs in the next time', async () => {
  const email = someone();
  const browser = identity.browser();
  const asked = await browser.post(request, { email, purpose: 'login_or_signup' });
  assert.equal(asked.status, 200);
  const { challenge_id: id, ...rest } = asked.json;
  assert.match(String(id), /^otp_[0-9a-f]{24}$/);
  assert.deepEqual(rest, { ok: true, expires_in: 600, resend_in: 60 });
  const challenge = `svc_otp=${id}; Path=/; HttpOnly; SameSite=Strict; Max-Age=900`;
  assert.equal(setCookie(asked, 'svc_otp'), challenge);
  const code = await identity.code(email);
  const lacking: [Members, string][] = [
    [{}, 'full_name'],
    [{ full_name: '  ' }, 'full_name'],
    [{ full_name: 'A. Person' }, 'terms_accepted'],
    [{ full_name: 'A. Person', terms_accepted: false }, 'terms_accepted'],
    [{ full_name: 'A. Person', terms_accepted: true, referral_code: 'NOBODY' }, 'referral_code'],
  ];
  const body = { email, code, purpose: 'login_or_signup' };
  for (const [members, path] of lacking) {
    const told = refusal(await browser.post(verify, { ...body, ...members }));
    assert.deepEqual(told, { status: 400, code: 'invalid_request', path });
  }
  const terms = { full_name: 'A. Person', terms_accepted: true };
  const entered = await browser.post(verify, { ...body, ...terms });
  assert.equal(entered.status, 200, entered.text);
  assert.equal(entered.json.created, true);
  const user = entered.json.user as Members;
  assert.equal(user.email, email);
  assert.equal(user.email_verified, true);
  assert.equal(user.full_name, 'A. Person');
  assert.equal(user.status, 'active');
  const { kind, method } = entered.json.session as Members;
  assert.deepEqual({ kind, method }, { kind: 'browser', method: 'otp' });
  const session = setCookie(entered, 'svc_session') ?? '';
  assert.match(
    session,
    /^svc_session=svc_web_\w{49}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/,
  );
  assert.match(setCookie(entered, 'svc_browser') ?? '', /SameSite=Strict; Max-Age=15552000$/);
  assert.match(setCookie(entered, 'svc_otp') ?? '', /Max-Age=0/);
  assert.equal(entered.headers.get('cache-control'), 'no-store');
  const again = refusal(await browser.post(verify, { ...body, ...terms }));
  assert.deepEqual(again, invalidCode);

  const known = identity.browser();
  await known.post(request, { email, purpose: 'signup' });
  const next = { email, code: await identity.code(email), purpose: 'signup' };
  const second = await known.post(verify, next);
  assert.equal(second.json.created, false);
  assert.equal((second.json.user as Members).id, user.id);
  const shown = await known.get('/api/auth/session');
  assert.equal(shown.json.authenticated, true);
  assert.deepEqual(shown.json.session, second.json.session);
});

test('who refers a new account is found by the code, in any letters', async () => {
  const { user } = await identity.signUp();
  const email = someone();
  await identity.post(request, { email, purpose: 'signup' });
  const code = await identity.code(email);
  const referral_code = ` ${String(user.referral_code).toLowerCase()} `;
  const members = { full_name: 'B', terms_accepted: true, referral_code };
  const reply = await identity.post(verify, { email, code, purpose: 'signup', ...members });
  assert.equal(reply.status, 200, reply.text);
  const { id } = reply.json.user as Members;
  const [row] = await bed.sql`SELECT referred_by FROM accounts WHERE id = ${String(id)}`;
  assert.equal(row?.referred_by, user.id);
});

test('an unknown address is told so once a day, and gets no code to sign in with', async () => {
  const email = someone();
  for (let count = 0; count < 3; count += 1) {
    const asked = await identity.post(request, { email, purpose: 'login' });
    assert.equal(asked.status, 200);
  }
  const { text } = await identity.nextMail(email);
  assert.doesNotMatch(text, /\b[0-9]{6}\b/);
  const later = someone();
  await identity.post(request, { email: later, purpose: 'signup' });
  const code = await identity.code(later);
  assert.equal((await identity.mails(email)).length, 1);
  const login = { email: later, code, purpose: 'login' };
  assert.deepEqual(refusal(await identity.post(verify, login)), invalidCode);
  const signup = { ...login, purpose: 'signup', full_name: 'C', terms_accepted: true };
  assert.equal((await identity.post(verify, signup)).status, 200, 'the code has stayed good');
});

test('addresses are compared in one form, and what is none is refused', async () => {
  const { email, accountId } = await identity.signUp();
  const typed = ` ${email.toUpperCase()} `;
  await identity.post(request, { email: typed, purpose: 'login' });
  const code = await identity.code(email);
  const reply = await identity.post(verify, { email: typed, code, purpose: 'login' });
  assert.equal((reply.json.user as Members).id, accountId);
  for (const none of ['abc', 'a@', '@b.c', 'a b@c.d', 'ä@example.com', 'a@b@c.d', 'a@[::1]']) {
    const told = refusal(await identity.post(request, { email: none, purpose: 'login' }));
    assert.deepEqual(told, { status: 400, code: 'invalid_request', path: 'email' }, none);
  }
});

test('many guesses at once are five, and a code that is typed twice is used once', async () => {
  const { email } = await identity.signUp();
  const asked = await identity.post(request, { email, purpose: 'login' });
  const challenge_id = String(asked.json.challenge_id);
  const code = await identity.code(email);
  const body = { email, purpose: 'login', challenge_id };
  const guesses = Array.from({ length: 40 }, (_, index) =>
    identity.post(verify, { ...body, code: wrong(code, index + 1) }),
  );
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 5);
  assert.equal(statuses.filter((status) => status === 429).length, 35);
  const late = await identity.post(verify, { ...body, code });
  assert.equal(late.status, 429);
  assert.ok(Number(late.headers.get('retry-after')) > 0);

  const own = await identity.post(request, { email, purpose: 'login' });
  const good = await identity.code(email);
  const twice = { ...body, challenge_id: String(own.json.challenge_id), code: good };
  const entering = Array.from({ length: 6 }, () => identity.post(verify, twice));
  const entered = (await Promise.all(entering)).filter(({ status }) => status === 200);
  assert.equal(entered.length, 1);
});

test('who is disabled or being deleted is told so behind a right code alone', async () => {
  const { email, accountId } = await identity.signUp();
  const standing = async (reason: string) => {
    await identity.post(request, { email, purpose: 'login_or_signup' });
    const code = await identity.code(email);
    const body = { email, code, purpose: 'login_or_signup' };
    const guess = { ...body, code: wrong(code) };
    assert.deepEqual(refusal(await identity.post(verify, guess)), invalidCode);
    const told = refusal(await identity.post(verify, body));
    assert.deepEqual(told, { status: 403, code: 'forbidden', reason });
    return body;
  };
  await bed.sql`UPDATE accounts SET disabled_at = now() WHERE id = ${accountId}`;
  const barred = await standing('account_disabled');
  const withRestore = refusal(await identity.post(verify, { ...barred, restore: true }));
  assert.equal(withRestore.reason, 'account_disabled');
  await bed.sql`
    UPDATE accounts SET disabled_at = NULL, deleting_at = now() WHERE id = ${accountId}`;
  const leaving = await standing('deleting');
  const restored = await identity.post(verify, { ...leaving, restore: true });
  assert.equal(restored.status, 200, restored.text);
  assert.equal((restored.json.user as Members).status, 'active');
});

test('an address that an administrator gave is entered by the first right code', async () => {
  const email = someone();
  const made = await identity.contract.call('POST', '/api/admin/users', {
    headers: { 'x-svc-session': bed.dev.admin_session_token },
    body: { email, full_name: 'Given' },
  });
  assert.equal(made.status, 201, made.text);
  await identity.post(request, { email, purpose: 'login' });
  const code = await identity.code(email);
  const reply = await identity.post(verify, { email, code, purpose: 'login' });
  assert.equal(reply.status, 200, reply.text);
  assert.equal((reply.json.user as Members).email_verified, true);
});

test('signing in leaves events without an address, a code or a token', async () => {
  const { accountId, email, browser } = await identity.signUp();
  await browser.post('/api/auth/logout');
  const rows = await bed.sql<{ action: string; actor: string; text: string }[]>`
    SELECT action, actor, e::text AS text FROM audit_events e WHERE account_id = ${accountId}
    ORDER BY id`;
  const actions = rows.map(({ action }) => action);
  assert.deepEqual(actions, ['account.create', 'session.create', 'session.end']);
  for (const { actor, text } of rows) {
    assert.equal(actor, accountId);
    assert.ok(!text.includes(email) && !text.includes('svc_web_'), text);
  }
});
