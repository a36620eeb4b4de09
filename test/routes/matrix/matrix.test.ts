// The matrix of credentials: every route of the table is called with each kind of credential, good
// and bad, at its place and at another's. What is admitted and what is refused is said by rows.ts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newKeyToken, newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { createSession, type SessionKind } from '../../../db/sessions.ts';
import type { AppRoute } from '../../../routes/define.ts';
import { routes } from '../../../routes/table.ts';
import type { TestAccount } from '../../harness/account.ts';
import { makeAccess, makeSession } from '../../harness/sign-in.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type Outcome, type Row, rowOf } from './rows.ts';

// slow: It calls every route some 25 times, each time with a session of its own.

let bed: Testbed;
let account: TestAccount;
let scopeless: TestAccount;
before(async () => {
  // Each call comes from another address: many of them show what is nobody's.
  bed = await openTestbed({ shards: 2, env: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' } });
  account = await bed.account();
  scopeless = await bed.account({ scopes: ['kb:read'] });
});
after(() => bed?.close());

type Headers = Record<string, string>;

/** A token of before there was a sign-in, or of the kind. */
async function session(kind: SessionKind | null, endsInMs?: number): Promise<string> {
  const { accountId } = account;
  if (kind !== null) return makeSession(bed.sql, accountId, kind, endsInMs);
  const token = newKeyToken('live').slice('svc_live_'.length);
  const expiresAt = new Date(Date.now() + 3_600_000);
  await createSession(bed.sql, { tokenHash: tokenHash(token), accountId, expiresAt });
  return token;
}

const accessToken = (scopes: string[], endsInMs?: number) =>
  makeAccess(bed.sql, account.accountId, scopes, endsInMs);

const cookie = (token: string) => ({ cookie: `svc_session=${token}` });
const header = (token: string) => ({ 'x-svc-session': token });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const own = () => ({ origin: bed.url });

const contentTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data; boundary=b',
  bytes: 'application/octet-stream',
};

let addresses = 0;
function nextAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/** An app that nobody knows is told before anybody is asked to sign in. */
const queries: Readonly<Record<string, string>> = {
  '/oauth/authorize': `?${new URLSearchParams({
    response_type: 'code',
    client_id: 'svc-cli',
    redirect_uri: 'http://127.0.0.1:1/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  })}`,
};

/** The route with parameters of nothing, and a body that no route takes. */
async function call({ method, path, body }: AppRoute, headers: Headers): Promise<Response> {
  const filled = path.replaceAll(/\{\w+\}/g, 'none') + (queries[path] ?? '');
  return fetch(bed.url + filled, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': contentTypes[body.kind] }),
      // Pages are HTML alone, the rest is JSON alone.
      accept: '*/*',
      'x-forwarded-for': nextAddress(),
      ...headers,
    },
    ...(body === undefined ? {} : { body: '{' }),
  });
}

const isWrite = ({ method }: AppRoute) => method !== 'GET';
const nameOf = ({ method, path }: AppRoute) => `${method} ${path}`;

async function expectOutcome(
  route: AppRoute,
  row: Row,
  outcome: Outcome | 'none' | 'wrong',
  headers: Headers,
  what: string,
): Promise<void> {
  const reply = await call(route, headers);
  const text = await reply.text();
  const told = `${nameOf(route)} with ${what}: ${reply.status} ${text.slice(0, 200)}`;
  const location = reply.headers.get('location') ?? '';
  const isLedAway = reply.status === 303 && location.includes('/signin');
  if (outcome === 'in') {
    assert.notEqual(reply.status, 401, told);
    if (row.access[0] !== 'none') assert.ok(!isRefusal(reply.status, text), told);
    assert.ok(!isLedAway, told);
  } else if (outcome === 401 || outcome === 403) assert.equal(reply.status, outcome, told);
  else if (row.none === 'signin') assert.ok(isLedAway, told);
  else if (row.none === 401) assert.equal(reply.status, 401, told);
  else if (row.access[0] !== 'none') assert.notEqual(reply.status, 401, told);
}

/** A 403 of access itself; handlers refuse as well, with a reason. */
function isRefusal(status: number, text: string): boolean {
  if (status !== 403 || text.includes('"reason"')) return false;
  return /"(forbidden|insufficient_scope)"/.test(text);
}

