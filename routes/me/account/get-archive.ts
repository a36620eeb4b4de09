// GET /api/me/account/exports/{export_id}/archive: the copy itself.
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { exportParams, requireExport } from './export-body.ts';

export const getArchive = defineRoute({
  method: 'GET',
  path: '/api/me/account/exports/{export_id}/archive',
  operationId: 'getAccountExportArchive',
  summary: 'Download a copy of your data',
  description:
    'A ZIP with a JSON file for each domain: an object of lists. Times are RFC 3339, amounts ' +
    'millionths of a credit. Ranges and conditions as RFC 9110 has them. Before it is ready: 409 ' +
    '`invalid_state`.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  params: exportParams,
  replies: {
    200: { description: 'The archive.', mediaType: 'application/zip', isFile: true },
  },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { id, status, file } = await requireExport(services, caller.accountId, params.export_id);
    if (file === null) {
      throw new Problem('invalid_state', { message: `The export is ${status}.` });
    }
    return {
      status: 200,
      file: {
        bytes: file.bytes,
        etag: file.sha256,
        lastModifiedMs: file.readyAt.getTime(),
        mediaType: 'application/zip',
        filename: `${id}.zip`,
        read: (from, to) => services.personalData.blobs.read(file.blobId, from, to),
      },
    };
  },
});
