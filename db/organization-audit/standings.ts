// What a policy is made of, read in the transaction that appends the record. Whatever changes
// settings, status or members locks the organization's row, so none of it changes until the end.
import { arrayLiteral } from '../driver/array.ts';
import type { Transaction } from '../driver/sql.ts';
import type { OrganizationRole, OrganizationStatus } from '../organizations/role.ts';

export interface MemberStanding {
  role: OrganizationRole;
  /** The address is proved, and of a domain that the organization has proved. */
  hasVerifiedDomain: boolean;
}

export interface OrganizationStanding {
  status: OrganizationStatus;
  settings: Readonly<Record<string, unknown>>;
  settingsRevision: bigint;
  ownerUserId: string | null;
  /** Active members among those who were asked about. */
  members: ReadonlyMap<string, MemberStanding>;
}

type Row = {
  status: OrganizationStatus;
  settings: Record<string, unknown>;
  settings_revision: bigint;
  owner_user_id: string | null;
  user_id: string | null;
  role: OrganizationRole;
  has_verified_domain: boolean;
};

/** Null: there is no such organization. */
export async function holdStanding(
  transaction: Transaction,
  organizationId: number,
  userIds: readonly string[],
): Promise<OrganizationStanding | null> {
  const rows = await transaction<Row[]>`
    SELECT o.status, o.settings, o.settings_revision, o.owner_user_id, m.user_id, m.role,
      coalesce(p.email_owned AND p.email_verified_at IS NOT NULL AND EXISTS (
        SELECT FROM organization_domains d
        WHERE d.organization_id = o.id AND d.status IN ('verified', 'failing')
          AND d.domain = split_part(p.email, '@', 2)), false) AS has_verified_domain
    FROM organizations o
    LEFT JOIN organization_members m ON m.organization_id = o.id AND m.status = 'active'
      AND m.user_id = ANY (${arrayLiteral(userIds)}::text::text[])
    LEFT JOIN accounts p ON p.id = m.user_id
    WHERE o.id = ${organizationId} FOR SHARE OF o`;
  const [row] = rows;
  if (row === undefined) return null;
  const members = new Map<string, MemberStanding>();
  for (const { user_id, role, has_verified_domain: hasVerifiedDomain } of rows) {
    if (user_id !== null) members.set(user_id, { role, hasVerifiedDomain });
  }
  return {
    status: row.status,
    settings: row.settings,
    settingsRevision: row.settings_revision,
    ownerUserId: row.owner_user_id,
    members,
  };
}