test('every route has a row, and declares the access that it says', () => {
  for (const route of routes) {
    const row = rowOf(route.method, route.path);
    assert.ok(row !== null, `${nameOf(route)} has no row: say who may call it`);
    assert.ok(row.access.includes(route.access.kind), `${nameOf(route)} is not ${row.name}`);
  }
});

/** Calls `check` for every route with its row, some at a time. */
async function everyRoute(check: (route: AppRoute, row: Row) => Promise<void>): Promise<void> {
  const waiting = [...routes];
  const work = async () => {
    for (let route = waiting.pop(); route !== undefined; route = waiting.pop()) {
      const row = rowOf(route.method, route.path);
      if (row !== null) await check(route, row);
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
}

test('each credential alone is taken where its row says so, and is absent elsewhere', async () => {
  await everyRoute(async (route, row) => {
    const { shown } = row;
    await expectOutcome(route, row, 'none', own(), 'nothing');
    const key = bearer(account.apiKey);
    await expectOutcome(route, row, shown.key, { ...key, ...own() }, 'a key');
    if (shown.key === 'in') {
      await expectOutcome(route, row, 403, bearer(scopeless.apiKey), 'a key without the scope');
      await expectOutcome(route, row, 401, bearer(newKeyToken('live')), 'a key of nobody');
    }
    const kept = { ...cookie(await session('browser')), ...own() };
    await expectOutcome(route, row, shown.cookie, kept, 'a cookie');
    const sent = header(await session('app'));
    await expectOutcome(route, row, shown.header, sent, 'an app session');
    for (const place of [header, cookie] as const) {
      const earlier = { ...place(await session(null)), ...own() };
      const outcome = place === header ? shown.header : shown.cookie;
      await expectOutcome(route, row, outcome, earlier, 'an earlier session');
    }
    const { token } = await accessToken(['profile', 'app']);
    await expectOutcome(route, row, shown.bearer, bearer(token), 'an access token');
    const { token: other } = await accessToken(['profile']);
    await expectOutcome(route, row, shown.otherBearer, bearer(other), 'a token without app');
  });
});

/** What a credential that is good for nothing is answered with, where its kind is taken. */
const wrong = (outcome: Outcome): Outcome => (outcome === 'in' ? 401 : outcome);
/** Who is no administrator is looked up before it is refused. */
const wrongHeader = ({ name, shown }: Row) => (name === 'admin' ? 401 : wrong(shown.header));

test('what is over, unknown, or in the wrong place is refused, and not replaced', async () => {
  await everyRoute(async (route, row) => {
    const { shown } = row;
    const isTaken = shown.header === 'in';
    const good = { ...cookie(await session('browser')), ...own() };
    const over: [Headers, Outcome, string][] = [
      [header(await session('app', -1_000)), wrongHeader(row), 'an expired app session'],
      [header(newToken('app')), wrongHeader(row), 'an app session of nobody'],
      [header(await session('browser')), wrongHeader(row), "a browser's session as a header"],
      [header((await accessToken(['app'])).token), wrongHeader(row), 'a token as a header'],
      [header(account.apiKey), wrongHeader(row), 'a key as a session'],
      [bearer((await accessToken(['app'], -1_000)).token), wrong(shown.bearer), 'an expired token'],
      [bearer(newToken('access')), wrong(shown.bearer), 'a token of nobody'],
    ];
    for (const [headers, outcome, what] of over) {
      await expectOutcome(route, row, outcome, { ...headers, ...own() }, what);
      const isOfHeader = 'x-svc-session' in headers ? isTaken : shown.bearer === 'in';
      const beside = isOfHeader ? outcome : null;
      if (beside === null || shown.cookie !== 'in') continue;
      await expectOutcome(route, row, beside, { ...headers, ...good }, `${what} beside a cookie`);
    }
    // A cookie travels by itself: where nobody is needed, one that is over is nobody's. What apps
    // tell is another matter (customer.md, section 8): there it is told.
    const isTold = row.none === 401 || row.access.includes('optional-user');
    const ended = isTold ? wrong(shown.cookie) : 'none';
    const bad: [string, string][] = [
      [await session('browser', -1_000), 'an expired cookie'],
      [await session('app'), "an app's session as a cookie"],
      [newToken('browser'), 'a cookie of nobody'],
    ];
    for (const [token, what] of bad) {
      const outcome = row.name === 'admin' ? 401 : ended;
      await expectOutcome(route, row, outcome, { ...cookie(token), ...own() }, what);
    }
  });
});

test('a write with a cookie comes from our own page, and two cookies are none', async () => {
  await everyRoute(async (route, row) => {
    const { shown } = row;
    const kept = async () => cookie(await session('browser'));
    if (shown.cookie === 'in') {
      const refused = isWrite(route) ? 403 : 'in';
      const foreign = { ...(await kept()), origin: 'https://evil.example' };
      await expectOutcome(route, row, refused, foreign, 'a cookie from a foreign page');
      const unknown = { ...(await kept()), origin: 'null' };
      await expectOutcome(route, row, refused, unknown, 'a cookie from nowhere');
      await expectOutcome(route, row, refused, await kept(), 'a cookie without an origin');
      const cross = { ...(await kept()), 'sec-fetch-site': 'same-site' };
      await expectOutcome(route, row, refused, cross, 'a cookie from a neighbour');
      const framed = { ...(await kept()), origin: 'null', 'sec-fetch-site': 'same-origin' };
      await expectOutcome(route, row, 'in', framed, 'a cookie from our page without an origin');
    }
    const two = `svc_session=${await session('browser')}; svc_session=${await session('browser')}`;
    await expectOutcome(route, row, 'none', { cookie: two, ...own() }, 'two cookies');
  });
});

test('of two credentials the first that the route takes decides', async () => {
  await everyRoute(async (route, row) => {
    const { shown } = row;
    const key = { 'x-api-key': account.apiKey };
    const foreign = { 'x-api-key': 'sk-of-somebody-else' };
    const { token } = await accessToken(['profile', 'app']);
    const both = { ...bearer(token), ...foreign };
    if (shown.bearer === 'in') await expectOutcome(route, row, 'in', both, 'a foreign key beside');
    if (shown.key === 'in') {
      const mine = { ...bearer(account.apiKey), ...foreign };
      await expectOutcome(route, row, 'in', mine, 'a foreign key beside ours');
      const turned = { authorization: 'Bearer sk-of-somebody-else', ...key };
      await expectOutcome(route, row, 'in', turned, 'our key beside a foreign one');
    }
    if (shown.cookie === 'in') {
      const kept = { ...cookie(await session('browser')), ...own() };
      for (const beside of [foreign, { authorization: 'Basic eDp5' }]) {
        await expectOutcome(route, row, 'in', { ...kept, ...beside }, 'what is foreign beside');
      }
      await expectOutcome(route, row, 'in', { ...kept, ...key }, 'a key beside a cookie');
    }
    if (shown.header === 'in') {
      const sent = header(await session('app'));
      const over = bearer(newToken('access'));
      await expectOutcome(route, row, 'in', { ...sent, ...over }, 'a bad token behind a session');
    }
  });
});

test('what is withdrawn works on no shard when the answer leaves', async () => {
  const token = await session('app');
  const { token: access, authorizationId } = await accessToken(['app']);
  const url = `${bed.url}/api/me/api-keys`;
  const statuses = async (headers: Headers) => {
    const asked = Array.from({ length: 8 }, () =>
      fetch(url, { headers: { ...headers, connection: 'close' } }),
    );
    return new Set((await Promise.all(asked)).map(({ status }) => status));
  };
  assert.deepEqual(await statuses(header(token)), new Set([200]));
  assert.deepEqual(await statuses(bearer(access)), new Set([200]));
  const path = `/api/admin/users/${account.accountId}/sign-out`;
  const headers = header(bed.dev.admin_session_token);
  const out = await fetch(bed.url + path, { method: 'POST', headers });
  assert.equal(out.status, 200);
  assert.deepEqual(await statuses(header(token)), new Set([401]));
  const refused = await fetch(url, { headers: bearer(access) });
  assert.equal(refused.status, 401);
  const challenge = refused.headers.get('www-authenticate') ?? '';
  assert.match(challenge, /^Bearer resource_metadata="[^"]+", error="invalid_token"$/);
  const [row] = await bed.sql`
    SELECT revoked_reason FROM oauth_authorizations WHERE id = ${authorizationId}`;
  assert.equal(row?.revoked_reason, 'admin');
  const { token: narrow } = await accessToken(['profile']);
  const forbidden = await fetch(url, { headers: bearer(narrow) });
  assert.equal(forbidden.status, 403);
  assert.match(
    forbidden.headers.get('www-authenticate') ?? '',
    /error="insufficient_scope", scope="app"$/,
  );
});
