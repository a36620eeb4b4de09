// Where a person is sent after signing in: only to pages of ours that are listed, in the one
// spelling that they have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { returnPath, signInPath } from '../../../../routes/pages/identity/browser/return-to.ts';
import { fc } from '../../../harness/properties.ts';

test('listed pages keep their query and fragment', () => {
  for (const path of [
    '/account',
    '/account/sessions',
    '/account/apps',
    '/account#address',
    '/oauth/device',
    '/oauth/authorize?client_id=a&state=a%2Fb%3F&redirect_uri=http%3A%2F%2F127.0.0.1%2Fb',
    '/console',
    '/console/organizations/org_1?tab=usage',
    '/voice',
    '/video',
    '/search?q=//evil.example',
  ]) {
    assert.equal(returnPath(path), path);
  }
});

test('nothing leads to another host, in whatever spelling', () => {
  for (const asked of [
    '',
    null,
    undefined,
    'account',
    'https://evil.example/account',
    'http:/account',
    '//evil.example',
    '//evil.example/account',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    ' /account',
    '/%2F/evil.example',
    '%2F%2Fevil.example',
    '/%5Cevil.example',
    '/.//evil.example',
    '/account/../\\evil.example',
    '/account/..//evil.example',
    '/@evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '/account\r\nset-cookie: a=b',
  ]) {
    assert.equal(returnPath(asked), '/account', JSON.stringify(asked));
  }
});

test('pages that are not listed are none, nor other spellings of listed ones', () => {
  for (const asked of [
    '/',
    '/signin?return_to=/account',
    '/api/auth/session',
    '/oauth/authorize/decision',
    '/oauth/token',
    '/oauth/Device',
    '/oauth/device/',
    '/oauth/%64evice',
    '/account/',
    '/accounts',
    '/account/keys',
    '/consoles',
    '/console/../api/auth/session',
    '/console/%2e%2e/api',
    '/voices',
    '/video/session',
    `/search?q=${'x'.repeat(12_000)}`,
  ]) {
    assert.equal(returnPath(asked), '/account', asked);
  }
});

test('what comes out is a path of this origin, and comes out of itself', () => {
  const piece = fc.constantFrom('/', '\\', '.', '%2e', '%2f', '?', '#', '@', ':', '\t', 'x', 'é');
  const start = fc.constantFrom('/account', '/console', '/oauth/device', '//', '/', '');
  const texts = fc.tuple(start, fc.array(piece)).map(([head, rest]) => head + rest.join(''));
  fc.assert(
    fc.property(fc.oneof(texts, fc.string({ unit: 'binary' })), (asked) => {
      const path = returnPath(asked);
      assert.match(path, /^\/[a-z]/);
      const url = new URL(path, 'http://127.0.0.1:8787/signin');
      assert.equal(url.origin, 'http://127.0.0.1:8787');
      assert.match(url.pathname, /^\/(account|console|oauth\/device)/);
      assert.equal(returnPath(path), path);
    }),
  );
});

test('the page for signing in carries the whole of it, and gives it back', () => {
  const target = '/oauth/authorize?client_id=a&state=%26return_to%3D%2F%2Fevil#x';
  const path = signInPath(target);
  const read = new URL(path, 'http://127.0.0.1').searchParams;
  assert.deepEqual([...read.keys()], ['return_to']);
  assert.equal(returnPath(read.get('return_to')), target);
  assert.match(signInPath('/account', { again: true }), /&reauthenticate=1$/);
});
