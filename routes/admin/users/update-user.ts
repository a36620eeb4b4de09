// PATCH /api/admin/users/{account_id}: another role or label. It holds on every shard when this is
// answered.
import * as v from 'valibot';
import type { Account } from '../../../db/accounts.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { expectedRevision, revisionAdvice, revisionHeader, revisionSchema } from '../revision.ts';
import { accountLabel, accountParams, applyAccountChange, userReply } from './schema.ts';

export const updateUser = defineRoute({
  method: 'PATCH',
  path: '/api/admin/users/{account_id}',
  operationId: 'updateUser',
  summary: 'Change the role or the label of an account',
  description:
    'An administrator may use every `/api/admin` route. The last one that is enabled stays ' +
    `one: 409 \`invalid_state\`. A label of null takes it away. ${revisionAdvice}`,
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  headers: revisionHeader,
  params: accountParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject({
      role: v.optional(v.picklist(['user', 'admin'])),
      label: v.optional(accountLabel),
      revision: v.optional(revisionSchema),
    }),
  },
  replies: userReply,
  problems: ['not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  handle({ params, body, caller, services, exchange }) {
    const { role, label } = body;
    if (role === undefined && label === undefined) {
      throw fieldProblem('role', "Say what is to change: 'role', 'label' or both.");
    }
    return applyAccountChange(services, caller.accountId, actionOf, {
      accountId: params.account_id,
      revision: expectedRevision(exchange, body),
      ...(role === undefined ? {} : { role }),
      ...(label === undefined ? {} : { label }),
    });
  },
});

/** A change of both is one of the role: that is what is looked for. */
function actionOf(before: Account, after: Account): string {
  return before.role === after.role ? 'account.label' : 'account.role';
}
