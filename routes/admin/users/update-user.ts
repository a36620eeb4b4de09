// PATCH /api/admin/users/{account_id}: another role. It holds on every shard when this is answered.
import * as v from 'valibot';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { expectedRevision, revisionAdvice, revisionHeader, revisionSchema } from '../revision.ts';
import { accountParams, applyAccountChange, userReply } from './schema.ts';

export const updateUser = defineRoute({
  method: 'PATCH',
  path: '/api/admin/users/{account_id}',
  operationId: 'updateUser',
  summary: 'Change the role of an account',
  description:
    'An administrator may use every `/api/admin` route. The last one that is enabled stays ' +
    `one: 409 \`invalid_state\`. ${revisionAdvice}`,
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
      role: v.picklist(['user', 'admin']),
      revision: v.optional(revisionSchema),
    }),
  },
  replies: userReply,
  problems: ['not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  handle({ params, body, caller, services, exchange }) {
    const actor = caller.accountId;
    return applyAccountChange(services, actor, 'account.role', {
      accountId: params.account_id,
      revision: expectedRevision(exchange, body),
      role: body.role,
    });
  },
});
