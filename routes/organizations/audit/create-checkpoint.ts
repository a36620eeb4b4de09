// POST …/organizations/{organization_id}/audit/checkpoints: a checkpoint of this moment.
import * as v from 'valibot';
import { auditLimits } from '../../../actors/audit/limits.ts';
import { defineRoute } from '../../define.ts';
import { auditParams, requireAuditor } from './auditor.ts';
import { recordedCheckpoint } from './recorded-checkpoint.ts';
import { checkpointBody, checkpointSchema } from './schema.ts';

const { checkpointsPerHour } = auditLimits;

export const createAuditCheckpoint = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/audit/checkpoints',
  operationId: 'createAuditCheckpoint',
  summary: 'Make a checkpoint of the audit',
  description: `${checkpointsPerHour} an hour of an organization. The asking is recorded in it.`,
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: auditParams,
  replies: {
    201: {
      description: 'The checkpoint.',
      schema: v.strictObject({ ok: v.literal(true), checkpoint: checkpointSchema }),
    },
  },
  problems: ['forbidden', 'not_found', 'invalid_state', 'rate_limited', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const organizationId = await requireAuditor(
      caller,
      params.organization_id,
      services,
      'audit.checkpoint',
    );
    const checkpoint = await recordedCheckpoint(services, {
      organizationId,
      perHour: checkpointsPerHour,
      record: {
        actor: { type: 'user', id: caller.accountId },
        action: 'audit.checkpoint',
        target: { type: 'organization', id: String(organizationId) },
        result: 'ok',
        details: {},
      },
    });
    return {
      status: 201,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, checkpoint: checkpointBody(checkpoint) },
    };
  },
});
