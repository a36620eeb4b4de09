// DELETE /api/admin/installations/{installation_id}: it is forgotten, with its activity.
import * as v from 'valibot';
import { deleteInstallation } from '../../../db/app/installations.ts';
import { installationId } from '../../app/intake.ts';
import { defineRoute } from '../../define.ts';
import { removedReply, removeTold } from './removed.ts';

export const removeInstallation = defineRoute({
  method: 'DELETE',
  path: '/api/admin/installations/{installation_id}',
  operationId: 'deleteInstallation',
  summary: 'Forget an installation',
  description: 'With its activity. It is there again when the app tells of itself.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: v.object({ installation_id: installationId }),
  replies: removedReply,
  problems: ['not_found', 'dependency_unavailable'],
  handle({ params, caller, services }) {
    const id = params.installation_id;
    const told = { noun: 'installation', id, param: 'installation_id' };
    return removeTold(services, caller.accountId, told, (transaction) =>
      deleteInstallation(transaction, id),
    );
  },
});
