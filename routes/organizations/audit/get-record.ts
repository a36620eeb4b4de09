// GET …/organizations/{organization_id}/audit/{seq}: one record of the audit.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { findRecord } from '../../../db/organization-audit/records.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { numberOf, recordParams, requireAuditor } from './auditor.ts';
import { recordBody, recordSchema } from './schema.ts';

export const getAuditRecord = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/audit/{seq}',
  operationId: 'getAuditRecord',
  summary: 'Read a record of the audit',
  description: 'A record that was pruned is 404; its link stays in the tree.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: recordParams,
  replies: {
    200: {
      description: 'The record.',
      schema: v.strictObject({ ok: v.literal(true), record: recordSchema }),
    },
  },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const id = await requireAuditor(caller, params.organization_id, services);
    const record = await withDeadline(findRecord(services.sql, id, numberOf(params.seq, 'seq')));
    if (record === null) throw new Problem('not_found', { param: 'seq' });
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, record: recordBody(record) },
    };
  },
});
