// The cookie of a session: who may set it, whom it signs in, and how it ends.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { IdentityBed, refusal, someone } from './bed.ts';

let bed: Testbed;
let identity: IdentityBed;
before(async () => {
  bed = await openTestbed();
  identity = await IdentityBed.over(bed);
});
after(() => bed.close());

const request = '/api/auth/otp/request';
const verify = '/api/auth/otp/verify';

/** Whether each of several requests, which reach all shards, is signed in. */
async function signedIn(cookie: string): Promise<boolean[]> {
  const asked = Array.from({ length: 6 }, () => identity.get('/api/auth/session', { cookie }));
  return (await Promise.all(asked)).map(({ json }) => json.authenticated === true);
}

test('signing out ends the session everywhere at once, and expires the cookie', async () => {
  const { browser } = await identity.signUp();
  const { cookie } = browser;
  assert.deepEqual(new Set(await signedIn(cookie)), new Set([true]));
  const reply = await browser.post('/api/auth/logout');
  assert.equal(reply.status, 200);
  const [line = ''] = reply.headers.getSetCookie();
  assert.equal(line, 'svc_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0');
  assert.deepEqual(new Set(await signedIn(cookie)), new Set([false]));
  const again = await browser.post('/api/auth/logout');
  assert.equal(again.status, 200);
  assert.equal(again.headers.getSetCookie().length, 1);
  const late = await identity.post('/api/auth/logout', undefined, { origin: bed.url, cookie });
  assert.equal(late.status, 200);
});

test('a session that was planted is not the one that signs in, and ends', async () => {
  const attacker = await identity.signUp();
  const victim = await identity.signUp();
  const planted = attacker.browser.cookies.get('svc_session') ?? '';
  const browser = identity.browser();
  browser.cookies.set('svc_session', planted);
  browser.cookies.set('svc_browser', attacker.browser.cookies.get('svc_browser') ?? '');
  await browser.post(request, { email: victim.email, purpose: 'login' });
  const code = await identity.code(victim.email);
  const body = { email: victim.email, code, purpose: 'login' };
  assert.equal((await browser.post(verify, body)).status, 200);
  assert.notEqual(browser.cookies.get('svc_session'), planted);
  assert.notEqual(
    browser.cookies.get('svc_browser'),
    attacker.browser.cookies.get('svc_browser'),
    'nor is the browser known by what somebody else knows',
  );
  assert.deepEqual(new Set(await signedIn(`svc_session=${planted}`)), new Set([false]));
  assert.deepEqual(new Set(await signedIn(browser.cookie)), new Set([true]));
});

test('a browser keeps its name at the next sign-in', async () => {
  const { browser, email } = await identity.signUp();
  const name = browser.cookies.get('svc_browser');
  await browser.post(request, { email, purpose: 'login' });
  const code = await identity.code(email);
  await browser.post(verify, { email, code, purpose: 'login' });
  assert.equal(browser.cookies.get('svc_browser'), name);
});

test('two sessions in one request are none, in any order and in two lines', async () => {
  const one = await identity.signUp();
  const other = await identity.signUp();
  const tokens = [one, other].map(({ browser }) => browser.cookies.get('svc_session'));
  const [a, b] = tokens.map((token) => `svc_session=${token}`);
  for (const cookie of [`${a}; ${b}`, `${b}; ${a}`, `${a}; x=1; ${a}`]) {
    assert.deepEqual(new Set(await signedIn(cookie)), new Set([false]), cookie);
  }
  assert.deepEqual(new Set(await signedIn(`x=1; ${a}`)), new Set([true]));
});

test('a session of a browser is good as a cookie alone, and headers are ignored here', async () => {
  const { browser } = await identity.signUp();
  const token = browser.cookies.get('svc_session') ?? '';
  const header = { 'x-svc-session': token };
  const asHeader = await identity.get('/api/app/auth/session', header);
  assert.equal(asHeader.status, 401);
  const shown = await identity.get('/api/auth/session', header);
  assert.deepEqual(shown.json, { ok: true, authenticated: false });
  const ignored = { authorization: 'Bearer svc_at_nonsense', cookie: browser.cookie };
  assert.equal((await identity.get('/api/auth/session', ignored)).json.authenticated, true);
  const { session } = await identity.register();
  const asCookie = await signedIn(`svc_session=${session.token}`);
  assert.deepEqual(new Set(asCookie), new Set([false]));
});

test('a page of somebody else signs nobody in or out, whatever type its body has', async () => {
  const { email, browser } = await identity.signUp();
  const asked = await identity.post(request, { email, purpose: 'login' });
  const code = await identity.code(email);
  const challenge_id = String(asked.json.challenge_id);
  const bodies = {
    [request]: JSON.stringify({ email: someone(), purpose: 'login' }),
    [verify]: JSON.stringify({ email, code, purpose: 'login', challenge_id }),
    '/api/auth/logout': '',
  };
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: bed.url.replace('http:', 'https:') },
    { origin: `${bed.url}.evil.example` },
  ];
  for (const [path, body] of Object.entries(bodies)) {
    for (const headers of foreign) {
      for (const cookie of [{}, { cookie: browser.cookie }]) {
        // A Blob without a type: no preflight asks before it, and it counts as JSON.
        const response = await fetch(bed.url + path, {
          method: 'POST',
          headers: { ...headers, ...cookie },
          body: new Blob([body]),
        });
        assert.equal(response.status, 403, `${path} ${JSON.stringify(headers)}`);
        assert.deepEqual(response.headers.getSetCookie(), []);
        await response.body?.cancel();
      }
    }
  }
  assert.deepEqual(new Set(await signedIn(browser.cookie)), new Set([true]));
  const own = { origin: 'null', 'sec-fetch-site': 'same-origin' };
  const body = { email, code, purpose: 'login', challenge_id };
  assert.equal((await identity.post(verify, body, own)).status, 200, 'the code was not touched');
});

test('a cookie of a session that is over signs nobody in, and is no refusal', async () => {
  const { browser, accountId } = await identity.signUp();
  await bed.sql`UPDATE sessions SET last_used_at = now() - interval '15 days',
    created_at = now() - interval '20 days' WHERE account_id = ${accountId}`;
  const other = await identity.signUp();
  await bed.sql`DELETE FROM sessions WHERE account_id = ${other.accountId}`;
  for (const { cookie } of [browser, other.browser]) {
    const reply = await identity.get('/api/auth/session', { cookie });
    assert.deepEqual(reply.json, { ok: true, authenticated: false });
  }
  const user = await identity.get('/api/me/api-keys', { cookie: browser.cookie });
  assert.equal(refusal(user).code, 'session_expired');
});
