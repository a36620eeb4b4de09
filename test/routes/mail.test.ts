// Mail of a development server: administrators send a test, it stands in the mailbox, and whoever
// sits at the machine reads that, nobody else.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { type AdminApi, everything, openAdminApi, refusal } from './admin/admin-api.ts';

interface Message {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  at: string;
}

let bed: Testbed;
let adminApi: AdminApi;
before(async () => {
  bed = await openTestbed();
  adminApi = await openAdminApi(bed);
});
after(() => bed?.close());

async function messages(to = ''): Promise<Message[]> {
  const query = to === '' ? '' : `?to=${encodeURIComponent(to)}`;
  const reply = await fetch(`${bed.dev.mailbox_url}/messages${query}`);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  const { ok, data } = (await reply.json()) as { ok: boolean; data: Message[] };
  assert.equal(ok, true);
  return data;
}

async function messagesFor(to: string, count = 1): Promise<Message[]> {
  for (;;) {
    const found = await messages(to);
    if (found.length >= count) return found;
    await sleep(10);
  }
}

async function sendTest(to: string): Promise<string> {
  const reply = await adminApi('POST', '/mail/test', { body: { to } });
  assert.equal(reply.status, 202, reply.text);
  return reply.json.mail_id as string;
}

/** A request with headers that `fetch` does not let anybody set. */
function visit(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<number>((resolve, reject) => {
    const sent = request(`${bed.url}${path}`, { method, headers, agent: false }, (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('a test mail stands in the mailbox, newest first, and is found by its address', async () => {
  const first = await sendTest('Dora@Bücher.example');
  const [mail] = await messagesFor('dora@xn--bcher-kva.example');
  assert.ok(mail !== undefined);
  assert.deepEqual(Object.keys(mail).sort(), ['at', 'html', 'id', 'subject', 'text', 'to']);
  assert.equal(mail.id, first);
  assert.equal(mail.subject, 'A test of mail');
  assert.match(mail.html, /^<!doctype html>/);
  assert.ok(Math.abs(Date.parse(mail.at) - Date.now()) < 60_000);
  const second = await sendTest('dora@bücher.example');
  const both = await messagesFor('DORA@bücher.example', 2);
  assert.deepEqual(
    both.map(({ id }) => id),
    [second, first],
  );
  assert.deepEqual(await messages('nobody@example.com'), []);
  assert.deepEqual(await messages('no address'), []);
});

test('the state of mail counts what was sent, and an event says who tested', async () => {
  const id = await sendTest('emil@example.com');
  await messagesFor('emil@example.com');
  let mail: Record<string, unknown> = {};
  for (;;) {
    const reply = await adminApi('GET', '/mail');
    assert.equal(reply.status, 200, reply.text);
    mail = reply.json.mail as typeof mail;
    const { queued, sent } = mail.counts as { queued: number; sent: number };
    if (queued === 0 && sent > 0) break;
    await sleep(10);
  }
  assert.deepEqual([mail.configured, mail.oldest_queued_at], [true, null]);
  const events = await everything(adminApi, `/audit?subject=mail:${id}`);
  assert.deepEqual(
    events.map(({ action }) => action),
    ['mail.test'],
  );
  assert.doesNotMatch(JSON.stringify(events), /emil/);
});

test('an administrator alone tests mail, and to an address alone', async () => {
  const account = await bed.account();
  for (const [method, path] of [
    ['GET', '/mail'],
    ['POST', '/mail/test'],
  ] as const) {
    const body = method === 'GET' ? {} : { body: { to: 'a@example.com' } };
    const mine = await adminApi(method, path, { session: account.sessionToken, ...body });
    assert.equal(mine.status, 403);
  }
  for (const to of ['nobody', 'a@b@', 'a@example.com, b@example.com', 'A <a@example.com>']) {
    const { status, code, details } = refusal(
      await adminApi('POST', '/mail/test', { body: { to } }),
    );
    assert.deepEqual([status, code, details.path], [400, 'invalid_request', 'to'], to);
  }
  const lines = await adminApi('POST', '/mail/test', { body: { to: 'a@example.com\r\nBcc: b' } });
  assert.equal(lines.status, 400);
});

test('the mailbox is for programs and pages on this machine, and for nobody else', async () => {
  const paths = ['', '/messages', '/page.js', '/page.css'].map((end) => `/dev/mailbox${end}`);
  const { host } = new URL(bed.url);
  const welcome = [
    {},
    { origin: `http://${host}` },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { host: 'localhost:1' },
  ];
  const refused: Record<string, string>[] = [
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { origin: 'http://localhost:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { host: 'evil.test' },
    { host: '127.0.0.1.evil.test' },
    { 'x-forwarded-for': '127.0.0.1' },
    { forwarded: 'for=127.0.0.1' },
    { via: '1.1 proxy' },
  ];
  for (const path of paths) {
    for (const headers of welcome) assert.equal(await visit(path, headers), 200, path);
    for (const headers of refused) {
      assert.equal(await visit(path, headers), 403, `${path} ${JSON.stringify(headers)}`);
    }
  }
  await sendTest('frida@example.com');
  await messagesFor('frida@example.com');
  for (const headers of refused) {
    assert.equal(await visit('/dev/mailbox/messages', headers, 'DELETE'), 403);
  }
  assert.equal((await messages('frida@example.com')).length, 1);
});

test('other sites are not let read it by CORS either', async () => {
  const reply = await fetch(`${bed.dev.mailbox_url}/messages`, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.test', 'access-control-request-method': 'DELETE' },
  });
  assert.equal(reply.headers.get('access-control-allow-origin'), null);
  await reply.arrayBuffer();
});

test('it is emptied', async () => {
  await sendTest('gerd@example.com');
  await messagesFor('gerd@example.com');
  const reply = await fetch(`${bed.dev.mailbox_url}/messages`, { method: 'DELETE' });
  assert.equal(reply.status, 200);
  assert.deepEqual(await reply.json(), { ok: true });
  assert.deepEqual(await messages(), []);
});
