// GET …/organizations/{organization_id}/audit/keys: what verifies its checkpoints.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listAuditKeys } from '../../../db/organization-audit/keys.ts';
import { defineRoute } from '../../define.ts';
import { auditParams, requireAuditor } from './auditor.ts';
import { keyBody, keySchema } from './schema.ts';

export const listAuditVerifierKeys = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/audit/keys',
  operationId: 'listAuditKeys',
  summary: 'List verifier keys of the audit',
  description: 'The newest first. Old ones stay: they verify what they have signed.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: auditParams,
  replies: {
    200: {
      description: 'The keys.',
      schema: v.strictObject({ ok: v.literal(true), keys: v.array(keySchema) }),
    },
  },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const id = await requireAuditor(caller, params.organization_id, services);
    const keys = await withDeadline(listAuditKeys(services.sql, id));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, keys: keys.map(keyBody) },
    };
  },
});
