// POST /api/me/account/email/verify: a right code makes the new address the account's own. The
// former one is told of it: who took the account over cannot do so unseen.
import * as v from 'valibot';
import { guessCode, invalidCode, useChallenge } from '../../../actors/identity/guessing.ts';
import { findPerson, type Person, proveAddress } from '../../../db/accounts/person.ts';
import { type Transaction, withDeadline } from '../../../db/driver/sql.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import { auditDeed } from '../../identity/audited.ts';
import { codeSchema } from '../../identity/schema.ts';
import { userBody } from '../../identity/view.ts';
import type { Services } from '../../services.ts';
import { accountReply } from './get-account.ts';

export const verifyNewEmail = defineRoute({
  method: 'POST',
  path: '/api/me/account/email/verify',
  operationId: 'verifyNewEmail',
  summary: 'Change the address with a code',
  description:
    'A code that is wrong, was used or has expired is 401 with the reason `invalid_code`; after ' +
    '5 wrong ones 429, until another is sent. Behind a right code: 409 `conflict` if another ' +
    'account has proved the address. The former address gets a mail.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { code: '123456' },
    schema: v.strictObject({ code: codeSchema }),
  },
  replies: accountReply,
  problems: ['conflict', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { bus, mail, sql } = services;
    const { accountId } = caller;
    const changing = sql.begin((transaction) =>
      change(transaction, services, accountId, body.code),
    );
    const outcome = await withDeadline(changing);
    // Thrown behind the commit, which has counted the guess.
    if ('problem' in outcome) throw outcome.problem;
    // An account that had proved no address has more rights from now on.
    await tellChange(bus, [accountId], { isWithdrawn: false });
    if (outcome.mailId !== null) mail.send(outcome.mailId);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, user: userBody(outcome.person) },
    };
  },
});

async function change(
  transaction: Transaction,
  services: Pick<Services, 'identity' | 'limits' | 'mail' | 'sealer' | 'system'>,
  accountId: string,
  code: string,
): Promise<{ problem: Problem } | { person: Person; mailId: string | null }> {
  const guess = await guessCode(transaction, services, { aim: 'change', accountId }, code);
  if (!guess.isRight) return guess;
  const { address, challengeId } = guess;
  const before = await findPerson(transaction, accountId);
  if (!(await proveAddress(transaction, accountId, address))) {
    throw new Problem('conflict', { message: 'Another account has proved this address.' });
  }
  if (!(await useChallenge(transaction, services, challengeId))) throw invalidCode();
  await auditDeed(transaction, services.system.node, { accountId, action: 'address.change' });
  const person = await findPerson(transaction, accountId);
  if (person === null) throw new Problem('session_expired');
  const former = before?.emailOwned === true && before.email !== address ? before.email : null;
  if (former === null) return { person, mailId: null };
  const mailId = await services.mail.write(transaction, {
    to: former,
    accountId,
    expiresAt: null,
    mail: { template: 'address_changed', newAddress: address },
  });
  return { person, mailId };
}
