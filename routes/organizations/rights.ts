// Who may do what in an organization, by role and by its status (organizations.md, sections 2 and
// 8). One table, so that a test can ask every cell of it.
import type { OrganizationRole, OrganizationStatus } from '../../db/organizations/role.ts';

export interface Right {
  roles: readonly OrganizationRole[];
  /** It changes something. */
  writes: boolean;
  /** It stays possible while the organization is suspended. */
  whileSuspended: boolean;
  /** Among owners the canonical one alone. */
  isCanonical?: true;
}

const everybody = ['owner', 'admin', 'billing', 'manager', 'member'] as const;
const ownersAndAdmins = ['owner', 'admin'] as const;
const managers = ['owner', 'admin', 'manager'] as const;
const money = ['owner', 'admin', 'billing'] as const;

const read = (roles: readonly OrganizationRole[]): Right => ({
  roles,
  writes: false,
  whileSuspended: true,
});
const write = (roles: readonly OrganizationRole[]): Right => ({
  roles,
  writes: true,
  whileSuspended: false,
});
/** What takes something away. */
const take = (roles: readonly OrganizationRole[]): Right => ({
  roles,
  writes: true,
  whileSuspended: true,
});

export const rights = {
  'organization.read': read(everybody),
  'balance.read': read(money),
  'organization.update': write(ownersAndAdmins),
  'organization.suspend': take(['owner']),
  'organization.activate': take(['owner']),
  'organization.close': { ...take(['owner']), isCanonical: true },
  'organization.hand_over': { ...write(['owner']), isCanonical: true },
  'members.read': read(everybody),
  /** Which of them, and what of them, is decided by what is changed. */
  'members.update': take(['owner', 'admin', 'billing', 'manager']),
  'members.remove': take(managers),
  'members.leave': take(everybody),
  'invitations.read': read(managers),
  'invitations.write': write(managers),
  'invitations.revoke': take(managers),
  'groups.read': read(everybody),
  'groups.write': write(managers),
  'groups.remove': take(managers),
  'audit.read': read(ownersAndAdmins),
  'audit.checkpoint': take(ownersAndAdmins),
  'domains.read': read(ownersAndAdmins),
  'domains.write': write(ownersAndAdmins),
  'domains.remove': take(ownersAndAdmins),
  'wallet.read': read(money),
  'infrastructure.read': read(managers),
  'settings.read': read(everybody),
  /** Which of them, and what while suspended, is decided by what is changed. */
  'settings.update': take(money),
  'keys.read': read(money),
  'keys.write': write(ownersAndAdmins),
  'keys.revoke': take(ownersAndAdmins),
} as const satisfies Record<string, Right>;

export type RightName = keyof typeof rights;

export interface Standing {
  role: OrganizationRole;
  isCanonicalOwner: boolean;
  status: OrganizationStatus;
}

/** `forbidden`: of another role; `invalid_state`: not in this status; null: it may be done. */
export function judge(right: Right, standing: Standing): 'forbidden' | 'invalid_state' | null {
  const { role, isCanonicalOwner, status } = standing;
  if (!right.roles.includes(role)) return 'forbidden';
  if (right.isCanonical === true && !isCanonicalOwner) return 'forbidden';
  if (!right.writes) return status === 'closed' && !isCanonicalOwner ? 'forbidden' : null;
  if (status === 'closed') return 'invalid_state';
  return status === 'suspended' && !right.whileSuspended ? 'invalid_state' : null;
}
