// What the guard must not do: no packet leaves for what is none of the web, however it is written,
// resolved or redirected to. Listeners count connections, and the resolver what it was asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { farSide, guardOver, quickUse, reasonOf, redirect, response } from './far-side.ts';

test('no spelling of this machine is connected to, and no name is asked for it', async (t) => {
  const far = await farSide(response('inside'));
  t.after(() => far.close());
  const { fetch, asked, lines } = guardOver({});
  for (const host of [
    ...['127.0.0.1', '127.0.0.1.', '0x7f.1', '2130706433', '0177.0.0.1', '127.1', '０x7f.1'],
    ...['[::ffff:7f00:1]', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
    ...['[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::1]', '0.0.0.0', '[::]'],
    ...['localhost', 'LOCALHOST.', 'a.localhost', 'metadata.google.internal', 'db.internal'],
    ...['169.254.169.254', '[fe80::1]', '[fd00:ec2::254]', 'printer.local', 'single'],
  ]) {
    for (const port of [far.port, 80, 443]) {
      const reply = await fetch(`http://${host}:${port}/`);
      assert.ok(!reply.ok, host);
      assert.equal(reply.reason, 'source_refused', host);
      assert.doesNotMatch(reply.message, /\d/, 'it tells no address');
    }
  }
  assert.equal(far.connections, 0);
  assert.deepEqual(asked, []);
  assert.deepEqual(Object.keys(lines[0] ?? {}).sort(), [
    ...['detail', 'host', 'hostname', 'level', 'msg', 'pid', 'reason', 'time', 'use'],
  ]);
});

test('one address that is not public refuses all of a name', async (t) => {
  const far = await farSide(response('inside'));
  t.after(() => far.close());
  const { fetch, asked } = guardOver({
    'two.example.com': ['93.184.216.34', '127.0.0.1'],
    'six.example.com': ['2606:4700::1111', '::1'],
    'mapped.example.com': ['::ffff:127.0.0.1'],
    'nat64.example.com': ['64:ff9b::7f00:1'],
    'zone.example.com': ['fe80::1%lo'],
    'cloud.example.com': ['169.254.169.254'],
    'nothing.example.com': [],
    'many.example.com': Array.from({ length: 65 }, (_, index) => `93.184.216.${index}`),
  });
  for (const name of ['two', 'six', 'mapped', 'nat64', 'zone', 'cloud', 'many']) {
    assert.equal(reasonOf(await fetch(`http://${name}.example.com/`)), 'source_refused', name);
  }
  assert.equal(reasonOf(await fetch('http://nothing.example.com/')), 'source_unreachable');
  assert.equal(reasonOf(await fetch('http://unknown.example.com/')), 'source_unreachable');
  assert.equal(far.connections, 0);
  assert.equal(asked.length, 9, 'each name is resolved once');
});

test('a name is resolved once, so one that changes its mind gains nothing', async (t) => {
  const good = await farSide(response('good'));
  const bad = await farSide(response('inside'), '127.0.0.9');
  t.after(() => {
    good.close();
    bad.close();
  });
  let turn = 0;
  const names = {
    'rebind.example.com': () => {
      turn += 1;
      return [turn % 2 === 1 ? '127.0.0.1' : '127.0.0.9'];
    },
  };
  const { fetch, asked } = guardOver(names, { exceptions: [`127.0.0.1:${good.port}`] });
  const first = await fetch(`http://rebind.example.com:${good.port}/`);
  assert.ok(first.ok);
  assert.equal(String(await first.bytes().then((read) => read.ok && read.bytes)), 'good');
  assert.deepEqual(asked, ['web rebind.example.com']);
  const second = await fetch(`http://rebind.example.com:${good.port}/`);
  assert.equal(reasonOf(second), 'source_refused', 'and judged anew each time');
  assert.equal(bad.connections, 0);
});

test('a redirect goes through all of it', async (t) => {
  const inside = await farSide(response('inside'), '127.0.0.9');
  const targets = [
    'http://169.254.169.254/latest/meta-data/',
    `http://127.0.0.9:${inside.port}/`,
    `http://[::ffff:127.0.0.9]:${inside.port}/`,
    `http://0x7f.9:${inside.port}/`,
    `//127.0.0.9:${inside.port}/`,
    'http://inside.example.com/',
    'http://metadata.google.internal/',
    'http://user:pass@public.example.com/',
    'ftp://public.example.com/',
    'file:///etc/passwd',
    'http://[::1%25lo]/',
    `http://public.example.com/${'a'.repeat(2_048)}`,
  ];
  const far = await farSide((socket, head) => {
    const index = Number(/^GET \/(\d+)/.exec(head)?.[1]);
    socket.end(redirect(targets[index] ?? '', 301 + (index % 2)), 'latin1');
  });
  t.after(() => {
    inside.close();
    far.close();
  });
  const names = { 'public.example.com': ['127.0.0.1'], 'inside.example.com': ['10.0.0.1'] };
  const { fetch } = guardOver(names, { exceptions: [`127.0.0.1:${far.port}`] });
  for (const [index, target] of targets.entries()) {
    const reply = await fetch(`http://public.example.com:${far.port}/${index}`);
    assert.equal(reasonOf(reply), 'source_refused', target);
  }
  assert.equal(far.connections, targets.length);
  assert.equal(inside.connections, 0);
});

test('circles and long ways of redirects end', async (t) => {
  const far = await farSide((socket, head) => {
    const [, path = '', digits = ''] = /^GET \/([a-z]+)(\d*)/.exec(head) ?? [];
    if (path === 'circle') socket.end(redirect(digits === '' ? '/circle1' : '/circle'));
    else if (path === 'self') socket.end(redirect('#again'));
    else if (Number(digits) > 0) socket.end(redirect(`far${Number(digits) - 1}`, 307));
    else socket.end(response('there'));
  });
  t.after(() => far.close());
  const { fetch } = guardOver({}, { exceptions: [`127.0.0.1:${far.port}`] });
  assert.equal(reasonOf(await fetch(`${far.url}/circle`)), 'source_refused');
  assert.equal(far.connections, 2);
  assert.equal(reasonOf(await fetch(`${far.url}/self`)), 'source_refused');
  const fifth = await fetch(`${far.url}/far5#fragment`);
  assert.ok(fifth.ok);
  assert.equal(fifth.url, `${far.url}/far0`);
  fifth.close();
  assert.equal(reasonOf(await fetch(`${far.url}/far6`)), 'source_refused');
  const none = { ...quickUse, redirectsMax: 0 };
  assert.equal(reasonOf(await fetch(`${far.url}/far1`, none)), 'source_refused');
  assert.equal(reasonOf(await fetch(`${far.url}/far0`, none)), 'status 200');
});

test('a redirect may be bound to its origin', async (t) => {
  const other = await farSide(response('other'));
  const far = await farSide((socket, head) => {
    socket.end(redirect(head.startsWith('GET /out') ? `${other.url}/` : '/out'));
  });
  t.after(() => {
    other.close();
    far.close();
  });
  const exceptions = [far, other].map(({ port }) => `127.0.0.1:${port}`);
  const { fetch } = guardOver({}, { exceptions });
  const bound = { ...quickUse, redirectsTo: 'same_origin' } as const;
  assert.equal(reasonOf(await fetch(`${far.url}/in`, bound)), 'source_refused');
  assert.equal(far.connections, 2);
  assert.equal(other.connections, 0);
  assert.equal(reasonOf(await fetch(`${far.url}/in`)), 'status 200');
});
