// PUT /api/admin/releases/{release_id}/archive: the archive itself, as the body of the request.
import { appLimits } from '../../../actors/app/limits.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { BlobFault, type StoredBlob } from '../../../media/blobs/contract.ts';
import { bytesBody } from '../../../runtime/http/route.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { releaseParams } from '../../releases/get-archive.ts';
import { zipFault } from '../../releases/zip.ts';
import type { Services } from '../../services.ts';
import { expectedRevision, revisionAdvice, revisionHeader } from '../revision.ts';
import { requireRelease, updateReleaseRecord } from './change.ts';
import { releaseAnswer, releaseReply } from './schema.ts';

const { bytesMax, storeMs } = appLimits.archive;

export const putArchive = defineRoute({
  method: 'PUT',
  path: '/api/admin/releases/{release_id}/archive',
  operationId: 'putReleaseArchive',
  summary: 'Upload the archive of a release',
  description:
    'The body is the ZIP, 32 MiB at most, of any media type; what is no ZIP is 422 ' +
    '`unprocessable_media`. It takes the place of the one before, also of a published release. ' +
    `${revisionAdvice}`,
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  headers: revisionHeader,
  params: releaseParams,
  body: bytesBody(bytesMax),
  replies: releaseReply,
  problems: ['not_found', 'conflict', 'unprocessable_media', 'dependency_unavailable'],
  async handle({ params, body, caller, services, exchange }) {
    const id = params.release_id;
    const revision = expectedRevision(exchange, undefined);
    await withDeadline(requireRelease(services.sql, id));
    const fault = zipFault(body);
    if (fault !== null) throw new Problem('unprocessable_media', { message: `No ZIP: ${fault}` });
    const stored = await store(services, body);
    const { id: blobId, sha256, bytes: sizeBytes } = stored;
    const archive = { blobId, url: null, sha256, sizeBytes, uploadedAtMs: Date.now() };
    const changed = updateReleaseRecord(services, caller.accountId, id, revision, (before) => ({
      ...before,
      archive,
    }));
    return releaseAnswer(200, await changed, services.config.baseUrl);
  },
});

/** What no row names, as after a failure behind this, is removed within a day. */
async function store({ blobs }: Pick<Services, 'blobs'>, bytes: Uint8Array): Promise<StoredBlob> {
  async function* whole() {
    yield bytes;
  }
  try {
    return await blobs.put(whole(), { bytesMax, signal: AbortSignal.timeout(storeMs) });
  } catch (error) {
    const isOurs = error instanceof BlobFault || (error as Error).name === 'TimeoutError';
    if (!isOurs) throw error;
    throw new Problem('dependency_unavailable', { cause: error });
  }
}
