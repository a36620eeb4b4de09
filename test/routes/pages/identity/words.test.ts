// What pages make of what people type, and what they tell them, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRefusal } from '../../../../routes/pages/identity/browser/call.ts';
import {
  deviceCode,
  digitsOf,
  isWholeCode,
  isWholeDeviceCode,
} from '../../../../routes/pages/identity/browser/code.ts';
import {
  durationText,
  limitText,
  redirectText,
  scopeLines,
} from '../../../../routes/pages/identity/browser/scopes.ts';
import {
  agoText,
  networkText,
  programText,
  refusalText,
  waitText,
} from '../../../../routes/pages/identity/browser/words.ts';
import { fc } from '../../../harness/properties.ts';

test('digits of a code are found in whatever a mail puts around them', () => {
  assert.equal(digitsOf('123 456'), '123456');
  assert.equal(digitsOf(' 123-456\n'), '123456');
  assert.equal(digitsOf('１２３４５６'), '123456', 'in another script');
  assert.equal(digitsOf('Your code: 123456'), '123456');
  assert.equal(digitsOf('1234567'), '123456');
  assert.ok(isWholeCode(digitsOf('123 456')));
  assert.ok(!isWholeCode(digitsOf('12345')));
});

test('the code of a device gets its dash and its capitals, and the caret stays in place', () => {
  assert.deepEqual(deviceCode('bcdf', 4), { text: 'BCDF', caret: 4 });
  assert.deepEqual(deviceCode('BCDFg', 5), { text: 'BCDF-G', caret: 6 });
  assert.deepEqual(deviceCode('bcdf ghjk', 9), { text: 'BCDF-GHJK', caret: 9 });
  assert.deepEqual(deviceCode('BCDF-GHJKLM', 11), { text: 'BCDF-GHJK', caret: 9 });
  assert.deepEqual(deviceCode('BCDF-', 5), { text: 'BCDF', caret: 4 }, 'a dash is never left over');
  assert.deepEqual(deviceCode('BxCDF-GHJ', 2), { text: 'BXCD-FGHJ', caret: 2 }, 'in the middle');
  assert.deepEqual(deviceCode('a1e0', 4), { text: '', caret: 0 }, 'no device shows these');
  assert.ok(isWholeDeviceCode('bcdf-ghjk'));
  assert.ok(!isWholeDeviceCode('BCDF-GHJ'));
});

test('whatever is typed, the code of a device has its form, and keeps it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, caret) => {
      const typed = deviceCode(text, caret);
      assert.match(typed.text, /^([BCDFGHJKLMNPQRSTVWXZ]{0,4}|[B-Z]{4}-[B-Z]{1,4})$/);
      assert.ok(typed.caret <= typed.text.length);
      assert.equal(deviceCode(typed.text, typed.caret).text, typed.text);
    }),
  );
});

test('what an app may do is told line by line, and an unknown scope is not hidden', () => {
  assert.deepEqual(scopeLines(['profile', 'offline_access', 'email']), [
    'See your name',
    'See your email address',
  ]);
  assert.deepEqual(scopeLines(['offline_access']), ['Know that it is you, and nothing else']);
  assert.deepEqual(scopeLines(['toString']), ['Use “toString”']);
  assert.match(durationText(['profile', 'offline_access']), /Until you disconnect it/);
  assert.match(durationText(['profile']), /one hour/);
  assert.match(limitText(['app']), /delete your account/);
  assert.match(limitText(['profile']), /spend your credits/);
});

test('where an answer goes is told by what can be known of it', () => {
  assert.equal(redirectText({ kind: 'https', shown: 'a.example' }), 'a.example');
  assert.match(redirectText({ kind: 'loopback', shown: '[::1]:1' }), /this computer \(\[::1\]:1\)/);
  assert.match(
    redirectText({ kind: 'private', shown: 'svc-desktop:' }),
    /opens “svc-desktop:” links/,
  );
});

test('times are told as long as people count them, and waiting is never told too short', () => {
  const nowMs = Date.parse('2026-11-27T12:00:00Z');
  const at = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString();
  assert.equal(agoText(at(-5), nowMs), 'just now', 'by a clock that is ahead');
  assert.equal(agoText(at(59), nowMs), 'just now');
  assert.equal(agoText(at(60), nowMs), '1 minute ago');
  assert.equal(agoText(at(3_599), nowMs), '59 minutes ago');
  assert.equal(agoText(at(7_200), nowMs), '2 hours ago');
  assert.equal(agoText(at(86_400), nowMs), 'yesterday');
  assert.match(agoText(at(60 * 86_400), nowMs), /^on Sep 28, 2026$/);
  assert.equal(waitText(0), '1 second');
  assert.equal(waitText(59.2), '60 seconds');
  assert.equal(waitText(91), '2 minutes');
  assert.equal(waitText(3_600), '60 minutes');
  assert.equal(waitText(7_201), '3 hours');
});

test('programs are called as people call them', () => {
  const mozilla = 'Mozilla/5.0 ';
  for (const [agent, name] of [
    [`${mozilla}(X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`, 'Firefox on Linux'],
    [`${mozilla}(Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0`, 'Edge on Windows'],
    [`${mozilla}(Macintosh; Intel Mac OS X 10_15) Version/18 Safari/605`, 'Safari on macOS'],
    [`${mozilla}(iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1`, 'Safari on iOS'],
    [`${mozilla}(Linux; Android 15) Chrome/140.0 Mobile Safari/537.36`, 'Chrome on Android'],
    ['svc-desktop/1.4.2 (macOS 15)', 'svc-desktop'],
    ['curl/8.5.0', 'curl'],
    ['', 'An unknown program'],
    [null, 'An unknown program'],
    ['/', 'An unknown program'],
  ] as const) {
    assert.equal(programText(agent), name);
  }
  assert.equal(networkText('203.0.113.0/24'), '203.0.113.x');
  assert.equal(networkText('2001:db8:12::/48'), '2001:db8:12:…');
});

test('refusals are read from both envelopes, and from none', () => {
  const headers = new Headers({ 'retry-after': '42' });
  const api = {
    ok: false,
    error: { code: 'forbidden', message: 'No.', details: { reason: 'deleting', path: 'a' } },
  };
  assert.deepEqual(readRefusal(403, headers, api), {
    status: 403,
    code: 'forbidden',
    reason: 'deleting',
    path: 'a',
    message: 'No.',
    retryAfter: 42,
  });
  const oauth = { error: 'invalid_grant', error_description: 'No.' };
  assert.deepEqual(readRefusal(400, new Headers(), oauth), {
    status: 400,
    code: 'invalid_grant',
    reason: null,
    path: null,
    message: 'No.',
    retryAfter: null,
  });
  for (const answer of [null, {}, { error: null }, 'nonsense']) {
    const refusal = readRefusal(502, new Headers(), answer);
    assert.equal(refusal.code, '');
    assert.match(refusalText(refusal), /does not work at the moment/);
  }
});
