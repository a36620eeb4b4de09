// The authorization endpoint: who asks, where answers go, what a person sees and decides, and the
// attacks of RFC 9700 that it stands against.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isToken, tokenHash } from '../../../actors/credentials/token.ts';
import { endAuthorizations } from '../../../db/authorizations.ts';
import { createSession } from '../../../db/sessions.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { openAdminApi } from '../admin/admin-api.ts';
import {
  type Browser,
  challenge,
  loopbackRedirect,
  openBrowsers,
  pageData,
  type Query,
  queryText,
  told,
  usual,
  webRedirect,
} from './front.ts';

let bed: Testbed;
let browsers: Awaited<ReturnType<typeof openBrowsers>>;
const web = { client_id: 'web-app', redirect_uri: webRedirect } as const;
before(async () => {
  bed = await openTestbed({ own: 'it adds clients to the catalog' });
  browsers = await openBrowsers(bed);
  const adminApi = await openAdminApi(bed);
  const clients = [
    { name: 'web-app', redirect_uris: [webRedirect, 'https://app.example.com/cb?tenant=1'] },
    { name: 'phone', redirect_uris: ['com.example.phone:/callback'] },
    { name: 'off', redirect_uris: [webRedirect], enabled: false },
    { name: 'small', redirect_uris: [webRedirect], scopes: ['profile'] },
    {
      name: 'tv',
      redirect_uris: [webRedirect],
      grants: ['urn:ietf:params:oauth:grant-type:device_code'],
    },
  ];
  for (const client of clients) {
    const made = await adminApi('POST', '/oauth-clients', {
      body: {
        display_name: '<b>Notes</b></script>',
        type: 'public',
        grants: ['authorization_code', 'refresh_token'],
        scopes: ['profile', 'email', 'offline_access', 'app'],
        ...client,
      },
    });
    assert.equal(made.status, 201, made.text);
  }
});
after(() => bed?.close());

const codeRow = async (code: string) => {
  const [row] = await bed.sql`SELECT * FROM oauth_codes WHERE code_hash = ${tokenHash(code)}`;
  assert.ok(row !== undefined, 'the code is kept as its hash');
  return row;
};

test('a person is shown who asks, for what, on which account, and where it leads', async () => {
  const { browser, account } = await browsers.someone();
  await bed.sql`
    UPDATE accounts SET email = ${`${account.accountId}@example.com`}, email_owned = true,
      full_name = 'Ada' WHERE id = ${account.accountId}`;
  const data = await browser.page();
  const { request, ...shown } = data;
  assert.match(request, /^[A-Za-z0-9_-]{100,}$/);
  assert.deepEqual(shown, {
    client: {
      id: 'svc-cli',
      display_name: 'Command line',
      host: null,
      first_party: true,
      verified: true,
    },
    scopes: ['profile', 'app'],
    account: {
      email: `${account.accountId}@example.com`,
      full_name: 'Ada',
      id: account.accountId,
    },
    redirect: { kind: 'loopback', shown: '127.0.0.1:41234' },
  });
  const answer = await browser.authorize(web);
  assert.ok(!answer.text.includes('<b>'), 'a name is text');
  assert.equal(pageData(answer.text).client.display_name, '<b>Notes</b></script>');
});

test('an approval is a code for this app, redirect and challenge, with state and iss', async () => {
  const { browser, account } = await browsers.someone();
  const url = await browser.approve({ scope: 'app profile nonsense' });
  assert.equal(url.origin + url.pathname, loopbackRedirect);
  const { code = '', ...others } = Object.fromEntries(url.searchParams);
  assert.deepEqual(others, { state: 'of the app', iss: bed.url });
  assert.ok(isToken('code', code));
  const row = await codeRow(code);
  assert.deepEqual(
    [row.account_id, row.client, row.redirect_uri, row.challenge, row.scopes],
    [account.accountId, 'svc-cli', loopbackRedirect, challenge, ['profile', 'app']],
  );
  const livesMs = row.expires_at.getTime() - row.created_at.getTime();
  assert.ok(livesMs > 55_000 && livesMs < 65_000, `${livesMs}`);
  const [event] = await bed.sql`
    SELECT action, subject, actor, details FROM audit_events
    WHERE account_id = ${account.accountId} AND action LIKE 'oauth.%'`;
  assert.deepEqual(
    { ...event },
    {
      action: 'oauth.approve',
      subject: 'oauth_client:svc-cli',
      actor: account.accountId,
      details: { scopes: ['profile', 'app'], by: 'page' },
    },
  );
});

