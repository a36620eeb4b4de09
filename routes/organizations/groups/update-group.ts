// PATCH /api/enterprise/organizations/{organization_id}/groups/{group_id}: another name.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { findGroup, renameGroup } from '../../../db/organizations/groups.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { memberAct, personRecord, requireRevision } from '../act.ts';
import { expectedEntries } from '../schema.ts';
import { groupAnswer, groupName, groupParams, groupReply, noGroup, refusedName } from './schema.ts';

export const updateGroup = defineRoute({
  path: '/api/enterprise/organizations/{organization_id}/groups/{group_id}',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: groupParams,
  method: 'PATCH',
  operationId: 'updateOrganizationGroup',
  summary: 'Rename a group',
  description: 'Owners, admins and managers. `expected_revision` is that of the group.',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { name: 'Research' },
    schema: v.strictObject({ name: groupName, ...expectedEntries }),
  },
  replies: { 200: { description: 'The group.', schema: groupReply } },
  problems: ['forbidden', 'not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId, group_id: id } = params;
    const { name } = body;
    const order = { caller, organizationId, right: 'groups.write' } as const;
    const seat = await memberAct(services, order, async (transaction, own) => {
      const group = await findGroup(transaction, own.organization.id, id);
      if (group === null) throw noGroup();
      requireRevision(group.revision, body.expected_revision);
      if (group.name === name) return { result: own, records: [] };
      await renameGroup(transaction, id, name);
      const details = { name: [group.name, name] };
      const record = personRecord(own.userId, 'group.update', { type: 'group', id }, details);
      return { result: own, records: [record] };
    }).catch(refusedName);
    return withDeadline(groupAnswer(services.sql, seat, id));
  },
});
