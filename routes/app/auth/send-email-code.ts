// POST /api/app/auth/email/code: a code with which the signed-in account proves the address that it
// typed. Whoever else has the address is shown only to who reads its mail.
import * as v from 'valibot';
import { sendCode } from '../../../actors/identity/sending.ts';
import { findPerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { askerOf } from '../../identity/asker.ts';
import { browserHeaders } from '../../identity/cookies.ts';
import { sentSchema } from '../../identity/schema.ts';

export const sendEmailCode = defineRoute({
  method: 'POST',
  path: '/api/app/auth/email/code',
  operationId: 'sendEmailCode',
  summary: 'Send a code to verify the address',
  description:
    'To the address of the signed-in account. One that is verified, or has none, is 409 ' +
    '`invalid_state`. Whether another account has the address is told with a right code alone.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  headers: browserHeaders,
  replies: { 200: { description: 'A code is on its way.', schema: v.strictObject(sentSchema) } },
  problems: ['invalid_state', 'dependency_unavailable'],
  async handle({ caller, exchange, services }) {
    const { places } = askerOf(exchange, services);
    const { accountId } = caller;
    const person = await withDeadline(findPerson(services.sql, accountId));
    const address = person?.email ?? null;
    if (address === null || person?.emailVerifiedAt != null) {
      throw new Problem('invalid_state', { message: 'There is no address to verify.' });
    }
    const wanted = { address, aim: 'verify', accountId, challengeId: null, places } as const;
    await sendCode(services, { ...wanted, mailFor: () => 'verify' });
    const { lifetimeSeconds, resendSeconds } = services.limits.identity.codes;
    const json = { ok: true, expires_in: lifetimeSeconds, resend_in: resendSeconds };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
