// POST /api/enterprise/organizations/{organization_id}/groups: a new group, with nobody in it.
import * as v from 'valibot';
import { organizationLimits } from '../../../actors/organization/limits.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { countGroups, createGroup as createRow } from '../../../db/organizations/groups.ts';
import { newId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { memberAct, personRecord } from '../act.ts';
import { organizationParams } from '../schema.ts';
import { groupAnswer, groupName, groupReply, refusedName } from './schema.ts';

const { groupsMax } = organizationLimits;

export const createGroup = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/groups',
  operationId: 'createOrganizationGroup',
  summary: 'Make a group',
  description:
    `Owners, admins and managers. An organization has at most ${groupsMax}: another one is 409 ` +
    '`conflict`, as is a name that it has.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { name: 'Research' },
    schema: v.strictObject({ name: groupName }),
  },
  replies: { 201: { description: 'The group.', schema: groupReply } },
  problems: ['forbidden', 'not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const { name } = body;
    const id = newId('grp', services.system.node);
    const order = { caller, organizationId, right: 'groups.write' } as const;
    const seat = await memberAct(services, order, async (transaction, own) => {
      if ((await countGroups(transaction, own.organization.id)) >= groupsMax) {
        throw new Problem('conflict', {
          message: `An organization has at most ${groupsMax} groups.`,
          details: { reason: 'groups' },
        });
      }
      await createRow(transaction, own.organization.id, { id, name });
      const record = personRecord(own.userId, 'group.create', { type: 'group', id }, { name });
      return { result: own, records: [record] };
    }).catch(refusedName);
    return withDeadline(groupAnswer(services.sql, seat, id, 201));
  },
});
