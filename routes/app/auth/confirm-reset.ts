// POST /api/app/auth/password/reset/confirm: a code for a new password. Everything else that the
// account was signed in with ends, and so does what apps were let do.
import * as v from 'valibot';
import { guessCode, invalidCode, refuseSpentGuess } from '../../../actors/identity/guessing.ts';
import { passwordProblem } from '../../../actors/identity/passwords.ts';
import { findOwner } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import { type Asker, askerOf, requireAddress } from '../../identity/asker.ts';
import { requireEnterable } from '../../identity/begin-session.ts';
import { browserHeaders } from '../../identity/cookies.ts';
import {
  appSessionSchema,
  codeSchema,
  emailSchema,
  passwordSchema,
} from '../../identity/schema.ts';
import type { Services } from '../../services.ts';
import { appSessionReply } from './app-session.ts';
import { credentialProblems, resetWithin } from './password.ts';

export const confirmReset = defineRoute({
  method: 'POST',
  path: '/api/app/auth/password/reset/confirm',
  operationId: 'confirmPasswordReset',
  summary: 'Set a new password with a code',
  description:
    'A code that is wrong, was used or has expired is 401 with the reason `invalid_code`. A ' +
    'password that is refused, and 403 with the reason `account_disabled` or `deleting`, come ' +
    'behind a right code, which stays good. Other sessions and all authorizations end.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'web',
  headers: browserHeaders,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: {
      email: 'person@example.com',
      code: '123456',
      new_password: 'seven quiet mountains',
    },
    schema: v.strictObject({ email: emailSchema, code: codeSchema, new_password: passwordSchema }),
  },
  replies: { 200: { description: 'The session.', schema: appSessionSchema } },
  problems: credentialProblems,
  async handle({ body, exchange, services }) {
    const { bus, identity, mail, sql } = services;
    const address = requireAddress(body.email);
    const asker = askerOf(exchange, services);
    const challengeId = await rightChallenge(services, address, body.code, asker);
    // Between two transactions: hashing may wait, and holds nothing meanwhile.
    const made = await identity.passwords.make(body.new_password, address);
    if (made.status !== 'made') throw passwordProblem(made.status, 'new_password');
    const resetting = sql.begin((transaction) =>
      resetWithin(transaction, services, { address, challengeId, hash: made.hash, asker }),
    );
    const { person, session, ended, mailId } = await withDeadline(resetting);
    if (mailId !== null) mail.send(mailId);
    if (ended.length > 0) await tellChange(bus, ended, { isWithdrawn: true });
    return appSessionReply(200, person, session);
  },
});

/** @throws Problem unauthenticated, rate_limited, forbidden */
async function rightChallenge(
  services: Pick<Services, 'identity' | 'limits' | 'sealer' | 'sql'>,
  address: string,
  code: string,
  { cookies }: Asker,
): Promise<string> {
  const cookieChallengeId = cookies.challenge;
  const guessed = { aim: 'reset', address, challengeId: null, cookieChallengeId } as const;
  await refuseSpentGuess(services.sql, services, guessed);
  const guessing = services.sql.begin(async (transaction) => {
    const guess = await guessCode(transaction, services, guessed, code);
    return { guess, owner: await findOwner(transaction, address) };
  });
  const { guess, owner } = await withDeadline(guessing);
  if (!guess.isRight) throw guess.problem;
  if (owner === null) throw invalidCode();
  requireEnterable(owner);
  return guess.challengeId;
}
