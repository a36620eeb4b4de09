// How cookies of signing in are set: out of reach of scripts, for one host, and over https alone
// wherever there is https.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  expireSessionCookie,
  setChallengeCookie,
  setSessionCookies,
} from '../../../routes/identity/cookies.ts';

/** The cookies that are set with these origins. */
function linesWith(webUrl: string, baseUrl: string, tlsCertPath: string | null = null): string[] {
  const lines: string[] = [];
  const exchange = {
    setHeader(name: string, value: string) {
      assert.equal(name, 'set-cookie');
      lines.push(value);
    },
  };
  const config = { webUrl, baseUrl, tlsCertPath };
  setChallengeCookie(exchange, config, 'otp_a');
  setSessionCookies(exchange, config, { token: 'svc_web_a', browser: 'b' });
  expireSessionCookie(exchange, config);
  return lines;
}

test('cookies are secure wherever there is https, and never name a domain', () => {
  const plain = 'http://127.0.0.1:8787';
  const safe = 'https://tollgate.test';
  for (const [lines, isSecure] of [
    [linesWith(plain, plain), false],
    [linesWith(safe, safe), true],
    [linesWith(safe, plain), true],
    [linesWith(plain, safe), true],
    [linesWith(plain, plain, '/cert.pem'), true],
  ] as const) {
    assert.equal(lines.length, 5);
    for (const line of lines) {
      assert.match(
        line,
        /^svc_(otp|session|browser)=[^;]*; Path=\/; HttpOnly; SameSite=(Lax|Strict);/,
      );
      assert.equal(/; Secure$/.test(line), isSecure, line);
      assert.doesNotMatch(line, /Domain/i);
      assert.equal(line.startsWith('svc_session='), line.includes('SameSite=Lax'));
    }
  }
});
