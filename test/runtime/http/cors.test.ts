// Which headers let another origin read a reply, whole: one that is missing or too many shows in no
// client but a browser, and in a cache between only later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCors, type HeaderPair } from '../../../runtime/http/cors.ts';

const web = 'https://app.example';
const cors = createCors(web, ['x-request-id', 'retry-after']);
const exposed = ['access-control-expose-headers', 'x-request-id, retry-after'] as const;
const asked = { headers: undefined, methods: 'GET, POST' };

function value(headers: readonly HeaderPair[], name: string): string | undefined {
  return headers.find(([each]) => each === name)?.[1];
}

test('who may read a reply, and what of it', () => {
  const everybody = [['access-control-allow-origin', '*'], exposed];
  assert.deepEqual(cors.replyHeaders('public', 'https://any.example'), everybody);
  assert.deepEqual(cors.replyHeaders('none', web), []);
  assert.deepEqual(cors.replyHeaders('web', web), [
    ['access-control-allow-origin', web],
    ['access-control-allow-credentials', 'true'],
    exposed,
    ['vary', 'origin'],
  ]);
  // A cache must not give a stranger's reply to the web origin.
  for (const origin of [undefined, 'https://app.example.evil', 'null']) {
    assert.deepEqual(cors.replyHeaders('web', origin), [['vary', 'origin']]);
  }
  assert.deepEqual(createCors(null, []).replyHeaders('web', undefined), [['vary', 'origin']]);
});

test('a preflight is allowed for the web origin alone, and varies with what was asked', () => {
  const allowed = cors.preflightHeaders('web', { ...asked, origin: web });
  assert.equal(value(allowed, 'access-control-allow-methods'), 'GET, POST');
  assert.equal(value(allowed, 'access-control-allow-credentials'), 'true');
  assert.equal(value(allowed, 'vary'), 'origin, access-control-request-headers');
  assert.equal(allowed.filter(([name]) => name === 'vary').length, 1);
  const stranger = cors.preflightHeaders('web', { ...asked, origin: 'https://other.example' });
  assert.deepEqual(stranger, [['vary', 'origin']]);
});

test('names of headers are echoed where they are a list of tokens and nothing else', () => {
  const echoed = (headers: string) =>
    value(
      cors.preflightHeaders('public', { ...asked, headers, origin: undefined }),
      'access-control-allow-headers',
    );
  assert.equal(echoed('x-stainless-os, x-other'), 'x-stainless-os, x-other');
  for (const bad of ['x\r\nset-cookie: a=b', 'é', 'a'.repeat(2_049), '']) {
    assert.match(echoed(bad) ?? '', /^authorization, content-type/);
  }
});
