// Owners and admins of an organization, who are told of its domains.
import type { Queryable } from '../driver/sql.ts';

export interface Director {
  accountId: string;
  email: string;
  organizationName: string;
}

/** Owners and admins with an address of their own. */
export async function listDirectors(sql: Queryable, organizationId: number): Promise<Director[]> {
  return await sql<Director[]>`
    SELECT a.id AS "accountId", a.email, o.name AS "organizationName"
    FROM organization_members m JOIN accounts a ON a.id = m.user_id
      JOIN organizations o ON o.id = m.organization_id
    WHERE m.organization_id = ${organizationId} AND m.status = 'active'
      AND m.role IN ('owner', 'admin') AND a.email IS NOT NULL AND a.email_owned
      AND a.disabled_at IS NULL
    ORDER BY a.id`;
}
