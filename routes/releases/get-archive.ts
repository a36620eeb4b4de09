// GET /api/browser-extension/releases/{release_id}/archive: an archive that was uploaded.
import * as v from 'valibot';
import { findRelease } from '../../db/app/releases.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';

export const releaseParams = v.object({
  release_id: v.pipe(v.string(), v.regex(/^rel_[a-f0-9]{24}$/, 'expected the id of a release')),
});

export const getReleaseArchive = defineRoute({
  method: 'GET',
  path: '/api/browser-extension/releases/{release_id}/archive',
  operationId: 'getBrowserReleaseArchive',
  summary: 'Download the archive of a release',
  description:
    'Of a published release whose archive was uploaded; others are 404. Ranges and conditions as ' +
    'RFC 9110 has them. The ETag is the SHA-256 of the archive.',
  tag: 'Discovery',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'public',
  params: releaseParams,
  replies: {
    200: { description: 'The archive.', mediaType: 'application/zip', isFile: true },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, services }) {
    const release = await withDeadline(findRelease(services.sql, params.release_id));
    const { archive = null, publishedAtMs = null } = release ?? {};
    const isHere = archive !== null && archive.blobId !== null && publishedAtMs !== null;
    if (release === null || !isHere) throw new Problem('not_found', { param: 'release_id' });
    const { blobId, sha256, sizeBytes, uploadedAtMs } = archive;
    return {
      status: 200,
      file: {
        bytes: sizeBytes,
        etag: sha256,
        lastModifiedMs: uploadedAtMs ?? publishedAtMs,
        mediaType: 'application/zip',
        filename: `extension-${release.browser}-${release.version}.zip`,
        read: (from, to) => services.blobs.read(blobId ?? '', from, to),
      },
    };
  },
});
