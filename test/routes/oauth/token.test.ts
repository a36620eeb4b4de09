// POST /oauth/token as apps meet it: codes, refresh tokens, devices, and all that is refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { deviceGrant } from '../../../actors/oauth/client.ts';
import type { TestAccount } from '../../harness/account.ts';
import { approveCode, askDevice, newVerifier } from '../../harness/oauth.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { codeForm, type OAuthCalls, openOAuthCalls, refusalOf, tokensOf } from './calls.ts';

let bed: Testbed;
let calls: OAuthCalls;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  calls = await openOAuthCalls(bed.url);
  account = await bed.account();
});
after(() => bed?.close());

const approve = (more: Parameters<typeof approveCode>[2] = {}) =>
  approveCode(bed.sql, account.accountId, more);
const redeem = (form: Record<string, string>) =>
  calls.post('/oauth/token', { client_id: 'svc-cli', ...form });

test('a code becomes tokens that work, in a reply that nobody stores', async () => {
  const reply = await redeem(codeForm(await approve()));
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  assert.equal(reply.headers.get('pragma'), 'no-cache');
  const { access_token: access, refresh_token: refresh, ...rest } = reply.json;
  assert.match(String(access), /^svc_at_[0-9A-Za-z]{49}$/);
  assert.match(String(refresh), /^svc_rt_[0-9A-Za-z]{49}$/);
  const scope = 'profile email offline_access app';
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 3_600, scope });
  const keys = await calls.get('/api/me/api-keys', String(access));
  assert.equal(keys.status, 200);
});

test('without offline_access there is no refresh token', async () => {
  const reply = await redeem(codeForm(await approve({ scopes: ['profile'] })));
  assert.deepEqual([reply.status, reply.json.scope], [200, 'profile']);
  assert.ok(!('refresh_token' in reply.json));
});

test('a code is of its client, redirect and challenge, and used up by who shows it', async () => {
  const wrong = [
    { client_id: 'svc-desktop' },
    { redirect_uri: 'http://127.0.0.1:41235/callback' },
    { redirect_uri: 'http://localhost:41234/callback' },
    { code_verifier: newVerifier() },
    { code_verifier: 'short' },
  ];
  for (const change of wrong) {
    const form = codeForm(await approve());
    const name = JSON.stringify(change);
    assert.deepEqual(refusalOf(await redeem({ ...form, ...change })), [400, 'invalid_grant'], name);
    assert.deepEqual(refusalOf(await redeem(form)), [400, 'invalid_grant'], name);
  }
});

test('what is missing is told, and nothing is used up', async () => {
  const form = codeForm(await approve());
  for (const name of ['code', 'redirect_uri', 'code_verifier', 'grant_type']) {
    const { [name]: _, ...rest } = form;
    assert.deepEqual(refusalOf(await redeem(rest)), [400, 'invalid_request'], name);
    const empty = { ...form, [name]: '' };
    assert.deepEqual(refusalOf(await redeem(empty)), [400, 'invalid_request'], name);
  }
  assert.equal((await redeem(form)).status, 200);
});

test('the second redemption ends what the first one got', async () => {
  const form = codeForm(await approve());
  const tokens = tokensOf(await redeem(form));
  assert.deepEqual(refusalOf(await redeem(form)), [400, 'invalid_grant']);
  assert.equal((await calls.get('/api/me/api-keys', tokens.access_token)).status, 401);
  assert.deepEqual(refusalOf(await calls.refresh(tokens.refresh_token)), [400, 'invalid_grant']);
  const [row] = await bed.sql`
    SELECT revoked_reason FROM oauth_authorizations o
    JOIN oauth_tokens t ON t.authorization_id = o.id
    WHERE t.token_hash = ${tokenHash(tokens.access_token)}`;
  assert.equal(row?.revoked_reason, 'code_replay');
});

test('a code that is unknown, mistyped or over is good for nothing', async () => {
  const late = await approve();
  await bed.sql`UPDATE oauth_codes SET expires_at = now()
    WHERE code_hash = ${tokenHash(late.code)}`;
  const codes = [
    late.code,
    newToken('code'),
    newToken('access'),
    'svc_ac_1',
    'ü',
    'a'.repeat(9_000),
  ];
  for (const code of codes) {
    const form = { ...codeForm(late), code };
    assert.deepEqual(refusalOf(await redeem(form)), [400, 'invalid_grant'], code.slice(0, 20));
  }
});

test('a refresh token is replaced, and the old one gets the same for a moment', async () => {
  const first = await calls.signIn(bed.sql, account.accountId);
  const second = await calls.refresh(first.refresh_token);
  assert.equal(second.status, 200, second.text);
  assert.notEqual(tokensOf(second).refresh_token, first.refresh_token);
  const again = await calls.refresh(first.refresh_token);
  assert.equal(again.text, second.text);
  assert.equal((await calls.get('/oauth/userinfo', tokensOf(again).access_token)).status, 200);
  const third = await calls.refresh(tokensOf(second).refresh_token);
  assert.equal(third.status, 200);
  // What came of it was used: whoever has the first one now is somebody else.
  assert.deepEqual(refusalOf(await calls.refresh(first.refresh_token)), [400, 'invalid_grant']);
  for (const each of [second, third]) {
    const { access_token, refresh_token } = tokensOf(each);
    assert.equal((await calls.get('/oauth/userinfo', access_token)).status, 401);
    assert.deepEqual(refusalOf(await calls.refresh(refresh_token)), [400, 'invalid_grant']);
  }
});

