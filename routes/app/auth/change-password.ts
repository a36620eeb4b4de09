// POST /api/app/auth/password/change: another password, or a first one. Whoever is signed in
// elsewhere is not any more.
import * as v from 'valibot';
import { passwordProblem } from '../../../actors/identity/passwords.ts';
import { findPasswordHash } from '../../../db/accounts/passwords.ts';
import { findPerson, type Person } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { networkOf } from '../../../runtime/http/address.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import { passwordSchema } from '../../identity/schema.ts';
import { requireFresh } from '../../identity/sign-in.ts';
import { userBody, userSchema } from '../../identity/view.ts';
import type { Services } from '../../services.ts';
import { countAttempt } from './attempts.ts';
import { replacePassword, wrongCredentials } from './password.ts';

export const changePassword = defineRoute({
  method: 'POST',
  path: '/api/app/auth/password/change',
  operationId: 'changePassword',
  summary: 'Change the password',
  description:
    'With `current_password`, or within 10 minutes of signing in. Other sessions of the account ' +
    'end; what apps were let do goes on. A wrong current password is 401 with the reason ' +
    '`invalid_credentials`, and counts as one at login.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { new_password: 'seven quiet mountains', current_password: 'violet tractor seven' },
    schema: v.strictObject({
      new_password: passwordSchema,
      current_password: v.optional(passwordSchema),
    }),
  },
  replies: {
    200: {
      description: 'Changed.',
      schema: v.strictObject({ ok: v.literal(true), user: userSchema }),
    },
  },
  problems: ['forbidden', 'overloaded', 'dependency_unavailable'],
  async handle({ body, caller, exchange, services }) {
    const { bus, identity, mail, sql } = services;
    const { new_password: wanted, current_password: current } = body;
    const { accountId, signedIn } = caller;
    const network = networkOf(exchange.clientAddress);
    const person = await withDeadline(findPerson(sql, accountId));
    if (person === null) throw new Problem('session_expired');
    if (current === undefined) requireFresh(caller);
    else await requirePassword(services, person, network, current);
    const made = await identity.passwords.make(wanted, person.email ?? '');
    if (made.status !== 'made') throw passwordProblem(made.status, 'new_password');
    const { hash } = made;
    const changing = sql.begin(async (transaction) => {
      const kept = { person, hash, keptId: signedIn.id };
      const { ended, mailId } = await replacePassword(transaction, services, kept);
      return { ended, mailId, after: await findPerson(transaction, accountId) };
    });
    const { ended, mailId, after } = await withDeadline(changing);
    if (mailId !== null) mail.send(mailId);
    if (ended.length > 0) await tellChange(bus, ended, { isWithdrawn: true });
    const headers = { 'cache-control': 'no-store' };
    return { status: 200, headers, json: { ok: true, user: userBody(after ?? person) } };
  },
});

/** @throws Problem unauthenticated, rate_limited, overloaded */
async function requirePassword(
  services: Pick<Services, 'access' | 'identity' | 'limits' | 'sql'>,
  { id }: Person,
  network: string,
  password: string,
): Promise<void> {
  const hash = await withDeadline(findPasswordHash(services.sql, id));
  // Who is signed in is known; a session in a thief's hands has few guesses all the same.
  const attempt = countAttempt(services, { name: id, network, isKnownPlace: false });
  const { isRight } = await services.identity.passwords.check(password, hash);
  if (!isRight) {
    attempt.wasWrong();
    throw wrongCredentials();
  }
  attempt.wasRight();
}
