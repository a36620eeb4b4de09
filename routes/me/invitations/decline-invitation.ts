// POST /api/me/invitations/{invitation_id}/decline: the person does not want to. The seat is free.
import * as v from 'valibot';
import { endInvitation } from '../../../db/organizations/invitations.ts';
import { takeSeats } from '../../../db/organizations/records.ts';
import { defineRoute } from '../../define.ts';
import { personRecord } from '../../organizations/act.ts';
import { answerInvitation, ownInvitationParams } from './own-invitation.ts';

export const declineInvitation = defineRoute({
  method: 'POST',
  path: '/api/me/invitations/{invitation_id}/decline',
  operationId: 'declineInvitation',
  summary: 'Decline an invitation',
  description:
    'Only the account that has proved its address, else 404. One that is not pending is 409 ' +
    '`invalid_state`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: ownInvitationParams,
  replies: {
    200: { description: 'It is declined.', schema: v.strictObject({ ok: v.literal(true) }) },
  },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { invitation_id: id } = params;
    const userId = caller.personId;
    await answerInvitation(services, { id, userId }, async (transaction, { organization }) => {
      await endInvitation(transaction, id, 'declined');
      await takeSeats(transaction, organization.id, -1);
      const target = { type: 'invitation', id };
      const record = personRecord(userId, 'invitation.decline', target);
      return { result: null, records: [record] };
    });
    return { status: 200, json: { ok: true } };
  },
});
