// POST /api/app/auth/register: an account that has typed an address and not proved it. It is made
// for a taken address too, and looks alike: whose the address is shows only a code.
import * as v from 'valibot';
import { passwordProblem } from '../../../actors/identity/passwords.ts';
import { maySignUp } from '../../../actors/identity/sign-up.ts';
import { noteReferral } from '../../../actors/promotions/referral.ts';
import { setPassword } from '../../../db/accounts/passwords.ts';
import { createPerson, findPerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { newId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { askerOf, requireAddress } from '../../identity/asker.ts';
import { auditDeed } from '../../identity/audited.ts';
import { beginSession } from '../../identity/begin-session.ts';
import { browserHeaders } from '../../identity/cookies.ts';

import {
  appSessionSchema,
  emailSchema,
  fullNameSchema,
  passwordSchema,
  referralCodeSchema,
} from '../../identity/schema.ts';
import { referrerOf, signUpClosed } from '../../identity/sign-up.ts';
import { appSessionReply } from './app-session.ts';
import { countRegistration } from './attempts.ts';

export const register = defineRoute({
  method: 'POST',
  path: '/api/app/auth/register',
  operationId: 'registerAccount',
  summary: 'Make an account with a password',
  description:
    'The account is `unverified`, also where the address is taken: an address belongs to the ' +
    'account that proves it. No mail is sent: `POST /api/app/auth/email/code` sends the code. ' +
    'Until then the account cannot buy, and gets no credit; after 7 days it is removed. A ' +
    'network makes 10 accounts an hour. A password has 10 to 128 characters; one that is easily ' +
    'guessed is 400 with the reason `too_common`. Where not everybody may sign up: 403 with the ' +
    'reason `signup_closed`; whoever was invited signs up by code.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'web',
  headers: browserHeaders,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { email: 'person@example.com', password: 'violet tractor seven' },
    schema: v.strictObject({
      email: emailSchema,
      password: passwordSchema,
      full_name: v.optional(fullNameSchema),
      referral_code: v.optional(referralCodeSchema),
    }),
  },
  replies: { 201: { description: 'The account and its session.', schema: appSessionSchema } },
  problems: ['forbidden', 'rate_limited', 'overloaded', 'dependency_unavailable'],
  async handle({ body, exchange, services }) {
    const { catalog, identity, sql, system } = services;
    const asker = askerOf(exchange, services);
    const email = requireAddress(body.email);
    if (!maySignUp(catalog.current().snapshot.identity, email, false)) throw signUpClosed();
    identity.passwords.requireRoom();
    const referralCode = body.referral_code?.trim() || null;
    const referredBy = await withDeadline(referrerOf(sql, referralCode));
    const takeBack = countRegistration(services, asker.network);
    const made = await identity.passwords.make(body.password, email);
    if (made.status !== 'made') {
      takeBack();
      throw passwordProblem(made.status, 'password');
    }
    identity.count('registered');
    const making = sql.begin(async (transaction) => {
      const accountId = newId('acc', system.node);
      const walletId = newId('wal', system.node);
      const fullName = body.full_name?.trim() || null;
      const facts = { walletId, email, address: 'typed', fullName, referredBy } as const;
      await createPerson(transaction, { id: accountId, ...facts });
      await noteReferral(transaction, system.node, {
        refereeId: accountId,
        referrerId: referredBy,
      });
      await setPassword(transaction, accountId, made.hash);
      const details = { method: 'password', referred_by: referredBy };
      await auditDeed(transaction, system.node, { accountId, action: 'account.create', details });
      const person = await findPerson(transaction, accountId);
      if (person === null) throw new Error('an account that was just made is gone');
      const begun = { person, kind: 'app', method: 'password', asker } as const;
      return { person, session: await beginSession(transaction, services, begun) };
    });
    const { person, session } = await withDeadline(making);
    return appSessionReply(201, person, session);
  },
});
