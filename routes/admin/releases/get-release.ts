// GET /api/admin/releases/{release_id}: one release.
import { withDeadline } from '../../../db/driver/sql.ts';
import { defineRoute } from '../../define.ts';
import { releaseParams } from '../../releases/get-archive.ts';
import { requireRelease } from './change.ts';
import { releaseAnswer, releaseReply } from './schema.ts';

export const getRelease = defineRoute({
  method: 'GET',
  path: '/api/admin/releases/{release_id}',
  operationId: 'getRelease',
  summary: 'Read a release of the browser extension',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: releaseParams,
  replies: releaseReply,
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, services }) {
    const release = await withDeadline(requireRelease(services.sql, params.release_id));
    return releaseAnswer(200, release, services.config.baseUrl);
  },
});
