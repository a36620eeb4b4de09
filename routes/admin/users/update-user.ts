// PATCH /api/admin/users/{account_id}: another role or label. It holds on every shard when this is
// answered.
import * as v from 'valibot';
import type { Account } from '../../../db/accounts.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { expectedRevision, revisionAdvice, revisionHeader, revisionSchema } from '../revision.ts';
import { applyAccountChange } from './change.ts';
import {
  accountLabel,
  accountParams,
  addressText,
  fullName,
  readAddress,
  userReply,
} from './schema.ts';

export const updateUser = defineRoute({
  method: 'PATCH',
  path: '/api/admin/users/{account_id}',
  operationId: 'updateUser',
  summary: 'Change role, label, address or name of an account',
  description:
    'An administrator may use every `/api/admin` route. The last one that is enabled stays ' +
    'one: 409 `invalid_state`. A label or name of null takes it away. The account owns a new ' +
    'address, which counts as unproved until the first right code; 409 `conflict` if it belongs ' +
    `to another account. ${revisionAdvice}`,
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
      email: v.optional(addressText),
      full_name: v.optional(fullName),
      revision: v.optional(revisionSchema),
    }),
  },
  replies: userReply,
  problems: ['not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  handle({ params, body, caller, services, exchange }) {
    const { role, label, email, full_name: name } = body;
    if (![role, label, email, name].some((value) => value !== undefined)) {
      throw fieldProblem('role', 'Say what is to change: role, label, email or full_name.');
    }
    return applyAccountChange(services, caller.accountId, actionOf, {
      accountId: params.account_id,
      revision: expectedRevision(exchange, body),
      ...(role === undefined ? {} : { role }),
      ...(label === undefined ? {} : { label }),
      ...(email === undefined ? {} : { email: readAddress(email) }),
      ...(name === undefined ? {} : { fullName: name }),
    });
  },
});

/** A change of several is one of the role, or else of the address: that is what is looked for. */
function actionOf(before: Account, after: Account): string {
  if (before.role !== after.role) return 'account.role';
  if (before.email !== after.email) return 'account.address';
  return before.label === after.label ? 'account.name' : 'account.label';
}
