// Whatever is sent to the routes of signing in, they answer as documented, and never with a 500.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fc } from '../../harness/properties.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { IdentityBed } from './bed.ts';

let bed: Testbed;
let identity: IdentityBed;
before(async () => {
  bed = await openTestbed();
  identity = await IdentityBed.over(bed);
});
after(() => bed.close());

const members: Record<string, fc.Arbitrary<unknown>> = {
  email: fc.oneof(
    fc.emailAddress(),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.constantFrom(
      "o'hara@example.com",
      '"><script>@example.com',
      'a@xn--a.example',
      `${'a'.repeat(64)}@${'b'.repeat(63)}.example`,
      'a@example.com\r\nBcc: b@example.com',
      '\u0000@example.com',
    ),
  ),
  purpose: fc.constantFrom('login', 'signup', 'login_or_signup', 'other', null),
  code: fc.oneof(fc.stringMatching(/^[0-9]{6}$/), fc.string({ unit: 'binary', maxLength: 12 })),
  challenge_id: fc.oneof(fc.string({ unit: 'binary', maxLength: 120 }), fc.constant('otp_0')),
  full_name: fc.string({ unit: 'binary', maxLength: 130 }),
  terms_accepted: fc.constantFrom(true, false, 'true', 1),
  referral_code: fc.string({ unit: 'binary', maxLength: 70 }),
  restore: fc.constantFrom(true, false, null),
  password: fc.string({ unit: 'binary', maxLength: 1_100 }),
  new_password: fc.string({ unit: 'binary', maxLength: 200 }),
  current_password: fc.string({ unit: 'binary', maxLength: 200 }),
  __proto__x: fc.anything(),
};
const body = fc.oneof(
  { weight: 8, arbitrary: fc.record(members, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const text = fc.oneof(
  { weight: 8, arbitrary: body.map((value) => JSON.stringify(value) ?? '') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
);
const cookie = fc.stringMatching(/^[ -~]{0,80}$/).map((value) => `svc_otp=${value}`);

const paths = [
  '/api/auth/otp/request',
  '/api/auth/otp/verify',
  '/api/auth/logout',
  '/api/app/auth/register',
  '/api/app/auth/login',
  '/api/app/auth/email/code',
  '/api/app/auth/email/verify',
  '/api/app/auth/password/change',
  '/api/app/auth/password/reset',
  '/api/app/auth/password/reset/confirm',
  '/api/app/auth/logout',
];

test('hostile bodies and cookies are answered as documented', async () => {
  const { headers } = await identity.register();
  // The last one ends the session of those before it.
  for (const path of paths) {
    await fc.assert(
      fc.asyncProperty(text, cookie, async (sent, shown) => {
        const hasBody = !/\/(logout|email\/code)$/.test(path);
        const signedIn = /email|change|app\/auth\/logout/.test(path) ? headers : {};
        const reply = await identity.contract.call('POST', path, {
          headers: { ...signedIn, cookie: shown },
          ...(hasBody ? { body: sent } : {}),
        });
        assert.ok(reply.status < 500, `${reply.status} ${reply.text}`);
      }),
      { numRuns: 25 },
    );
  }
});

test('what is more than a body is refused, and names with markup stay text', async () => {
  const email = 'p@example.com';
  const closed = await identity.post('/api/auth/otp/request', { email, purpose: 'login', x: 1 });
  assert.equal(closed.status, 400);
  const name = '<img src=x onerror=alert(1)> & "quoted" \u{1f600}';
  const { user } = await identity.signUp(undefined, name);
  assert.equal(user.full_name, name);
});
