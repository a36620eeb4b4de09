// PUT /api/enterprise/organizations/{organization_id}/groups/{group_id}/members: who is in it.
import * as v from 'valibot';
import { organizationLimits } from '../../../actors/organization/limits.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { findGroup, putGroupMembers as putRows } from '../../../db/organizations/groups.ts';
import { findStrangers } from '../../../db/organizations/members.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { memberAct, personRecord, requireRevision } from '../act.ts';
import { expectedEntries } from '../schema.ts';
import { groupAnswer, groupParams, groupReply, noGroup } from './schema.ts';

const { groupMembersMax } = organizationLimits;

export const putGroupMembers = defineRoute({
  method: 'PUT',
  path: '/api/enterprise/organizations/{organization_id}/groups/{group_id}/members',
  operationId: 'putOrganizationGroupMembers',
  summary: 'Say who is in a group',
  description:
    'Owners, admins and managers. These members and nobody else. `expected_revision` is that of ' +
    'the group.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: groupParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { user_ids: ['acc_019ab2c3d4e5f60718293a4b'] },
    schema: v.strictObject({
      user_ids: v.pipe(v.array(lineOfText(100)), v.maxLength(groupMembersMax)),
      ...expectedEntries,
    }),
  },
  replies: { 200: { description: 'The group.', schema: groupReply } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found', 'conflict', 'invalid_state'] as const),
    'dependency_unavailable',
  ],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId, group_id: id } = params;
    const wanted = [...new Set(body.user_ids)];
    const order = { caller, organizationId, right: 'groups.write' } as const;
    const seat = await memberAct(services, order, async (transaction, own) => {
      const group = await findGroup(transaction, own.organization.id, id);
      if (group === null) throw noGroup();
      requireRevision(group.revision, body.expected_revision);
      const strangers = await findStrangers(transaction, own.organization.id, wanted);
      const wrong = body.user_ids.findIndex((userId) => strangers.has(userId));
      if (wrong >= 0) throw fieldProblem(`user_ids[${wrong}]`, 'No active member has this id.');
      const before = new Set(group.userIds);
      const added = wanted.filter((userId) => !before.has(userId));
      const removed = group.userIds.filter((userId) => !wanted.includes(userId));
      if (added.length + removed.length === 0) return { result: own, records: [] };
      await putRows(transaction, id, wanted);
      // A record holds 4 KiB: of many, how many.
      const few = (ids: string[]) => (ids.length > 25 ? { count: ids.length } : ids);
      const details = { added: few(added), removed: few(removed) };
      const record = personRecord(own.userId, 'group.members', { type: 'group', id }, details);
      return { result: own, records: [record] };
    });
    return withDeadline(groupAnswer(services.sql, seat, id));
  },
});
