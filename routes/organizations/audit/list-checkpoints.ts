// GET …/organizations/{organization_id}/audit/checkpoints: its checkpoints, newest first.
import { withDeadline } from '../../../db/driver/sql.ts';
import { listCheckpoints } from '../../../db/organization-audit/checkpoints.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { auditParams, requireAuditor } from './auditor.ts';
import { checkpointBody, checkpointSchema } from './schema.ts';

export const listAuditCheckpoints = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/audit/checkpoints',
  operationId: 'listAuditCheckpoints',
  summary: 'List checkpoints of the audit',
  description:
    'Newest first. One is made after 1,000 records, and after ten minutes with a new one. Keep ' +
    'them outside: what came after the newest that you keep is not protected from the operator.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: auditParams,
  query: pageQuery,
  replies: { 200: { description: 'A page of checkpoints.', schema: pageSchema(checkpointSchema) } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const id = await requireAuditor(caller, params.organization_id, services);
    const { limit, afterId } = pageRequest(query, /^[1-9][0-9]{0,14}$/);
    const before = afterId === null ? null : Number(afterId);
    const rows = await withDeadline(listCheckpoints(services.sql, id, limit + 1, before));
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? String(page.at(-1)?.size) : null;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.map(checkpointBody), next) },
    };
  },
});
