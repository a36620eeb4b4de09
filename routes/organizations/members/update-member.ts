// PATCH /api/enterprise/organizations/{organization_id}/members/{user_id}: another role, or a cap.
import * as v from 'valibot';
import { readSettings } from '../../../actors/organization/settings.ts';
import { changeMember, findMember, type Member } from '../../../db/organizations/members.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { forbidden, inStatus, type Seat } from '../access.ts';
import { type Acted, memberAct, memberTarget, personRecord } from '../act.ts';
import { protectCanonical } from '../ending.ts';
import { expectedEntries } from '../schema.ts';
import { memberAnswer, noMember } from './answer.ts';
import { isNarrower, type MemberChange, mayChange } from './rank.ts';
import { capSchema, effectiveCap, memberParams, memberReply, roleSchema } from './schema.ts';

export const updateMember = defineRoute({
  method: 'PATCH',
  path: '/api/enterprise/organizations/{organization_id}/members/{user_id}',
  operationId: 'updateOrganizationMember',
  summary: 'Change the role or the cap of a member',
  description:
    '`role`: owners and admins, and managers for members; none above your own, and of nobody ' +
    'above you. `monthly_spend_limit_micros`: owners, admins and the billing role; null: the ' +
    'default of members. While the organization is suspended only a lower cap. The canonical ' +
    'owner stays an owner: 409 `invalid_state`, reason `canonical_owner`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: memberParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { role: 'manager', monthly_spend_limit_micros: 50_000_000 },
    schema: v.strictObject({
      role: v.optional(roleSchema),
      monthly_spend_limit_micros: v.optional(capSchema),
      ...expectedEntries,
    }),
  },
  replies: { 200: { description: 'The member as it is now.', schema: memberReply } },
  problems: ['forbidden', 'not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const { role, monthly_spend_limit_micros: cap, expected_revision: expectedRevision } = body;
    const capMicros = cap == null ? cap : BigInt(cap);
    const order = { caller, organizationId, right: 'members.update', expectedRevision } as const;
    const { organization, userId } = await memberAct(services, order, async (sql, seat) => {
      const wanted = params.user_id === 'me' ? seat.userId : params.user_id;
      const member = await findMember(sql, seat.organization.id, wanted);
      if (member?.status !== 'active') throw noMember();
      const after = judged(seat, member, { role, capMicros });
      if (after !== null) await changeMember(sql, seat.organization.id, after);
      const result = { organization: seat.organization, userId: wanted };
      return { result, ...told(seat, member, after) };
    });
    return memberAnswer(services, organization, userId);
  },
});

/** The member after the change; null: nothing changes. @throws Problem forbidden, invalid_state */
function judged(seat: Seat, member: Member, change: MemberChange): Member | null {
  const { role = member.role, capMicros = member.capMicros } = change;
  const isRaised = role !== member.role;
  const asked = { role: change.role === undefined ? undefined : role, capMicros: change.capMicros };
  if (!mayChange(seat.role, member.role, asked)) {
    throw forbidden('Your role does not allow this change of this member.');
  }
  if (isRaised) protectCanonical(seat.organization, member.userId);
  const after = { ...member, role, capMicros };
  if (!isRaised && capMicros === member.capMicros) return null;
  const { status, settings: stored } = seat.organization;
  const settings = readSettings(stored);
  const before = effectiveCap(member, settings);
  if (status !== 'active' && (isRaised || !isNarrower(before, effectiveCap(after, settings)))) {
    throw inStatus(status);
  }
  return after;
}

function told(seat: Seat, before: Member, after: Member | null): Omit<Acted<null>, 'result'> {
  if (after === null) return { records: [] };
  const cap = ({ capMicros }: Member) => (capMicros === null ? null : Number(capMicros));
  const details = {
    ...(before.role === after.role ? {} : { role: [before.role, after.role] }),
    ...(before.capMicros === after.capMicros
      ? {}
      : { monthly_spend_limit_micros: [cap(before), cap(after)] }),
  };
  const target = memberTarget(after.userId);
  const records = [personRecord(seat.userId, 'member.update', target, details)];
  return { records, fences: true, changed: [after.accountId] };
}
