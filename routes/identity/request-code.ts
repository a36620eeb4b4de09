// POST /api/auth/otp/request: a code by mail. What is answered is alike for every address, and the
// mail leaves behind the answer.
import * as v from 'valibot';
import { sendCode } from '../../actors/identity/sending.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { askerOf, refuseForeignPage, requireAddress } from './asker.ts';
import { browserHeaders, setChallengeCookie } from './cookies.ts';
import { emailSchema, purposeSchema, sentSchema } from './schema.ts';

export const requestCode = defineRoute({
  method: 'POST',
  path: '/api/auth/otp/request',
  operationId: 'requestCode',
  summary: 'Send a one-time code',
  description:
    'The answer is alike for every address. With `login` an address without account gets no ' +
    'code but, once a day at most, a mail that says so. The cookie `svc_otp` names the ' +
    'challenge as `challenge_id` does: with it a further request adds a code to that challenge, ' +
    'whose two newest are good. Without it each request has a challenge of its own. Too many ' +
    'codes for an address or from a network are 429. A network or browser that signed in to the ' +
    'account before has a number of its own.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'web',
  headers: browserHeaders,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { email: 'person@example.com', purpose: 'login_or_signup' },
    schema: v.strictObject({ email: emailSchema, purpose: purposeSchema }),
  },
  replies: {
    200: {
      description: 'A code is on its way, where one is due.',
      schema: v.strictObject({ ...sentSchema, challenge_id: v.string() }),
      headers: { 'set-cookie': '`svc_otp`, for 15 minutes.' },
    },
  },
  problems: ['forbidden', 'rate_limited', 'dependency_unavailable'],
  async handle({ body, exchange, services }) {
    refuseForeignPage(exchange, services);
    const { cookies, places } = askerOf(exchange, services);
    const challengeId = await sendCode(services, {
      address: requireAddress(body.email),
      aim: 'sign_in',
      accountId: null,
      challengeId: cookies.challenge,
      places,
      mailFor(owner) {
        if (owner !== null) return 'sign_in';
        return body.purpose === 'login' ? 'no_account' : 'sign_up';
      },
    });
    setChallengeCookie(exchange, services.config, challengeId);
    const { lifetimeSeconds, resendSeconds } = services.limits.identity.codes;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        challenge_id: challengeId,
        expires_in: lifetimeSeconds,
        resend_in: resendSeconds,
      },
    };
  },
});
