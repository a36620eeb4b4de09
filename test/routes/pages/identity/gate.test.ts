// Who sees which page of identity, where others are sent, and what the pages and files carry.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { tokenHash } from '../../../../actors/credentials/token.ts';
import { openTestbed, type Testbed } from '../../../harness/testbed.ts';

let bed: Testbed;
let cookie: string;
before(async () => {
  bed = await openTestbed();
  cookie = `svc_session=${(await bed.account()).sessionToken}`;
});
after(() => bed?.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${bed.url}${path}`, { headers, redirect: 'manual' });

async function location(path: string, headers: Record<string, string> = {}): Promise<string> {
  const reply = await get(path, headers);
  assert.equal(reply.status, 303, `${path}: ${await reply.text()}`);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  return reply.headers.get('location') ?? '';
}

const account = ['/account', '/account/sessions', '/account/apps', '/account/invitations'];
const own = ['/oauth/device', ...account];
const open = ['/signin', '/signup'];

test('who is not signed in is sent to sign in, and back to the same page', async () => {
  for (const path of own) {
    assert.equal(await location(path), `/signin?return_to=${encodeURIComponent(path)}`);
    const asked = await location(`${path}?a=1&b=%26&a=%C3%A9`);
    const target = new URL(asked, bed.url).searchParams.get('return_to') ?? '';
    const { pathname, searchParams } = new URL(target, bed.url);
    assert.equal(pathname, path);
    assert.deepEqual(searchParams.getAll('a'), ['1', 'é']);
    assert.equal(searchParams.get('b'), '&');
    assert.equal(searchParams.size, 3);
  }
});

test('a session that is over, is nobody’s, or is shown in a header is none', async () => {
  const { sessionToken } = await bed.account();
  await bed.sql`UPDATE sessions SET expires_at = now() - interval '1 second'
    WHERE token_hash = ${tokenHash(sessionToken)}`;
  for (const headers of [
    { cookie: `svc_session=${sessionToken}` },
    { cookie: 'svc_session=nobody' },
    { cookie: `${cookie}; ${cookie}` },
    { 'x-svc-session': cookie.replace('svc_session=', '') },
    { authorization: `Bearer ${bed.dev.api_key}` },
  ] as Record<string, string>[]) {
    assert.match(await location('/account', headers), /^\/signin\?/, JSON.stringify(headers));
    assert.equal((await get('/signin', headers)).status, 200);
  }
});

test('who is signed in sees its pages, and has no use for those to sign in', async () => {
  for (const path of own) assert.equal((await get(path, { cookie })).status, 200, path);
  for (const path of open) {
    assert.equal((await get(path)).status, 200, path);
    assert.equal(await location(path, { cookie }), '/account');
    const target = '/oauth/authorize?client_id=a&state=%2F';
    const asked = `${path}?return_to=${encodeURIComponent(target)}`;
    assert.equal(await location(asked, { cookie }), target);
    const again = await get(`${asked}&reauthenticate=1`, { cookie });
    assert.equal(again.status, 200, 'unless it has to prove itself anew');
  }
});

test('nobody is sent to another host by the server', async () => {
  for (const asked of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/account',
    '%2F%2Fevil.example',
    '/account%0d%0aset-cookie:a=b',
    '/account/../../evil',
    '/signin',
    '/account&return_to=/video',
  ]) {
    const encoded = asked.includes('&') ? asked : encodeURIComponent(decodeURIComponent(asked));
    assert.equal(await location(`/signin?return_to=${encoded}`, { cookie }), '/account', asked);
  }
});

test('no page is stored, framed or named to others, and none runs what is not ours', async () => {
  for (const path of [...own, ...open]) {
    const { headers, text } = await get(path, { cookie: open.includes(path) ? '' : cookie }).then(
      async (reply) => ({ headers: reply.headers, text: await reply.text() }),
    );
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8', path);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    const policy = headers.get('content-security-policy') ?? '';
    for (const directive of [
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]) {
      assert.ok(policy.split('; ').includes(directive), policy);
    }
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.doesNotMatch(text, /%[A-Z]+%/, 'every mark of the frame is replaced');
    assert.doesNotMatch(text, /(src|href)="(https?:)?\/\//);
    assert.doesNotMatch(text, / (style|on\w+)="/);
    for (const [, source = ''] of text.matchAll(/(?:src|href)="(\/identity\/[^"]+)"/g)) {
      assert.equal((await get(source)).status, 200, source);
    }
  }
});

test('what no page can be is refused with one that looks like them', async () => {
  const reply = await get('/account?a=%00', { accept: 'text/html,*/*;q=0.8' });
  assert.equal(reply.status, 400);
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(await reply.text(), /<link rel="stylesheet" href="\/identity\/base\.css">/);
});

test('pages know whether there is a mailbox, and nothing of who looks', async () => {
  const html = await (await get('/account', { cookie })).text();
  const [, data = ''] = /id="data">(.*)<\/script>/.exec(html) ?? [];
  const known = { web: bed.url, mailbox: '/dev/mailbox', terms_url: null, signup: 'open' };
  assert.deepEqual(JSON.parse(data), known);
  assert.equal((await get(known.mailbox)).status, 200);
});

test('every module that a page loads is served', async () => {
  const seen = new Set<string>();
  const load = async (name: string): Promise<void> => {
    if (seen.has(name)) return;
    seen.add(name);
    const reply = await get(`/identity/${name}`);
    assert.equal(reply.status, 200, name);
    assert.match(reply.headers.get('content-type') ?? '', /^text\/javascript/);
    const imports = (await reply.text()).matchAll(/from ['"]\.\/([\w-]+\.js)['"]/g);
    for (const [, imported = ''] of imports) await load(imported);
  };
  for (const entry of ['sign-in', 'approval', 'device', 'account', 'sessions', 'apps']) {
    await load(`${entry}.js`);
  }
  assert.ok(seen.size > 15, `${seen.size} modules`);
  const style = await get('/identity/base.css');
  assert.match(style.headers.get('content-type') ?? '', /^text\/css/);
  assert.doesNotMatch(await style.text(), /url\(|@import/);
});