test('who says no gives nothing, and the app is told so', async () => {
  const { browser, account } = await browsers.someone();
  const { request } = await browser.page({ state: undefined });
  const reply = await browser.decide(request, 'deny');
  const { error, iss, state } = Object.fromEntries(
    new URL(String(reply.json.redirect_to)).searchParams,
  );
  assert.deepEqual([error, iss, state], ['access_denied', bed.url, undefined]);
  const codes = await bed.sql`SELECT 1 FROM oauth_codes WHERE account_id = ${account.accountId}`;
  assert.equal(codes.length, 0);
  const again = await browser.decide(request, 'approve');
  assert.equal(again.status, 400, 'a no is no yes later');
});

test('RFC 9700, open redirect: nothing is told to an app that is not known', async () => {
  const { browser } = await browsers.someone();
  for (const query of [
    { client_id: 'nobody' },
    { client_id: '' },
    { client_id: undefined },
    { client_id: 'x'.repeat(3_000) },
    { client_id: 'off', redirect_uri: webRedirect },
    { client_id: 'https://evil.example/client' },
    { redirect_uri: undefined },
    { redirect_uri: 'https://evil.example/callback' },
  ] satisfies Query[]) {
    for (const who of [browser, browsers.nobody]) {
      const answer = await who.authorize({ ...query, prompt: 'none' });
      assert.deepEqual([answer.status, answer.location], [400, null], JSON.stringify(query));
      assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
      assert.ok(!answer.text.includes('evil.example'));
    }
  }
  const twice = `/oauth/authorize?${queryText(usual)}`;
  for (const more of ['&client_id=web-app', '&redirect_uri=https%3A%2F%2Fevil.example%2F']) {
    const answer = await browser.get(twice + more);
    assert.deepEqual([answer.status, answer.location], [400, null], more);
  }
});

test('RFC 9700, open redirect: an error goes to the registered address alone', async () => {
  const { browser } = await browsers.someone();
  const answer = told(await browser.authorize({ ...web, response_type: 'token' }));
  assert.equal(answer.to, webRedirect);
  for (const redirect_uri of [
    `${webRedirect}/`,
    `${webRedirect}?x=1`,
    `${webRedirect}#x`,
    'https://app.example.com/%63allback',
    'https://app.example.com/x/../callback',
    'https://app.example.com.evil.example/callback',
    'https://app.example.com@evil.example/callback',
    'https://evil.example\\@app.example.com/callback',
    'http://app.example.com/callback',
    ' https://app.example.com/callback',
  ]) {
    const wrong = await browser.authorize({ ...web, redirect_uri, response_type: 'token' });
    assert.deepEqual([wrong.status, wrong.location], [400, null], redirect_uri);
  }
});

test('RFC 9700, redirect variants: a loopback host is the one that is registered', async () => {
  const { browser } = await browsers.someone();
  for (const redirect_uri of [
    'http://127.0.0.1/callback',
    'http://127.0.0.1:1/callback',
    'http://[::1]:8080/callback',
    'http://localhost:8080/callback',
  ]) {
    assert.equal((await browser.authorize({ redirect_uri })).status, 200, redirect_uri);
  }
  for (const redirect_uri of [
    'http://127.0.0.1.evil/callback',
    'http://127.0.0.1:80@evil.example/callback',
    'http://user@127.0.0.1/callback',
    'http://127.0.0.2/callback',
    'http://0x7f.0.0.1/callback',
    'http://127.0.0.1:0/callback',
    'http://127.0.0.1:99999/callback',
    'http://127.0.0.1/callback%00',
    'http://127.0.0.1%2Fcallback',
    'http://[::ffff:7f00:1]/callback',
    'http://[::1%251]/callback',
    'https://127.0.0.1/callback',
  ]) {
    const answer = await browser.authorize({ redirect_uri });
    assert.deepEqual([answer.status, answer.location], [400, null], redirect_uri);
  }
});

