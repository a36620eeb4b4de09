// POST /api/me/invitations/{invitation_id}/accept: the person becomes a member. The seat is the
// invitation's.
import * as v from 'valibot';
import { endInvitation } from '../../../db/organizations/invitations.ts';
import { findMembership, takeSeats } from '../../../db/organizations/records.ts';
import { newId } from '../../../runtime/ids.ts';
import { defineRoute } from '../../define.ts';
import { inStatus } from '../../organizations/access.ts';
import { personRecord } from '../../organizations/act.ts';
import { admit, blockedJoining, ruleAgainstJoining } from '../../organizations/admitting.ts';
import { readMine } from '../organizations/mine.ts';
import { membershipSchema } from '../organizations/schema.ts';
import { answerInvitation, ownInvitationParams } from './own-invitation.ts';

export const acceptInvitation = defineRoute({
  method: 'POST',
  path: '/api/me/invitations/{invitation_id}/accept',
  operationId: 'acceptInvitation',
  summary: 'Accept an invitation',
  description:
    'Only the account that has proved its address, else 404. One that is not pending is 409 ' +
    '`invalid_state`; 409 `conflict`, reason `memberships`, beyond 20 organizations.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: ownInvitationParams,
  replies: {
    200: {
      description: 'Your membership.',
      schema: v.strictObject({ ok: v.literal(true), membership: membershipSchema }),
    },
  },
  problems: ['policy_blocked', 'not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { invitation_id: id } = params;
    const userId = caller.personId;
    const asked = { id, userId };
    const { organizationId } = await answerInvitation(services, asked, async (sql, answering) => {
      const { organization, invitation } = answering;
      const { status } = organization;
      if (status !== 'active') throw inStatus(status);
      const target = { type: 'invitation', id };
      const known = await findMembership(sql, organization.id, userId);
      if (known !== null) {
        await endInvitation(sql, id, 'accepted');
        // Who is a member stays what it is; nobody is waited for any more.
        await takeSeats(sql, organization.id, -1);
        const record = personRecord(userId, 'invitation.accept', target, { member_before: true });
        return { result: null, records: [record] };
      }
      const rule = await ruleAgainstJoining(sql, organization, userId);
      if (rule !== null) return blockedJoining(userId, rule);
      const { role, groupIds, capMicros } = invitation;
      await endInvitation(sql, id, 'accepted');
      const accountId = await admit(sql, {
        organizationId: organization.id,
        userId,
        accountId: newId('acc', services.system.node),
        role,
        managedBy: 'manual',
        capMicros,
        groupIds,
      });
      const record = personRecord(userId, 'invitation.accept', target, { role });
      return { result: null, records: [record], fences: true, changed: [userId, accountId] };
    });
    return readMine(services, organizationId, userId);
  },
});
