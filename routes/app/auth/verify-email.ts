// POST /api/app/auth/email/verify: a right code makes the address the signed-in account's own.
import * as v from 'valibot';
import { guessCode, invalidCode, useChallenge } from '../../../actors/identity/guessing.ts';
import { findPerson, proveAddress } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import { auditDeed } from '../../identity/audited.ts';
import { codeSchema } from '../../identity/schema.ts';
import { userBody, userSchema } from '../../identity/view.ts';

export const verifyEmail = defineRoute({
  method: 'POST',
  path: '/api/app/auth/email/verify',
  operationId: 'verifyEmail',
  summary: 'Verify the address with a code',
  description:
    'Verifies the signed-in account and no other. A code that is wrong, was used or has expired ' +
    'is 401 with the reason `invalid_code`; after 5 wrong ones 429, until another is sent. ' +
    'Behind a right code: 409 `conflict` if another account has proved the address.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { code: '123456' },
    schema: v.strictObject({ code: codeSchema }),
  },
  replies: {
    200: {
      description: 'Verified.',
      schema: v.strictObject({ ok: v.literal(true), user: userSchema }),
    },
  },
  problems: ['conflict', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { bus, sql, system } = services;
    const { accountId } = caller;
    const verifying = sql.begin(async (transaction) => {
      const guessed = { aim: 'verify', accountId } as const;
      const guess = await guessCode(transaction, services, guessed, body.code);
      if (!guess.isRight) return guess;
      const before = await findPerson(transaction, accountId);
      // It has typed another address since.
      if (before?.email !== guess.address) throw invalidCode();
      if (!(await proveAddress(transaction, accountId, guess.address))) {
        throw new Problem('conflict', { message: 'Another account has proved this address.' });
      }
      if (!(await useChallenge(transaction, services, guess.challengeId))) throw invalidCode();
      await auditDeed(transaction, system.node, { accountId, action: 'address.verify' });
      return { isRight: true as const, person: await findPerson(transaction, accountId) };
    });
    const outcome = await withDeadline(verifying);
    if (!outcome.isRight) throw outcome.problem;
    if (!('person' in outcome) || outcome.person === null) throw new Problem('session_expired');
    await tellChange(bus, [accountId], { isWithdrawn: false });
    const headers = { 'cache-control': 'no-store' };
    return { status: 200, headers, json: { ok: true, user: userBody(outcome.person) } };
  },
});
