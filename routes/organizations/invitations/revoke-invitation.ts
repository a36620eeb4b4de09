// DELETE /api/enterprise/organizations/{organization_id}/invitations/{invitation_id}: takes it
// back.
import * as v from 'valibot';
import { endInvitation, findInvitation } from '../../../db/organizations/invitations.ts';
import { takeSeats } from '../../../db/organizations/records.ts';
import { defineRoute } from '../../define.ts';
import { memberAct, personRecord } from '../act.ts';
import { invitationParams, noInvitation } from './schema.ts';

export const revokeInvitation = defineRoute({
  method: 'DELETE',
  path: '/api/enterprise/organizations/{organization_id}/invitations/{invitation_id}',
  operationId: 'revokeOrganizationInvitation',
  summary: 'Take an invitation back',
  description: 'Its seat is free. One that has ended stays as it is.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: invitationParams,
  replies: {
    200: { description: 'It is over.', schema: v.strictObject({ ok: v.literal(true) }) },
  },
  problems: ['forbidden', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { organization_id: organizationId, invitation_id: id } = params;
    const order = { caller, organizationId, right: 'invitations.revoke' } as const;
    await memberAct(services, order, async (transaction, { organization, userId }) => {
      const invitation = await findInvitation(transaction, organization.id, id);
      if (invitation === null) throw noInvitation();
      if (!(await endInvitation(transaction, id, 'revoked'))) return { result: null, records: [] };
      await takeSeats(transaction, organization.id, -1);
      const details = { email: invitation.email };
      const target = { type: 'invitation', id };
      const record = personRecord(userId, 'invitation.revoke', target, details);
      return { result: null, records: [record] };
    });
    return { status: 200, json: { ok: true } };
  },
});
