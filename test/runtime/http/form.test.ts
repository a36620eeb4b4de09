// Forms and their refusals over real sockets: each parameter once, UTF-8, bounded.
// Refusals are pages for browsers, and one reply has several cookies.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { readCookie, writeCookie } from '../../../runtime/http/cookie.ts';
import { parseForm } from '../../../runtime/http/form.ts';
import { Problem } from '../../../runtime/problem.ts';
import { exchangeRaw, type Serving, serve, testRoute } from './serving.ts';

let serving: Serving;

before(async () => {
  serving = await serve([
    testRoute({
      method: 'POST',
      path: '/oauth/token',
      body: {
        kind: 'form',
        schema: v.object({ grant_type: v.string(), count: v.optional(v.number()) }),
        bytesMax: 16 * 1024,
      },
      handle: ({ body, exchange }) => {
        exchange.setHeader('set-cookie', 'a=1');
        exchange.setHeader('set-cookie', 'b=2');
        return { status: 200, json: body, headers: { 'set-cookie': 'c=3' } };
      },
    }),
    testRoute({
      path: '/shown',
      headers: { cookie: { description: 'Read later.' } },
      handle: async ({ exchange }) => {
        const early = exchange.header('cookie') ?? null;
        await new Promise((resolve) => setTimeout(resolve, 1));
        return { status: 200, json: { early, late: exchange.header('cookie') ?? null } };
      },
    }),
    testRoute({
      path: '/asked',
      query: v.object({ name: v.optional(v.string()) }),
      repeatedQuery: 'refused',
      refusals: 'page',
      handle: ({ query }) => {
        const { name } = query as { name?: string };
        if (name === 'bad') throw new Problem('forbidden', { message: '<b>no</b> & "no"' });
        if (name === 'bug') throw new Error('a bug');
        return { status: 200, json: query };
      },
    }),
  ]);
});
after(() => serving.stop());

const formType = 'application/x-www-form-urlencoded';

async function post(body: string | Uint8Array<ArrayBuffer>, type = formType) {
  const headers = { 'content-type': type };
  const reply = await fetch(`${serving.origin}/oauth/token`, { method: 'POST', body, headers });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

test('a form is read by its schema, which leaves out what it does not know', async () => {
  const reply = await post('grant_type=a%2Bb+c&count=3&other=1', `${formType}; charset=utf-8`);
  assert.equal(reply.status, 200);
  assert.deepEqual(JSON.parse(reply.text), { grant_type: 'a+b c', count: 3 });
  assert.deepEqual(reply.headers.getSetCookie(), ['a=1', 'b=2', 'c=3']);
});

test('what is no form, repeated, too much or no UTF-8 is refused by name', async () => {
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=b']) {
    assert.equal((await post('grant_type=a', type)).status, 415, type);
  }
  const many = Array.from({ length: 70 }, (_, index) => `p${index}=1`).join('&');
  const cases: [string | Uint8Array<ArrayBuffer>, RegExp][] = [
    ['grant_type=a&grant_type=a', /'grant_type' is repeated/],
    ['grant_type=a&x=1&x=2', /'x' is repeated/],
    ['__proto__=1&__proto__=2', /'__proto__' is repeated/],
    [`grant_type=a&${many}`, /More than 64/],
    [new Uint8Array([0x61, 0x3d, 0xff]), /not valid UTF-8/],
    ['', /grant_type/],
    ['grant_type=%00', /NUL/],
  ];
  for (const [body, words] of cases) {
    const reply = await post(body);
    assert.equal(reply.status, 400, String(body));
    assert.match(reply.text, words);
  }
  assert.equal((await post(`grant_type=${'a'.repeat(20_000)}`)).status, 413);
});

test('a form gives back what URLSearchParams writes', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string(), { maxKeys: 20 }), (fields) => {
      const well = Object.entries(fields).map(([k, x]) => [k.toWellFormed(), x.toWellFormed()]);
      const unique = Object.fromEntries(well);
      const bytes = Buffer.from(new URLSearchParams(unique).toString());
      assert.deepEqual({ ...parseForm(bytes) }, unique);
    }),
  );
});