test('after its grace a used refresh token ends the authorization', async () => {
  const first = await calls.signIn(bed.sql, account.accountId);
  const second = tokensOf(await calls.refresh(first.refresh_token));
  await bed.sql`
    UPDATE oauth_tokens SET rotated_at = rotated_at - interval '11 seconds'
    WHERE token_hash = ${tokenHash(first.refresh_token)}`;
  assert.deepEqual(refusalOf(await calls.refresh(first.refresh_token)), [400, 'invalid_grant']);
  assert.deepEqual(refusalOf(await calls.refresh(second.refresh_token)), [400, 'invalid_grant']);
  const reply = await calls.get('/oauth/userinfo', second.access_token);
  assert.deepEqual(refusalOf(reply), [401, 'invalid_token']);
  const events = await bed.sql`
    SELECT e.actor, e.details FROM audit_events e
    JOIN oauth_tokens t ON e.subject = 'authorization:' || t.authorization_id
    WHERE t.token_hash = ${tokenHash(first.access_token)} AND action = 'authorization.revoke'`;
  const details = { client: 'svc-cli', reason: 'reuse' };
  assert.deepEqual(
    events.map((event) => ({ ...event })),
    [{ actor: 'client:svc-cli', details }],
  );
});

test('whose refresh token was used twice is told so by mail, once', async () => {
  const person = await bed.account();
  const to = `${person.accountId}@example.com`;
  await bed.sql`UPDATE accounts SET email = ${to}, email_owned = true, email_verified_at = now()
    WHERE id = ${person.accountId}`;
  const first = await calls.signIn(bed.sql, person.accountId);
  const second = tokensOf(await calls.refresh(first.refresh_token));
  await calls.refresh(second.refresh_token);
  for (let times = 0; times < 2; times += 1) await calls.refresh(first.refresh_token);
  const read = async () => {
    const reply = await fetch(`${bed.dev.mailbox_url}/messages?to=${encodeURIComponent(to)}`);
    return ((await reply.json()) as { data: { subject: string; text: string }[] }).data;
  };
  const end = Date.now() + 20_000;
  let mails = await read();
  for (; mails.length === 0 && Date.now() < end; mails = await read()) await sleep(20);
  assert.equal(mails.length, 1);
  assert.equal(mails[0]?.subject, 'An app was cut off from your account');
  assert.match(mails[0]?.text ?? '', /Command line/);
  const rows = await bed.sql`SELECT 1 FROM mails WHERE account_id = ${person.accountId}`;
  assert.equal(rows.length, 1);
});

test('a refresh may ask for less, and never for more', async () => {
  const first = await calls.signIn(bed.sql, account.accountId, {
    scopes: ['profile', 'offline_access', 'app'],
  });
  const { refresh_token: token } = first;
  for (const scope of ['profile email', 'admin', 'app  profile', '"']) {
    const reply = await calls.refresh(token, { scope });
    assert.deepEqual(refusalOf(reply), [400, 'invalid_scope'], scope);
  }
  const less = tokensOf(await calls.refresh(token, { scope: 'profile' }));
  assert.equal(less.scope, 'profile');
  assert.equal((await calls.get('/oauth/userinfo', less.access_token)).status, 200);
  const reply = await calls.get('/api/me/api-keys', less.access_token);
  assert.equal(reply.status, 403);
  const challenge = reply.headers.get('www-authenticate') ?? '';
  assert.match(challenge, /error="insufficient_scope", scope="app"/);
  const all = tokensOf(await calls.refresh(less.refresh_token));
  assert.equal(all.scope, 'profile offline_access app');
});

test('a refresh token of another client, mistyped or unknown is good for nothing', async () => {
  const tokens = await calls.signIn(bed.sql, account.accountId);
  const { refresh_token: token, access_token: access } = tokens;
  const foreign = await calls.refresh(token, { client_id: 'svc-desktop' });
  assert.deepEqual(refusalOf(foreign), [400, 'invalid_grant']);
  for (const other of [`${token}x`, newToken('refresh'), access]) {
    assert.deepEqual(refusalOf(await calls.refresh(other)), [400, 'invalid_grant']);
  }
  assert.equal((await calls.refresh(token)).status, 200);
});

