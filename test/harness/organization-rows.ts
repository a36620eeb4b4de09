// Organizations and their members as rows, for tests of what stands on them.
import { createAccount } from '../../db/accounts.ts';
import type { Sql } from '../../db/driver/sql.ts';
import type { OrganizationRole, OrganizationStatus } from '../../db/organizations/role.ts';
import { newId } from '../../runtime/ids.ts';
import { addMember as addMemberTo, makeOrganization as makeEmpty } from './organization.ts';

/** The id of an organization whose canonical owner is this account, and a member. */
export async function makeOrganization(sql: Sql, ownerId: string, name = 'Acme'): Promise<number> {
  const organization = await makeEmpty(sql, ownerId);
  await sql`UPDATE organizations SET name = ${name} WHERE id = ${organization.id}`;
  await addMemberTo(sql, organization, ownerId, 'owner');
  return organization.id;
}

export async function addMember(
  sql: Sql,
  id: number,
  userId: string,
  role: OrganizationRole,
): Promise<void> {
  await addMemberTo(sql, { id }, userId, role);
}

/** A person who has proved an address. */
export async function makePerson(sql: Sql, email: string): Promise<string> {
  const id = newId('acc', 0);
  await createAccount(sql, { id, role: 'user' });
  await sql`
    UPDATE accounts SET email = ${email}, email_owned = true, email_verified_at = now()
    WHERE id = ${id}`;
  return id;
}

export async function setStatus(
  sql: Sql,
  organizationId: number,
  status: OrganizationStatus,
): Promise<void> {
  await sql`
    UPDATE organizations SET status = ${status},
      suspended_by = ${status === 'suspended' ? 'owner' : null},
      closed_at = ${status === 'closed' ? new Date() : null}
    WHERE id = ${organizationId}`;
}
