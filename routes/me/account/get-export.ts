// GET /api/me/account/exports/{export_id}: whether the copy is ready.
import { defineRoute } from '../../define.ts';
import { exportBody, exportParams, exportReplySchema, requireExport } from './export-body.ts';

export const getExport = defineRoute({
  method: 'GET',
  path: '/api/me/account/exports/{export_id}',
  operationId: 'getAccountExport',
  summary: 'Get the state of a copy of your data',
  description: 'One that has expired is 404. One that failed may be asked for again at once.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  params: exportParams,
  replies: { 200: { description: 'The export.', schema: exportReplySchema } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const found = await requireExport(services, caller.accountId, params.export_id);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, export: exportBody(found) },
    };
  },
});
