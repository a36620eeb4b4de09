// Who may change whom: nobody gives a role above the own, or changes or removes somebody above.
// Pure.
import { type OrganizationRole, ranksAbove } from '../../../db/organizations/role.ts';

export interface MemberChange {
  /** Undefined: it stays. */
  role?: OrganizationRole | undefined;
  /** Undefined: it stays. */
  capMicros?: bigint | null | undefined;
}

const changers: readonly OrganizationRole[] = ['owner', 'admin', 'manager'];
const payers: readonly OrganizationRole[] = ['owner', 'admin', 'billing'];

/** Whether a member of the role may give this role to somebody, as in an invitation. */
export function mayGive(own: OrganizationRole, role: OrganizationRole): boolean {
  return changers.includes(own) && !ranksAbove(role, own);
}

/** Whether it may remove who has this role. Managers: members alone. */
export function mayRemove(own: OrganizationRole, role: OrganizationRole): boolean {
  if (!changers.includes(own) || ranksAbove(role, own)) return false;
  return own !== 'manager' || role === 'member';
}

/** Whether it may change this of who has the role. */
export function mayChange(
  own: OrganizationRole,
  role: OrganizationRole,
  change: MemberChange,
): boolean {
  if (ranksAbove(role, own)) return false;
  if (change.capMicros !== undefined && !payers.includes(own)) return false;
  if (change.role === undefined) return true;
  return mayRemove(own, role) && mayGive(own, change.role);
}

/** Whether a cap is no wider than the one before; null is the widest. */
export function isNarrower(before: bigint | null, after: bigint | null): boolean {
  if (after === null) return before === null;
  return before === null || after <= before;
}