test('what is wrong with a request is told to the app, with its state and iss', async () => {
  const { browser } = await browsers.someone();
  const cases: [Query, string][] = [
    [{ response_type: undefined }, 'invalid_request'],
    [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ response_mode: 'form_post' }, 'invalid_request'],
    [{ request: 'eyJ' }, 'request_not_supported'],
    [{ request_uri: 'urn:x' }, 'request_uri_not_supported'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ code_challenge: challenge.slice(1) }, 'invalid_request'],
    [{ code_challenge: `${challenge.slice(1)}=` }, 'invalid_request'],
    [{ code_challenge_method: undefined }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ scope: 'openid' }, 'invalid_scope'],
    [{ scope: 'x'.repeat(2_000) }, 'invalid_scope'],
    [{ prompt: 'none login' }, 'invalid_request'],
    [{ login_hint: 'x'.repeat(255) }, 'invalid_request'],
    [{ resource: 'https://evil.example/' }, 'invalid_target'],
    [{ resource: `${bed.url}.evil.example/` }, 'invalid_target'],
    [{ resource: `${bed.url}/#x` }, 'invalid_target'],
    [{ resource: 'mcp' }, 'invalid_target'],
    [{ client_id: 'small', redirect_uri: webRedirect, scope: 'email app' }, 'invalid_scope'],
    [{ client_id: 'tv', redirect_uri: webRedirect }, 'unauthorized_client'],
  ];
  for (const [query, error] of cases) {
    for (const who of [browser, browsers.nobody]) {
      const { to, members } = told(await who.authorize(query));
      assert.equal(to, query.redirect_uri ?? loopbackRedirect);
      assert.equal(members.error, error, JSON.stringify(query));
      assert.deepEqual(
        [members.state, members.iss, members.code],
        ['of the app', bed.url, undefined],
      );
      assert.match(members.error_description ?? '', /^[ -~]+$/);
    }
  }
  const long = told(await browser.authorize({ state: 'x'.repeat(2_049) }));
  assert.deepEqual([long.members.error, long.members.state], ['invalid_request', undefined]);
  for (const more of [
    '&scope=app',
    '&state=b',
    '&nonsense=1&nonsense=2',
    '&resource=a&resource=b',
  ]) {
    const answer = told(await browser.get(`/oauth/authorize?${queryText(usual)}${more}`));
    assert.equal(answer.members.error, 'invalid_request', more);
  }
  for (const resource of [bed.url, `${bed.url}/`, `${bed.url}/v1/mcp?x=1`]) {
    assert.equal((await browser.authorize({ resource, nonsense: '1' })).status, 200, resource);
  }
});

test('scopes that are unknown or not allowed are dropped, and profile is the default', async () => {
  const { browser } = await browsers.someone();
  const scopesOf = async (query: Query) => (await browser.page(query)).scopes;
  assert.deepEqual(await scopesOf({ scope: undefined }), ['profile']);
  assert.deepEqual(await scopesOf({ scope: 'openid app email' }), ['email', 'app']);
  const small = { client_id: 'small', redirect_uri: webRedirect };
  assert.deepEqual(await scopesOf({ ...small, scope: 'app profile' }), ['profile']);
});

test('without a session the request waits for the sign-in, or says that it needs one', async () => {
  const answer = await browsers.nobody.authorize({ login_hint: 'a@example.com' });
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const signIn = new URL(answer.location ?? '', bed.url);
  assert.deepEqual([signIn.origin, signIn.pathname], [bed.url, '/signin']);
  assert.deepEqual([...signIn.searchParams.keys()], ['return_to']);
  const target = new URL(signIn.searchParams.get('return_to') ?? '', bed.url);
  assert.deepEqual(Object.fromEntries(target.searchParams), {
    ...usual,
    login_hint: 'a@example.com',
  });
  assert.equal(target.pathname, '/oauth/authorize');
  const silent = told(await browsers.nobody.authorize({ prompt: 'none' }));
  assert.deepEqual([silent.members.error, silent.members.state], ['login_required', 'of the app']);
  const over = browsers.of('over'.repeat(10));
  assert.match((await over.authorize({})).location ?? '', /^\/signin/);
});

