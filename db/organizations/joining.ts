// How a person comes to be in an organization by itself, and in which it acts without naming one.
import type { Queryable, Transaction } from '../driver/sql.ts';
import { type Organization, type OrganizationRow, readOrganization } from '../organizations.ts';

/** Active organizations that let addresses of the domain in, and that the person is not in. */
export async function listAllowing(
  sql: Queryable,
  userId: string,
  domain: string,
): Promise<Organization[]> {
  const rows = await sql<OrganizationRow[]>`
    SELECT o.* FROM organizations o
    WHERE o.allowed_domain = ${domain} AND o.status = 'active' AND NOT EXISTS (
      SELECT FROM organization_members m
      WHERE m.organization_id = o.id AND m.user_id = ${userId} AND m.status = 'active')
    ORDER BY o.id LIMIT 100`;
  return rows.map(readOrganization);
}

/** In which organization the person acts by default; null: as itself. */
export async function readDefault(sql: Queryable, userId: string): Promise<number | null> {
  const [row] = await sql<{ default_organization_id: number | null }[]>`
    SELECT default_organization_id FROM accounts WHERE id = ${userId}`;
  return row?.default_organization_id ?? null;
}

/** False: the person is no member. Whoever ends the membership meanwhile waits, and clears it. */
export async function setDefault(
  transaction: Transaction,
  userId: string,
  organizationId: number | null,
): Promise<boolean> {
  if (organizationId !== null) {
    const rows = await transaction`
      SELECT 1 FROM organization_members m JOIN organizations o ON o.id = m.organization_id
      WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}
        AND m.status = 'active' AND o.status <> 'closed' FOR SHARE OF o, m`;
    if (rows.length === 0) return false;
  }
  await transaction`
    UPDATE accounts SET default_organization_id = ${organizationId} WHERE id = ${userId}`;
  return true;
}
