// GET …/organizations/{organization_id}/audit/{seq}/proof: that a record stands in the audit.
import { proveRecord } from '../../../actors/audit/proof.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { findHead } from '../../../db/organization-audit/head.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { numberOf, recordParams, requireAuditor } from './auditor.ts';

const mediaType = 'text/plain; charset=utf-8';

export const getAuditProof = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/audit/{seq}/proof',
  operationId: 'getAuditProof',
  summary: 'Read a proof of a record of the audit',
  description:
    'As c2sp.org/tlog-proof@v1, with the newest checkpoint; the index is `seq` - 1, the leaf is ' +
    '`record`. Also of a record that was pruned. Until a checkpoint has it: 409 `invalid_state`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: recordParams,
  replies: { 200: { description: 'The proof.', mediaType: 'text/plain' } },
  problems: ['forbidden', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { sql } = services;
    const id = await requireAuditor(caller, params.organization_id, services);
    const seq = numberOf(params.seq, 'seq');
    const head = await withDeadline(findHead(sql, id));
    if (head === null || seq > head.seq) throw new Problem('not_found', { param: 'seq' });
    const text = await withDeadline(proveRecord(sql, id, seq));
    if (text === null) {
      throw new Problem('invalid_state', {
        message: 'No checkpoint has this record yet.',
        param: 'seq',
        details: { reason: 'no_checkpoint' },
      });
    }
    return { status: 200, text, mediaType, headers: { 'cache-control': 'no-store' } };
  },
});