test('a new sign-in is asked for once', async () => {
  const { browser, account } = await browsers.someone();
  await bed.sql`UPDATE sessions SET authenticated_at = now() - interval '1 hour'
    WHERE account_id = ${account.accountId}`;
  const first = await browser.authorize({ prompt: 'login consent' });
  const signIn = new URL(first.location ?? '', bed.url);
  assert.equal(signIn.searchParams.get('reauthenticate'), '1');
  const back = signIn.searchParams.get('return_to') ?? '';
  assert.equal(new URL(back, bed.url).searchParams.get('prompt'), 'consent');
  assert.match((await browser.get(back)).location ?? '', /^\/signin/, 'the old one does not do');
  const token = `new-${account.sessionToken}`;
  const { accountId } = account;
  const expiresAt = new Date(Date.now() + 60_000);
  await createSession(bed.sql, { tokenHash: tokenHash(token), accountId, expiresAt });
  assert.equal((await browsers.of(token).get(back)).status, 200);
});

test('an approval is remembered at https addresses, for the same scopes or fewer', async () => {
  const { browser, account } = await browsers.someone();
  const silent = (query: Query) => browser.authorize({ ...web, prompt: 'none', ...query });
  const errorOf = async (query: Query) => told(await silent(query)).members.error;
  assert.equal(await errorOf({}), 'interaction_required');
  await browser.approve({ ...web, scope: 'profile email' });
  const { members } = told(await silent({ scope: 'email' }));
  assert.ok(isToken('code', members.code ?? ''));
  assert.deepEqual([members.state, members.iss], ['of the app', bed.url]);
  assert.deepEqual((await codeRow(members.code ?? '')).scopes, ['email']);
  const without = told(await browser.authorize({ ...web, scope: 'profile' }));
  assert.ok(without.members.code !== undefined, 'the page is skipped, too');
  assert.equal(await errorOf({ scope: 'email app' }), 'interaction_required');
  assert.equal(
    (await browser.authorize({ ...web, scope: 'profile', prompt: 'consent' })).status,
    200,
  );
  const other = await browsers.someone();
  const stranger = told(await other.browser.authorize({ ...web, prompt: 'none', scope: 'email' }));
  assert.equal(stranger.members.error, 'interaction_required', 'of another account');
  const { accountId } = account;
  await endAuthorizations(bed.sql, { accountId, client: 'web-app' }, 'user');
  assert.equal(await errorOf({ scope: 'email' }), 'interaction_required', 'it was withdrawn');
});

test('a loopback port or a scheme may be anybody’s, so a person clicks each time', async () => {
  const { browser } = await browsers.someone();
  for (const query of [
    {},
    { client_id: 'phone', redirect_uri: 'com.example.phone:/callback' },
  ] satisfies Query[]) {
    await browser.approve(query);
    assert.equal((await browser.authorize(query)).status, 200);
    const silent = told(await browser.authorize({ ...query, prompt: 'none' }));
    assert.equal(silent.members.error, 'interaction_required');
  }
});

test('RFC 9700, mix-up: every answer says who answers, success and error alike', async () => {
  const { browser } = await browsers.someone();
  const approved = await browser.approve(web);
  const answers = [
    Object.fromEntries(approved.searchParams),
    told(await browser.authorize({ ...web, response_type: 'token' })).members,
    told(await browsers.nobody.authorize({ ...web, prompt: 'none' })).members,
  ];
  for (const { iss } of answers) assert.equal(iss, bed.url);
  const tenant = await browser.approve({
    client_id: 'web-app',
    redirect_uri: 'https://app.example.com/cb?tenant=1',
    prompt: 'consent',
  });
  assert.equal(tenant.searchParams.get('tenant'), '1', 'the query of the app stays');
});