test('who the client is comes first, and is asked for alike whatever is wrong', async () => {
  const form = codeForm(await approve());
  const basic = (text: string) => ({
    authorization: `Basic ${Buffer.from(text).toString('base64')}`,
  });
  const wrong: [Record<string, string>, Record<string, string>?][] = [
    [{ ...form }],
    [{ ...form, client_id: '' }],
    [{ ...form, client_id: 'nobody' }],
    [{ ...form, client_id: 'svc-cli', client_secret: 'x' }],
    [form, basic('svc-cli:x')],
    [form, basic('nobody:x')],
    [{ ...form, client_id: 'svc-desktop' }, basic('svc-cli:')],
    [form, { authorization: 'Basic ***' }],
    [{ ...form, client_id: 'https://app.example.com/client.json' }],
  ];
  const texts = new Set<string>();
  for (const [sent, headers] of wrong) {
    const reply = await calls.post('/oauth/token', sent, headers);
    assert.deepEqual(refusalOf(reply), [401, 'invalid_client'], JSON.stringify(sent));
    assert.match(reply.headers.get('www-authenticate') ?? '', /^Basic realm=/);
    texts.add(reply.text);
  }
  assert.equal(texts.size, 1);
  const bearer = { authorization: `Bearer ${newToken('access')}` };
  const reply = await calls.post('/oauth/token', { ...form, client_id: 'svc-cli' }, bearer);
  assert.equal(reply.status, 200, 'another scheme says nothing, and nothing was used up');
});

test('a client has the grants that it has', async () => {
  const unknown = await redeem({ grant_type: 'password', username: 'a', password: 'b' });
  assert.deepEqual(refusalOf(unknown), [400, 'unsupported_grant_type']);
  assert.deepEqual(refusalOf(await redeem({ grant_type: '__proto__' })), [
    400,
    'unsupported_grant_type',
  ]);
  const form = { client_id: 'svc-desktop', grant_type: deviceGrant, device_code: 'x' };
  assert.deepEqual(refusalOf(await redeem(form)), [400, 'unauthorized_client']);
});

test('forms are bounded, and each field stands once; others are ignored', async () => {
  const form = codeForm(await approve());
  const text = new URLSearchParams({ client_id: 'svc-cli', ...form, foo: 'bar' }).toString();
  for (const repeated of ['client_id=svc-cli', 'code=x', 'foo=x']) {
    const reply = await calls.post('/oauth/token', `${text}&${repeated}`);
    assert.deepEqual(refusalOf(reply), [400, 'invalid_request'], repeated);
  }
  const long = await calls.post('/oauth/token', { ...form, foo: 'x'.repeat(16_384) });
  assert.deepEqual(refusalOf(long), [413, 'invalid_request']);
  const json = await calls.post('/oauth/token', '{}', { 'content-type': 'application/json' });
  assert.deepEqual(refusalOf(json), [415, 'invalid_request']);
  const origin = { origin: 'https://elsewhere.example' };
  const reply = await calls.post('/oauth/token', text, origin);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('access-control-allow-origin'), '*');
});

test('what stands in the query says nothing', async () => {
  const form = new URLSearchParams({ client_id: 'svc-cli', ...codeForm(await approve()) });
  const reply = await calls.post(`/oauth/token?${form}`, {});
  assert.deepEqual(refusalOf(reply), [401, 'invalid_client']);
});

test('a device waits, is slowed down, and gets its tokens once', async () => {
  const device = await askDevice(bed.sql);
  const { deviceCode } = device;
  assert.deepEqual(refusalOf(await calls.poll(deviceCode)), [400, 'authorization_pending']);
  assert.deepEqual(refusalOf(await calls.poll(deviceCode)), [400, 'slow_down']);
  await bed.sql`UPDATE oauth_devices SET polled_at = polled_at - interval '10 seconds'
    WHERE device_code_hash = ${tokenHash(deviceCode)}`;
  assert.deepEqual(refusalOf(await calls.poll(deviceCode)), [400, 'authorization_pending']);
  await device.approve(account.accountId);
  const reply = await calls.poll(deviceCode);
  assert.equal(reply.status, 200, reply.text);
  assert.equal((await calls.get('/oauth/userinfo', tokensOf(reply).access_token)).status, 200);
  assert.deepEqual(refusalOf(await calls.poll(deviceCode)), [400, 'invalid_grant']);
  assert.equal((await calls.refresh(tokensOf(reply).refresh_token)).status, 200);
});

test('a device is told of a refusal and of its end', async () => {
  const denied = await askDevice(bed.sql);
  await denied.deny();
  assert.deepEqual(refusalOf(await calls.poll(denied.deviceCode)), [400, 'access_denied']);
  const late = await askDevice(bed.sql);
  await bed.sql`UPDATE oauth_devices SET expires_at = now()
    WHERE device_code_hash = ${tokenHash(late.deviceCode)}`;
  assert.deepEqual(refusalOf(await calls.poll(late.deviceCode)), [400, 'expired_token']);
  for (const code of [newToken('deviceCode'), 'svc_dc_1', newToken('code')]) {
    assert.deepEqual(refusalOf(await calls.poll(code)), [400, 'invalid_grant']);
  }
});
