// Roles in an organization, in the order of their rank.

export const organizationRoles = ['owner', 'admin', 'billing', 'manager', 'member'] as const;

export type OrganizationRole = (typeof organizationRoles)[number];

/** Whether `role` ranks above `other`. */
export function ranksAbove(role: OrganizationRole, other: OrganizationRole): boolean {
  return organizationRoles.indexOf(role) < organizationRoles.indexOf(other);
}

export type OrganizationStatus = 'active' | 'suspended' | 'closed';
