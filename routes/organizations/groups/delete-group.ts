// DELETE /api/enterprise/organizations/{organization_id}/groups/{group_id}: nobody leaves the
// organization with it.
import * as v from 'valibot';
import { deleteGroup as deleteRow, findGroup } from '../../../db/organizations/groups.ts';
import { defineRoute } from '../../define.ts';
import { memberAct, personRecord } from '../act.ts';
import { groupParams, noGroup } from './schema.ts';

export const deleteGroup = defineRoute({
  path: '/api/enterprise/organizations/{organization_id}/groups/{group_id}',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: groupParams,
  method: 'DELETE',
  operationId: 'deleteOrganizationGroup',
  summary: 'Delete a group',
  description: 'Owners, admins and managers. Its members stay members of the organization.',
  replies: { 200: { description: 'It is gone.', schema: v.strictObject({ ok: v.literal(true) }) } },
  problems: ['forbidden', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { organization_id: organizationId, group_id: id } = params;
    const order = { caller, organizationId, right: 'groups.remove' } as const;
    await memberAct(services, order, async (transaction, { organization, userId }) => {
      const group = await findGroup(transaction, organization.id, id);
      if (group === null) throw noGroup();
      await deleteRow(transaction, id);
      const details = { name: group.name };
      const record = personRecord(userId, 'group.delete', { type: 'group', id }, details);
      return { result: null, records: [record] };
    });
    return { status: 200, json: { ok: true } };
  },
});
