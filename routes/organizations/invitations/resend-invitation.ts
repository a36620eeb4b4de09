// POST /api/enterprise/organizations/{organization_id}/invitations/{invitation_id}/resend: the mail
// once more, and seven days from now on.
import { organizationLimits } from '../../../actors/organization/limits.ts';
import { findPerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { findInvitation, prolongInvitation } from '../../../db/organizations/invitations.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { forbidden } from '../access.ts';
import { memberAct, personRecord } from '../act.ts';
import { mayGive } from '../members/rank.ts';
import {
  countInvitation,
  invitationBody,
  invitationParams,
  invitationReply,
  noInvitation,
  writeInvitation,
} from './schema.ts';

const { invitationMs: lifetimeMs } = organizationLimits;

export const resendInvitation = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/invitations/{invitation_id}/resend',
  operationId: 'resendOrganizationInvitation',
  summary: 'Send an invitation again',
  description: 'Its seven days begin anew. One that is not pending is 409 `invalid_state`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: invitationParams,
  replies: { 200: { description: 'The invitation.', schema: invitationReply } },
  problems: [
    ...(['forbidden', 'not_found', 'invalid_state', 'rate_limited'] as const),
    'dependency_unavailable',
  ],
  async handle({ params, caller, services }) {
    const { organization_id: organizationId, invitation_id: id } = params;
    const order = { caller, organizationId, right: 'invitations.write' } as const;
    await memberAct(services, order, async (transaction, { organization, role, userId }) => {
      const invitation = await findInvitation(transaction, organization.id, id);
      if (invitation === null) throw noInvitation();
      const { status, email } = invitation;
      if (status !== 'pending') {
        throw new Problem('invalid_state', {
          message: `The invitation is ${status}.`,
          details: { reason: 'invitation_status', status },
        });
      }
      if (!mayGive(role, invitation.role)) throw forbidden('It gives a role above your own.');
      countInvitation(services, organization);
      await prolongInvitation(transaction, id, lifetimeMs);
      const person = await findPerson(transaction, userId);
      const inviter = person?.fullName ?? person?.email ?? 'Somebody';
      const told = { email, expiresAt: new Date(Date.now() + lifetimeMs) };
      const { name } = organization;
      const mail = await writeInvitation(services, transaction, told, { name, inviter });
      const target = { type: 'invitation', id };
      const record = personRecord(userId, 'invitation.resend', target, { email });
      return { result: null, records: [record], mails: [mail] };
    });
    const row = await withDeadline(findInvitation(services.sql, null, id));
    if (row === null) throw noInvitation();
    const json = { ok: true, invitation: invitationBody(row) };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
