// POST /api/auth/otp/verify: a right code signs in, and makes the account where there is none. The
// session is always a new one, and the one that the browser had before is ended.
import * as v from 'valibot';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { askerOf, refuseForeignPage, requireAddress } from './asker.ts';
import { browserHeaders, setSessionCookies } from './cookies.ts';
import { enterByCode } from './enter.ts';
import {
  codeSchema,
  emailSchema,
  enteredSchema,
  fullNameSchema,
  purposeSchema,
  referralCodeSchema,
} from './schema.ts';
import { sessionBody, userBody } from './view.ts';

export const verifyCode = defineRoute({
  method: 'POST',
  path: '/api/auth/otp/verify',
  operationId: 'verifyCode',
  summary: 'Sign in or up with a code',
  description:
    'A code that is wrong, was used or has expired is 401 with the reason `invalid_code`. ' +
    'Behind a right code, which stays good, a new account is told what it lacks: 400 at ' +
    '`full_name`, `terms_accepted` or `referral_code`, or 403 with the reason `signup_closed`. ' +
    'An account is told `account_disabled` or `deleting`, which `restore` undoes. Each purpose ' +
    'takes any code of the address. `login` makes no account, and answers 401 where there is ' +
    'none. A challenge has 5 wrong guesses, then 429. A guess that names none is at the two ' +
    'newest codes of the address, with 10 an hour and 30 a day for all who do so.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'web',
  headers: browserHeaders,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { email: 'person@example.com', code: '123456', purpose: 'login' },
    schema: v.strictObject({
      email: emailSchema,
      code: codeSchema,
      purpose: purposeSchema,
      challenge_id: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(100))),
      full_name: v.optional(fullNameSchema),
      terms_accepted: v.optional(v.boolean()),
      referral_code: v.optional(referralCodeSchema),
      restore: v.optional(v.boolean()),
    }),
  },
  replies: {
    200: {
      description: 'Signed in.',
      schema: enteredSchema,
      headers: { 'set-cookie': '`svc_session`; `svc_browser`, for 180 days.' },
    },
  },
  problems: ['unauthenticated', 'forbidden', 'rate_limited', 'dependency_unavailable'],
  async handle({ body, exchange, services }) {
    refuseForeignPage(exchange, services);
    const { person, session, isCreated, browser } = await enterByCode(services, {
      address: requireAddress(body.email),
      code: body.code,
      challengeId: body.challenge_id ?? null,
      mayCreate: body.purpose !== 'login',
      fullName: body.full_name?.trim() || null,
      termsAccepted: body.terms_accepted === true,
      referralCode: body.referral_code?.trim() || null,
      restore: body.restore === true,
      asker: askerOf(exchange, services),
    });
    setSessionCookies(exchange, services.config, { token: session.token, browser });
    const user = userBody(person);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, user, session: sessionBody(session.signedIn), created: isCreated },
    };
  },
});
