// POST /api/me/account/email: a code to an address that the account wants to have. Whoever has the
// address already is shown only to who reads its mail.
import * as v from 'valibot';
import { sendCode } from '../../../actors/identity/sending.ts';
import { findPerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { askerOf, requireAddress } from '../../identity/asker.ts';
import { browserHeaders } from '../../identity/cookies.ts';
import { emailSchema, sentSchema } from '../../identity/schema.ts';
import { requireFresh } from '../../identity/sign-in.ts';

export const changeEmail = defineRoute({
  method: 'POST',
  path: '/api/me/account/email',
  operationId: 'changeEmail',
  summary: 'Send a code to a new address',
  description:
    'Needs a sign-in within the last 10 minutes, else 403 with the reason `reauthenticate`. The ' +
    'account keeps its address until the code is verified. Whether another account has the new ' +
    'one is told with a right code alone. Of several new addresses the last one counts.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  headers: browserHeaders,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { email: 'ada@example.com' },
    schema: v.strictObject({ email: emailSchema }),
  },
  replies: { 200: { description: 'A code is on its way.', schema: v.strictObject(sentSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ body, caller, exchange, services }) {
    requireFresh(caller);
    const { places } = askerOf(exchange, services);
    const address = requireAddress(body.email);
    const { accountId } = caller;
    const person = await withDeadline(findPerson(services.sql, accountId));
    if (person?.email === address && person.emailVerifiedAt !== null) {
      throw fieldProblem('email', 'This is the address of the account already.');
    }
    const wanted = { address, aim: 'change', accountId, challengeId: null, places } as const;
    await sendCode(services, { ...wanted, mailFor: () => 'new_address' });
    const { lifetimeSeconds, resendSeconds } = services.limits.identity.codes;
    const json = { ok: true, expires_in: lifetimeSeconds, resend_in: resendSeconds };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