test('RFC 9700, framing: no page may be framed, kept, or told in a referrer', async () => {
  const { browser } = await browsers.someone();
  const pages = [await browser.authorize({}), await browser.authorize({ client_id: 'nobody' })];
  for (const { headers } of pages) {
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, /form-action 'none'/);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('access-control-allow-origin'), null);
  }
});

test('a decision is taken once, from the session that saw the page, within its time', async () => {
  const { browser, account } = await browsers.someone();
  const { request } = await browser.page();
  const refusedBy = async (who: Browser, sealed: string) => {
    const reply = await who.decide(sealed, 'approve');
    assert.deepEqual([reply.status, reply.json.error], [400, 'invalid_request'], reply.text);
  };
  const other = await browsers.someone();
  await refusedBy(other.browser, request);
  const token = `second-${account.sessionToken}`;
  const { accountId } = account;
  const expiresAt = new Date(Date.now() + 60_000);
  await createSession(bed.sql, { tokenHash: tokenHash(token), accountId, expiresAt });
  await refusedBy(browsers.of(token), request);
  for (const forged of [
    'x',
    request.slice(2),
    `${request.slice(0, -8)}AAAAAAAA`,
    request + request,
  ]) {
    await refusedBy(browser, forged);
  }
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => browser.decide(request, 'approve')),
  );
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array(7).fill(400)]);
  const codes = await bed.sql`SELECT 1 FROM oauth_codes WHERE account_id = ${accountId}`;
  assert.equal(codes.length, 1);
  await refusedBy(browser, request);
});

test('a decision is for pages of this origin that are signed in', async () => {
  const { browser } = await browsers.someone();
  const { request } = await browser.page();
  const body = { request, decision: 'approve' };
  const path = '/oauth/authorize/decision';
  for (const headers of [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
  ]) {
    assert.equal((await browser.post(path, body, headers)).status, 403, JSON.stringify(headers));
  }
  assert.equal((await browsers.nobody.post(path, body)).status, 401);
  assert.equal((await browser.post(path, body)).status, 200, 'none of these has used it up');
});

test('a client that changes behind the page gets nothing by it', async () => {
  const adminApi = await openAdminApi(bed);
  const { browser } = await browsers.someone();
  const changes = [
    ['PATCH', '', { redirect_uris: ['https://other.example/'] }, { redirect_uris: [webRedirect] }],
    ['PATCH', '', { scopes: ['email'] }, { scopes: ['profile', 'app'] }],
    ['POST', '/disable', undefined, undefined],
  ] as const;
  await adminApi('POST', '/oauth-clients', {
    body: {
      name: 'changing',
      display_name: 'Changing',
      type: 'public',
      redirect_uris: [webRedirect],
      grants: ['authorization_code'],
      scopes: ['profile', 'app'],
    },
  });
  for (const [method, verb, body, undo] of changes) {
    const { request } = await browser.page({ client_id: 'changing', redirect_uri: webRedirect });
    const path = `/oauth-clients/changing${verb}`;
    const changed = await adminApi(method, path, body === undefined ? {} : { body });
    assert.equal(changed.status, 200, changed.text);
    assert.equal((await browser.decide(request, 'approve')).status, 400);
    if (undo !== undefined) await adminApi('PATCH', '/oauth-clients/changing', { body: undo });
  }
});

test('an account that has not proved its address lets no app act', async () => {
  const { browser, account } = await browsers.someone();
  const { request } = await browser.page();
  await bed.sql`UPDATE accounts SET email = 'typed@example.com' WHERE id = ${account.accountId}`;
  const fresh = `unproved-${account.sessionToken}`;
  await createSession(bed.sql, {
    tokenHash: tokenHash(fresh),
    accountId: account.accountId,
    expiresAt: new Date(Date.now() + 60_000),
  });
  const unproved = browsers.of(fresh);
  assert.equal(told(await unproved.authorize({})).members.error, 'access_denied');
  const decided = await unproved.decide(request, 'approve');
  assert.deepEqual([decided.status, decided.json.error], [403, 'access_denied']);
});
