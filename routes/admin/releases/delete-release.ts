// DELETE /api/admin/releases/{release_id}: it is gone, and its archive within a day.
import { defineRoute } from '../../define.ts';
import { releaseParams } from '../../releases/get-archive.ts';
import { expectedRevision, revisionAdvice, revisionHeader } from '../revision.ts';
import { deleteReleaseRecord } from './change.ts';
import { releaseAnswer, releaseReply } from './schema.ts';

export const removeRelease = defineRoute({
  method: 'DELETE',
  path: '/api/admin/releases/{release_id}',
  operationId: 'deleteRelease',
  summary: 'Delete a release of the browser extension',
  description: `Answers with it as it was. ${revisionAdvice}`,
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  headers: revisionHeader,
  params: releaseParams,
  replies: releaseReply,
  problems: ['not_found', 'conflict', 'dependency_unavailable'],
  async handle({ params, caller, services, exchange }) {
    const revision = expectedRevision(exchange, undefined);
    const { accountId } = caller;
    const gone = await deleteReleaseRecord(services, accountId, params.release_id, revision);
    return releaseAnswer(200, gone, services.config.baseUrl);
  },
});
