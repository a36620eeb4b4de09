// POST /api/enterprise/organizations/{organization_id}/invitations: invites an address. It takes a
// seat, and replaces one that waits for the same address.
import * as v from 'valibot';
import { parseAddress } from '../../../actors/identity/address.ts';
import { organizationLimits } from '../../../actors/organization/limits.ts';
import { findPerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { findUnknownGroups } from '../../../db/organizations/groups.ts';
import * as rows from '../../../db/organizations/invitations.ts';
import { takeSeats } from '../../../db/organizations/records.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { newId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { forbidden } from '../access.ts';
import { memberAct, personRecord } from '../act.ts';
import { mayGive } from '../members/rank.ts';
import { capSchema, roleSchema } from '../members/schema.ts';
import { expectedEntries, organizationParams } from '../schema.ts';
import {
  countInvitation,
  invitationBody,
  invitationReply,
  noInvitation,
  writeInvitation,
} from './schema.ts';

const { invitationMs: lifetimeMs, groupsMax } = organizationLimits;

export const createInvitation = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/invitations',
  operationId: 'createOrganizationInvitation',
  summary: 'Invite somebody',
  description:
    'Owners, admins and managers; no role above your own. A mail leads to /account/invitations, ' +
    'where the account that has proved the address accepts, within 7 days. A newer invitation ' +
    'replaces it. 409 `conflict`, reason `no_seat`, when none is free. 100 an hour.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { email: 'ada@example.com', role: 'member' },
    schema: v.strictObject({
      email: v.pipe(v.string(), v.minLength(3), v.maxLength(254)),
      role: v.optional(roleSchema, 'member'),
      group_ids: v.optional(v.pipe(v.array(lineOfText(100)), v.maxLength(groupsMax)), []),
      monthly_spend_limit_micros: v.optional(capSchema, null),
      ...expectedEntries,
    }),
  },
  replies: { 201: { description: 'The invitation.', schema: invitationReply } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found', 'conflict', 'invalid_state'] as const),
    ...(['rate_limited', 'dependency_unavailable'] as const),
  ],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const { role, monthly_spend_limit_micros: cap, expected_revision: expectedRevision } = body;
    const email = parseAddress(body.email);
    if (email === null) throw fieldProblem('email', 'This is no address of mail.');
    const groupIds = [...new Set(body.group_ids)];
    const id = newId('inv', services.system.node);
    const order = { caller, organizationId, right: 'invitations.write', expectedRevision } as const;
    await memberAct(services, order, async (transaction, { organization, role: own, userId }) => {
      if (!mayGive(own, role)) throw forbidden('You cannot give a role above your own.');
      // Who may cap members may cap who is to be one.
      if (cap !== null && own === 'manager') throw forbidden('Your role does not set caps.');
      const unknown = await findUnknownGroups(transaction, organization.id, groupIds);
      const wrong = groupIds.findIndex((group) => unknown.has(group));
      if (wrong >= 0) throw fieldProblem(`group_ids[${wrong}]`, 'There is no such group.');
      countInvitation(services, organization);
      const replaced = await rows.endPending(transaction, organization.id, email, 'revoked');
      await takeSeats(transaction, organization.id, 1 - replaced.length);
      const capMicros = cap === null ? null : BigInt(cap);
      const made = { id, organizationId: organization.id, email, role, groupIds, capMicros };
      await rows.createInvitation(transaction, { ...made, invitedBy: userId, lifetimeMs });
      const person = await findPerson(transaction, userId);
      const inviter = person?.fullName ?? person?.email ?? 'Somebody';
      const told = { email, expiresAt: new Date(Date.now() + lifetimeMs) };
      const { name } = organization;
      const mail = await writeInvitation(services, transaction, told, { name, inviter });
      const details = { email, role, group_ids: groupIds, replaced };
      const target = { type: 'invitation', id };
      const record = personRecord(userId, 'invitation.create', target, details);
      return { result: null, records: [record], mails: [mail] };
    });
    const row = await withDeadline(rows.findInvitation(services.sql, null, id));
    if (row === null) throw noInvitation();
    const json = { ok: true, invitation: invitationBody(row) };
    return { status: 201, headers: { 'cache-control': 'no-store' }, json };
  },
});
