// A member as others of the organization see it, by the rule of the directory.
import * as v from 'valibot';
import { decide } from '../../../actors/organization/policy.ts';
import type { OrganizationSettings } from '../../../actors/organization/settings.ts';
import { type Member, memberStatuses } from '../../../db/organizations/members.ts';
import { organizationRoles } from '../../../db/organizations/role.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { policyOf, type Seat } from '../access.ts';

const micros = v.pipe(v.number(), v.integer());

export const memberParams = v.strictObject({
  organization_id: lineOfText(20),
  user_id: v.pipe(lineOfText(100), v.description('`me`: the one who asks.')),
});

export const capSchema = v.nullable(
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER)),
);

export const roleSchema = v.picklist(organizationRoles);

export const memberSchema = v.pipe(
  v.strictObject({
    user_id: v.string(),
    email: v.nullable(v.string()),
    full_name: v.nullable(v.string()),
    role: roleSchema,
    status: v.picklist(memberStatuses),
    managed_by: v.picklist(['manual', 'domain', 'sso', 'scim']),
    groups: v.array(v.string()),
    monthly_spend_limit_micros: v.pipe(
      v.nullable(micros),
      v.description('Its own cap by UTC month; null: the default of members.'),
    ),
    effective_limit_micros: v.pipe(v.nullable(micros), v.description('Null: none.')),
    spent_micros: v.pipe(micros, v.description('In this UTC month.')),
    held_micros: micros,
    joined_at: v.string(),
  }),
  v.title('OrganizationMember'),
);

export const memberReply = v.strictObject({ ok: v.literal(true), member: memberSchema });

export const removedSchema = v.strictObject({
  keys: v.pipe(v.number(), v.integer()),
  connections: v.pipe(v.number(), v.integer()),
  mcp_servers: v.pipe(v.number(), v.integer()),
});

/** The own cap, else the default, from which owners and admins are exempt. */
export function effectiveCap(
  { capMicros, role }: Pick<Member, 'capMicros' | 'role'>,
  { default_member_spend_limit_micros: general }: OrganizationSettings,
): bigint | null {
  if (capMicros !== null) return capMicros;
  if (general === null || role === 'owner' || role === 'admin') return null;
  return BigInt(general);
}

const number = (value: bigint | null) => (value === null ? null : Number(value));

export function memberBody(member: Member, settings: OrganizationSettings) {
  return {
    user_id: member.userId,
    email: member.email,
    full_name: member.fullName,
    role: member.role,
    status: member.status,
    managed_by: member.managedBy,
    groups: member.groups,
    monthly_spend_limit_micros: number(member.capMicros),
    effective_limit_micros: number(effectiveCap(member, settings)),
    spent_micros: Number(member.spentMicros),
    held_micros: Number(member.heldMicros),
    joined_at: member.joinedAt.toISOString(),
  };
}

/** Whether the directory shows others than the one who asks. */
export function seesOthers(seat: Seat): boolean {
  const action = { kind: 'directory.read', isSelf: false } as const;
  return decide(policyOf(seat), action).allowed;
}
