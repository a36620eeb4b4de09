// DELETE /api/admin/errors/{fingerprint}: the group is gone, with its samples.
import { deleteErrors } from '../../../db/app/errors.ts';
import { defineRoute } from '../../define.ts';
import { errorParams } from './error-schema.ts';
import { removedReply, removeTold } from './removed.ts';

export const removeAppError = defineRoute({
  method: 'DELETE',
  path: '/api/admin/errors/{fingerprint}',
  operationId: 'deleteAppError',
  summary: 'Delete a group of errors',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: errorParams,
  replies: removedReply,
  problems: ['not_found', 'dependency_unavailable'],
  handle({ params, caller, services }) {
    const told = { noun: 'app_error', id: params.fingerprint, param: 'fingerprint' };
    return removeTold(
      services,
      caller.accountId,
      told,
      async (transaction) => (await deleteErrors(transaction, [told.id])) > 0,
    );
  },
});
