// POST /api/me/organizations/{organization_id}/join: who has proved an address of the
// organization's domain becomes a member.
import * as v from 'valibot';
import { domainOf } from '../../../actors/identity/address.ts';
import { findPerson } from '../../../db/accounts/person.ts';
import { isDomainGood } from '../../../db/organizations/domains.ts';
import { endPending } from '../../../db/organizations/invitations.ts';
import { findMembership, takeSeats } from '../../../db/organizations/records.ts';
import { newId } from '../../../runtime/ids.ts';
import { defineRoute } from '../../define.ts';
import { inStatus, noOrganization, organizationIdOf } from '../../organizations/access.ts';
import { memberTarget, personRecord, runAct } from '../../organizations/act.ts';
import {
  admit,
  blockedJoining,
  provedAddress,
  ruleAgainstJoining,
} from '../../organizations/admitting.ts';
import { organizationParams } from '../../organizations/schema.ts';
import { readMine } from './mine.ts';
import { membershipSchema } from './schema.ts';

export const joinOrganization = defineRoute({
  method: 'POST',
  path: '/api/me/organizations/{organization_id}/join',
  operationId: 'joinOrganization',
  summary: 'Join an organization by your address',
  description:
    'Only those in `joinable` of your organizations, else 404. You become a member. Who is one ' +
    'already is answered with it. 409 `conflict` has the reason `no_seat` or `memberships`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  replies: {
    200: {
      description: 'Your membership.',
      schema: v.strictObject({ ok: v.literal(true), membership: membershipSchema }),
    },
  },
  problems: ['policy_blocked', 'not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const userId = caller.personId;
    const id = organizationIdOf(params.organization_id);
    const done = await runAct(services, id, async (transaction, organization) => {
      const known = await findMembership(transaction, id, userId);
      if (known !== null) return { result: true, records: [] };
      const address = provedAddress(await findPerson(transaction, userId));
      const { allowedDomain: domain, status } = organization;
      const isMeant = address !== null && domain !== null && domainOf(address) === domain;
      if (!isMeant || !(await isDomainGood(transaction, id, domain))) throw noOrganization();
      if (status !== 'active') throw inStatus(status);
      const rule = await ruleAgainstJoining(transaction, organization, userId);
      if (rule !== null) return blockedJoining(userId, rule);
      const accountId = await admit(transaction, {
        organizationId: id,
        userId,
        accountId: newId('acc', services.system.node),
        role: 'member',
        managedBy: 'domain',
        capMicros: null,
        groupIds: [],
      });
      // A seat that waited for the same person is its seat.
      const waited = await endPending(transaction, id, address, 'accepted');
      await takeSeats(transaction, id, 1 - waited.length);
      const record = personRecord(userId, 'member.join', memberTarget(userId), { by: 'domain' });
      return { result: true, records: [record], fences: true, changed: [userId, accountId] };
    });
    if (done === null) throw noOrganization();
    return readMine(services, id, userId);
  },
});
