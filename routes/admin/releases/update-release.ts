// PATCH /api/admin/releases/{release_id}: publishes it, withdraws it, or says something else of it.
import * as v from 'valibot';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { releaseParams } from '../../releases/get-archive.ts';
import { expectedRevision, revisionAdvice, revisionHeader } from '../revision.ts';
import { updateReleaseRecord } from './change.ts';
import { releaseAnswer, releasePatchEntries, releaseReply } from './schema.ts';
import { writtenRelease } from './written.ts';

export const updateRelease = defineRoute({
  method: 'PATCH',
  path: '/api/admin/releases/{release_id}',
  operationId: 'updateRelease',
  summary: 'Publish, withdraw or change a release',
  description:
    'What is absent stays as it is. `published` false withdraws it: nobody gets its archive ' +
    'any more. An `archive_url` takes the place of an archive that was uploaded; null takes it ' +
    `away. ${revisionAdvice}`,
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  headers: revisionHeader,
  params: releaseParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    halves: 'replaced',
    schema: v.strictObject(releasePatchEntries),
  },
  replies: releaseReply,
  problems: ['not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services, exchange }) {
    const id = params.release_id;
    const revision = expectedRevision(exchange, body);
    const changed = updateReleaseRecord(services, caller.accountId, id, revision, (before) =>
      writtenRelease(id, body, before, Date.now()),
    );
    return releaseAnswer(200, await changed, services.config.baseUrl);
  },
});
