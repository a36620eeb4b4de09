// PATCH /api/me/account: another name.
import * as v from 'valibot';
import { findPerson, renamePerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { userBody } from '../../identity/view.ts';
import { accountReply } from './get-account.ts';

export const updateAccount = defineRoute({
  method: 'PATCH',
  path: '/api/me/account',
  operationId: 'updateAccount',
  summary: 'Change your name',
  description: 'A `full_name` of null takes the name away.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { full_name: 'Ada Lovelace' },
    schema: v.strictObject({ full_name: v.nullable(lineOfText(120)) }),
  },
  replies: accountReply,
  problems: ['dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql } = services;
    const { accountId } = caller;
    const renamed = renamePerson(sql, accountId, body.full_name).then(() =>
      findPerson(sql, accountId),
    );
    const person = await withDeadline(renamed);
    if (person === null) throw new Problem('unauthenticated');
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, user: userBody(person) },
    };
  },
});
