// Organizations and their members as rows, for tests of what stands on them.

import { createAccount } from '../../db/accounts.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { insertHead } from '../../db/organization-audit/head.ts';
import type { OrganizationRole, OrganizationStatus } from '../../db/organizations/role.ts';
import { newId } from '../../runtime/ids.ts';

let made = 0;

/** An organization whose canonical owner is this account. Its id is of this process alone. */
export async function makeOrganization(sql: Sql, ownerId: string, name = 'Acme'): Promise<number> {
  made += 1;
  const id = 100_000 + (process.pid % 20_000) * 100_000 + made;
  const accountId = newId('acc', 0);
  const walletId = newId('wal', 0);
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO accounts (id, kind, role, organization_id)
      VALUES (${accountId}, 'organization', 'user', ${id})`;
    await transaction`
      INSERT INTO wallets (id, account_id, type, counts)
      VALUES (${walletId}, ${accountId}, 'organization', true)`;
    await transaction`
      INSERT INTO organizations (id, account_id, wallet_id, name, owner_user_id, seat_limit)
      VALUES (${id}, ${accountId}, ${walletId}, ${name}, ${ownerId}, 25)`;
    await insertHead(transaction, id, `test.example/audit/${id}`);
  });
  await addMember(sql, id, ownerId, 'owner');
  return id;
}

export async function addMember(
  sql: Sql,
  organizationId: number,
  userId: string,
  role: OrganizationRole,
): Promise<void> {
  const accountId = newId('acc', 0);
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO accounts (id, kind, role, person_id, organization_id)
      VALUES (${accountId}, 'member', 'user', ${userId}, ${organizationId})`;
    await transaction`
      INSERT INTO organization_members (organization_id, user_id, account_id, role)
      VALUES (${organizationId}, ${userId}, ${accountId}, ${role})`;
  });
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
