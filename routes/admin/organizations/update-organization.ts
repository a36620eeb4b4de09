// PATCH /api/admin/organizations/{organization_id}: how many seats it has.
import * as v from 'valibot';
import { seatLimitSchema } from '../../../actors/organization/defaults.ts';
import { changeOrganization } from '../../../db/organizations/records.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { noOrganization, organizationIdOf } from '../../organizations/access.ts';
import { organizationTarget, requireRevision, runAct } from '../../organizations/act.ts';
import { expectedEntries, organizationParams } from '../../organizations/schema.ts';
import { operatorRecord } from './operator.ts';
import { adminReplies, readAdminAnswer } from './schema.ts';

export const updateAdminOrganization = defineRoute({
  method: 'PATCH',
  path: '/api/admin/organizations/{organization_id}',
  operationId: 'updateAdminOrganization',
  summary: 'Change the seats of an organization',
  description: 'Fewer than are taken are 409 `conflict`, reason `seats_taken`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { seat_limit: 100 },
    schema: v.strictObject({ seat_limit: seatLimitSchema, ...expectedEntries }),
  },
  replies: adminReplies,
  problems: ['not_found', 'conflict', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const id = organizationIdOf(params.organization_id);
    const { seat_limit: seatLimit, expected_revision: expected } = body;
    const done = await runAct(services, id, async (transaction, organization) => {
      requireRevision(organization.revision, expected);
      const { seatLimit: before, seatsTaken } = organization;
      if (seatLimit < seatsTaken) {
        throw new Problem('conflict', {
          message: `${seatsTaken} seats are taken.`,
          details: { reason: 'seats_taken', seats_taken: seatsTaken },
          param: 'seat_limit',
        });
      }
      if (seatLimit === before) return { result: true, records: [] };
      await changeOrganization(transaction, organization, { seatLimit });
      const target = organizationTarget(id);
      const details = { seat_limit: [before, seatLimit] };
      const record = operatorRecord(caller.accountId, 'org.update', target, details);
      return { result: true, records: [record] };
    });
    if (done === null) throw noOrganization();
    return readAdminAnswer(services, id);
  },
});