async function ask(query: string, accept: string) {
  const reply = await fetch(`${serving.origin}/asked${query}`, { headers: { accept } });
  const type = reply.headers.get('content-type') ?? '';
  return { status: reply.status, type, text: await reply.text(), headers: reply.headers };
}

test('refusals of a page are pages, and JSON for whoever asks for that alone', async () => {
  const browser = 'text/html,application/xhtml+xml;q=0.9';
  for (const [query, status] of [
    ['?name=a&name=b', 400],
    ['?name=bad', 403],
    ['?name=bug', 500],
  ] as const) {
    const page = await ask(query, browser);
    assert.equal(page.status, status);
    assert.match(page.type, /^text\/html/);
    assert.match(page.text, /<html lang="en">/);
    assert.ok(!page.text.includes('<b>'), 'what is said is text');
    assert.ok(!page.text.includes('a bug'));
    assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    assert.equal(page.headers.get('cache-control'), 'no-store');
    const plain = await ask(query, 'application/json');
    assert.equal(plain.status, status);
    assert.match(plain.type, /^application\/json/);
  }
  assert.equal((await ask('?name=ok', browser)).status, 200);
});

test('a method that a path with pages has not is refused with a page as well', async () => {
  const url = `${serving.origin}/asked`;
  const page = await fetch(url, { method: 'DELETE', headers: { accept: 'text/html' } });
  assert.equal(page.status, 405);
  assert.equal(page.headers.get('allow'), 'GET, HEAD, OPTIONS');
  assert.match(await page.text(), /<html lang="en">/);
  const plain = await fetch(url, { method: 'DELETE', headers: { accept: 'Application/JSON' } });
  assert.equal(plain.status, 405);
  assert.ok('error' in ((await plain.json()) as object));
});

test('cookies are read by name, and two of one name are none', () => {
  const cases: [string | undefined, string | null][] = [
    [undefined, null],
    ['', null],
    ['a=1', '1'],
    ['x=2; a=1;b=3', '1'],
    ['a=1; a=2', null],
    ['a=1; a=1', null],
    ['a=', null],
    ['aa=1; ba=2', null],
    ['a=b=c', 'b=c'],
  ];
  for (const [header, value] of cases) assert.equal(readCookie(header, 'a'), value, header);
  const cookie = { name: 'a', value: 'v', maxAgeSeconds: 60, sameSite: 'Lax' as const };
  assert.equal(
    writeCookie({ ...cookie, isSecure: true }),
    'a=v; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure',
  );
  const unset = { ...cookie, maxAgeSeconds: null, sameSite: 'Strict' as const, path: '/api' };
  assert.equal(
    writeCookie({ ...unset, isSecure: false }),
    'a=v; Path=/api; HttpOnly; SameSite=Strict',
  );
});

test('cookies in several lines are read as one line of all of them', async () => {
  for (const [lines, wanted] of [
    [[], null],
    [['a=1; b=2'], 'a=1; b=2'],
    [['a=1', 'b=2', 'a=3'], 'a=1; b=2; a=3'],
  ] as const) {
    const cookies = lines.map((line) => `cookie: ${line}`);
    const head = ['GET /shown HTTP/1.1', 'host: a', 'connection: close', ...cookies, '', ''];
    const received = await exchangeRaw(serving.port, head.join('\r\n'));
    const body = JSON.parse(received.slice(received.indexOf('{')));
    assert.deepEqual(body, { early: wanted, late: wanted });
  }
});

test('what would change another part of a cookie is a bug, and is not told', () => {
  const good = {
    name: 'a',
    value: 'v',
    maxAgeSeconds: 60,
    sameSite: 'Lax',
    isSecure: true,
  } as const;
  for (const wrong of [
    { name: '' },
    { name: 'a=b' },
    { value: 'secret; Domain=evil.example' },
    { value: 'secret\r\nx-evil: 1' },
    { path: '/; Domain=evil.example' },
    { maxAgeSeconds: -1 },
    { maxAgeSeconds: 1.5 },
  ]) {
    assert.throws(
      () => writeCookie({ ...good, ...wrong }),
      ({ message }: Error) => /cannot be written/.test(message) && !message.includes('secret'),
    );
  }
});
