// Credentials and bodies stay with the origin that they were given for, whatever a redirect says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type FarSide,
  farSide,
  guardOver,
  quickUse,
  reasonOf,
  redirect,
  response,
} from './far-side.ts';

/** Two origins; the path says where the first one leads, with which status. */
async function twoOrigins(t: { after(end: () => void): void }) {
  const other = await farSide((socket, head) => {
    socket.end(head.includes('/back') ? redirect(`${far.url}/end`, 307) : response('other'));
  });
  const far: FarSide = await farSide((socket, head) => {
    const [, where = '', status = ''] = /^[A-Z]+ \/([a-z]+)(\d*)/.exec(head) ?? [];
    const locations: Record<string, string> = {
      same: '/end',
      other: `${other.url}/end`,
      back: `${other.url}/back`,
    };
    const location = locations[where];
    socket.end(location === undefined ? response('end') : redirect(location, Number(status)));
  });
  t.after(() => {
    other.close();
    far.close();
  });
  const exceptions = [far, other].map(({ port }) => `127.0.0.1:${port}`);
  return { far, other, fetch: guardOver({}, { exceptions }).fetch };
}

const bodyOf = (request = '') => request.slice(request.indexOf('\r\n\r\n') + 4);

test('credentials go to their origin alone, and not again once it was left', async (t) => {
  const { far, other, fetch } = await twoOrigins(t);
  const secret = { authorization: 'Bearer secret-1', 'x-goog-api-key': 'secret-2' };
  const credentials = { origin: far.url, headers: secret };
  const call = { credentials, headers: { 'X-Plain': 'everywhere' } };
  for (const path of ['same302', 'other302', 'other307', 'back302']) {
    assert.equal(reasonOf(await fetch(`${far.url}/${path}`, quickUse, call)), 'status 200', path);
  }
  const knows = ({ requests }: FarSide) => requests.map((request) => /secret/.test(request));
  // The last one is the way back: a stranger has sent us there.
  assert.deepEqual(knows(far), [true, true, true, true, true, false]);
  assert.deepEqual(knows(other), [false, false, false]);
  for (const request of [...far.requests, ...other.requests]) {
    assert.match(request, /\r\nx-plain: everywhere\r\n/);
    assert.doesNotMatch(request, /referer|cookie/i);
  }
  const elsewhere = { credentials: { origin: other.url, headers: secret } };
  await fetch(`${far.url}/end`, quickUse, elsewhere);
  await fetch(`${far.url}/other302`, quickUse, elsewhere);
  assert.equal(knows(far).includes(true, 6), false, 'they are another origin’s');
  assert.equal(knows(other).includes(true), false, 'and a redirect to it is a stranger’s word');
});

test('a body is sent again within its origin, and nowhere else', async (t) => {
  const { far, other, fetch } = await twoOrigins(t);
  const headers = { 'content-type': 'application/json' };
  const call = { method: 'POST', body: '{"a":1}', headers };
  assert.equal(reasonOf(await fetch(`${far.url}/same307`, quickUse, call)), 'status 200');
  assert.deepEqual(far.requests.map(bodyOf), ['{"a":1}', '{"a":1}']);
  assert.equal(reasonOf(await fetch(`${far.url}/other308`, quickUse, call)), 'source_refused');
  assert.equal(other.connections, 0);
  for (const status of [301, 302, 303]) {
    const reply = await fetch(`${far.url}/other${status}`, quickUse, call);
    assert.equal(reasonOf(reply), 'status 200');
    const last = other.requests.at(-1) ?? '';
    assert.match(last, /^GET \/end /);
    assert.doesNotMatch(last, /content-type|\{/);
  }
});

test('the environment of the process names no proxy to the guard', async (t) => {
  const { far, fetch } = await twoOrigins(t);
  const proxy = await farSide(response('proxy'));
  t.after(() => proxy.close());
  const names = ['http_proxy', 'HTTP_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = proxy.url;
  try {
    assert.equal(reasonOf(await fetch(`${far.url}/end`)), 'status 200');
  } finally {
    for (const [index, name] of names.entries()) {
      const value = before[index];
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  }
  assert.equal(proxy.connections, 0);
});
