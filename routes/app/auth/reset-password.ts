// POST /api/app/auth/password/reset: a code to the address, if an account has proved it. The answer
// is alike for every address.
import * as v from 'valibot';
import { sendCode } from '../../../actors/identity/sending.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { askerOf, requireAddress } from '../../identity/asker.ts';
import { browserHeaders, setChallengeCookie } from '../../identity/cookies.ts';
import { emailSchema, sentSchema } from '../../identity/schema.ts';

export const resetPassword = defineRoute({
  method: 'POST',
  path: '/api/app/auth/password/reset',
  operationId: 'resetPassword',
  summary: 'Send a code to reset the password',
  description:
    'The answer is alike for every address. An account that has not proved the address gets no ' +
    'code. An address without account is told so once a day at most. Codes are bounded as those ' +
    'of `POST /api/auth/otp/request`: too many are 429, for every address.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'web',
  headers: browserHeaders,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { email: 'person@example.com' },
    schema: v.strictObject({ email: emailSchema }),
  },
  replies: {
    200: {
      description: 'A code is on its way, where one is due.',
      schema: v.strictObject(sentSchema),
      headers: { 'set-cookie': '`svc_otp`, for clients that keep cookies.' },
    },
  },
  problems: ['rate_limited', 'dependency_unavailable'],
  async handle({ body, exchange, services }) {
    const { cookies, places } = askerOf(exchange, services);
    const challengeId = await sendCode(services, {
      address: requireAddress(body.email),
      aim: 'reset',
      accountId: null,
      challengeId: cookies.challenge,
      places,
      mailFor: (owner) => (owner === null ? 'no_account' : 'reset'),
    });
    setChallengeCookie(exchange, services.config, challengeId);
    const { lifetimeSeconds, resendSeconds } = services.limits.identity.codes;
    const json = { ok: true, expires_in: lifetimeSeconds, resend_in: resendSeconds };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
