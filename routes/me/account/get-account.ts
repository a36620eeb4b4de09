// GET /api/me/account: who is signed in.
import * as v from 'valibot';
import { findPerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { userBody, userSchema } from '../../identity/view.ts';

export const accountReply = {
  200: {
    description: 'The account.',
    schema: v.strictObject({ ok: v.literal(true), user: userSchema }),
  },
};

export const getAccount = defineRoute({
  method: 'GET',
  path: '/api/me/account',
  operationId: 'getAccount',
  summary: 'Get your account',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  replies: accountReply,
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    const person = await withDeadline(findPerson(services.sql, caller.accountId));
    // Its credential was good a moment ago.
    if (person === null) throw new Problem('unauthenticated');
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, user: userBody(person) },
    };
  },
});
