// Redirect URIs: what may be registered, and what a request may name (RFC 8252, RFC 9700).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answerTo,
  isRegistered,
  redirectFault,
  redirectKindOf,
  shownRedirect,
} from '../../../actors/oauth/redirect.ts';
import { fc } from '../../harness/properties.ts';

test('https, loopback and a scheme of its own may be registered', () => {
  const cases = {
    'https://app.example.com/callback': 'https',
    'https://app.example.com:8443/cb?tenant=1': 'https',
    'https://xn--bcher-kva.example/': 'https',
    'http://127.0.0.1/callback': 'loopback',
    'http://127.0.0.1:3000/callback': 'loopback',
    'http://[::1]/callback': 'loopback',
    'http://localhost/callback': 'loopback',
    'svc-desktop:/callback': 'private',
    'com.example.app:/callback': 'private',
    'cursor://anysphere.cursor/callback': 'private',
  };
  for (const [uri, kind] of Object.entries(cases)) {
    assert.equal(redirectFault(uri), null, uri);
    assert.equal(redirectKindOf(uri), kind, uri);
  }
});

test('everything else is refused when it is registered', () => {
  for (const uri of [
    '',
    'callback',
    '/callback',
    '//evil.example/',
    'http://app.example.com/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://127.0.0.1@evil.example/callback',
    'http://localhost.evil.example/callback',
    'http://127.1/callback',
    'http://0x7f000001/callback',
    'http://127.0.0.1:0/callback',
    'http://127.0.0.1:99999/callback',
    'https://user@app.example.com/callback',
    'https://user:secret@app.example.com/callback',
    'https://app.example.com/callback#part',
    'https://app.example.com/*',
    'https://*.example.com/callback',
    'https://APP.example.com/callback',
    'https://bücher.example/',
    'https://0x7f.1/',
    'https:app.example.com',
    'https:/app.example.com',
    'https:\\\\app.example.com',
    'https://app.example.com\\@evil.example/',
    'https://app.example.com/a b',
    'https://app.example.com/\n',
    'https:///callback',
    'javascript:alert(1)',
    'javascript://app.example.com/%0aalert(1)',
    'JavaScript:/callback',
    'data:text/html,x',
    'data:/x',
    'file:///etc/passwd',
    'vbscript:/x',
    'blob:/x',
    'ms-settings:/x',
    'search-ms:/x',
    'mailto:/x',
    'intent://scan/',
    'svc-desktop:callback',
    'svc-desktop://user@host/callback',
    `https://app.example.com/${'a'.repeat(500)}`,
  ]) {
    assert.notEqual(redirectFault(uri), null, uri);
  }
});

test('a request names one of them exactly; a loopback address with any port', () => {
  const registered = [
    'https://app.example.com/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:1/callback',
    'svc-desktop:/callback',
  ];
  for (const asked of [
    ...registered,
    'http://127.0.0.1:1/callback',
    'http://127.0.0.1:65535/callback',
    'http://[::1]/callback',
    'http://[::1]:8000/callback',
  ]) {
    assert.ok(isRegistered(registered, asked), asked);
  }
  for (const asked of [
    '',
    'https://app.example.com/callback/',
    'https://app.example.com/Callback',
    'https://app.example.com/callback?x=1',
    'https://app.example.com/callback#x',
    'https://app.example.com/%63allback',
    'https://app.example.com/x/../callback',
    'https://app.example.com:443/callback',
    'https://app.example.com.evil.example/callback',
    'https://app.example.com@evil.example/callback',
    'http://app.example.com/callback',
    'http://127.0.0.1.evil/callback',
    'http://127.0.0.1.evil:80/callback',
    'http://127.0.0.1:80@evil.example/callback',
    'http://user@127.0.0.1/callback',
    'http://localhost/callback',
    'http://127.0.0.2/callback',
    'http://0177.0.0.1/callback',
    'http://2130706433/callback',
    'http://[::ffff:127.0.0.1]/callback',
    'http://[0:0:0:0:0:0:0:1]/callback',
    'http://127.0.0.1:/callback',
    'http://127.0.0.1:0/callback',
    'http://127.0.0.1:65536/callback',
    'http://127.0.0.1:80x/callback',
    'http://127.0.0.1/callback/../x',
    'http://127.0.0.1/callback?x',
    'http://127.0.0.1\\callback',
    'https://127.0.0.1/callback',
    'HTTP://127.0.0.1/callback',
    'svc-desktop://callback',
    'svc-desktop:/callback2',
  ]) {
    assert.ok(!isRegistered(registered, asked), asked);
  }
});

test('whatever is asked, a browser goes to a registered origin or nowhere', () => {
  const registered = ['https://app.example.com/cb', 'http://127.0.0.1/cb', 'http://localhost/cb'];
  const origins = new Set(['https://app.example.com', 'http://127.0.0.1', 'http://localhost']);
  const piece = fc.constantFrom(
    ...['https:', 'http:', '//', '/', '\\', '@', ':', '80', '.', '#', '?', '%2f', '%40', '\t', ' '],
    ...['127.0.0.1', 'localhost', 'app.example.com', 'evil.example', '[::1]', 'cb', '0', '\u3002'],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const asked = pieces.join('');
      if (!isRegistered(registered, asked)) return;
      const { protocol, hostname, pathname, username } = new URL(asked);
      assert.ok(origins.has(`${protocol}//${hostname}`), asked);
      assert.deepEqual([pathname, username], ['/cb', '']);
    }),
    { numRuns: 20_000 },
  );
});

test('an answer is added to the query that there is', () => {
  const members = { code: 'a b', iss: 'https://i.example' };
  const added = 'code=a+b&iss=https%3A%2F%2Fi.example';
  assert.equal(answerTo('svc-desktop:/callback', members), `svc-desktop:/callback?${added}`);
  assert.equal(answerTo('https://a.example/cb?t=1', members), `https://a.example/cb?t=1&${added}`);
  assert.equal(answerTo('https://a.example/cb?', members), `https://a.example/cb?${added}`);
});

test('people are shown the host, or the scheme that no host stands behind', () => {
  assert.deepEqual(shownRedirect('https://a.example:8443/cb?x=1'), {
    kind: 'https',
    shown: 'a.example:8443',
  });
  assert.deepEqual(shownRedirect('http://127.0.0.1:91/cb').kind, 'loopback');
  assert.deepEqual(shownRedirect('svc-desktop:/cb'), { kind: 'private', shown: 'svc-desktop:' });
});
