// An organization of a test, as rows: its account and wallet, and its members.
import { randomInt } from 'node:crypto';
import { scopes } from '../../actors/credentials/scope.ts';
import { displayPrefix, newKeyToken, tokenHash } from '../../actors/credentials/token.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { createKey } from '../../db/keys.ts';
import { insertHead } from '../../db/organization-audit/head.ts';
import type { OrganizationRole } from '../../db/organizations/role.ts';
import { createWallet } from '../../db/wallets.ts';
import { newId } from '../../runtime/ids.ts';

export interface TestOrganization {
  id: number;
  accountId: string;
  walletId: string;
}

/** Without a member; its canonical owner is to be added. */
export async function makeOrganization(
  sql: Sql,
  ownerId: string,
  settings: Record<string, unknown> = {},
): Promise<TestOrganization> {
  const id = randomInt(100_000, 2 ** 31);
  const accountId = newId('acc', 0);
  const walletId = newId('wal', 0);
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO accounts (id, role, kind, organization_id)
      VALUES (${accountId}, 'user', 'organization', ${id})`;
    await createWallet(transaction, { id: walletId, accountId, type: 'organization' });
    await transaction`
      INSERT INTO organizations (id, account_id, wallet_id, name, owner_user_id, seat_limit,
        seats_taken, settings)
      VALUES (${id}, ${accountId}, ${walletId}, 'Test', ${ownerId}, 1000, 0,
        ${JSON.stringify(settings)}::text::jsonb)`;
    await insertHead(transaction, id, `test.example/audit/${id}`);
  });
  return { id, accountId, walletId };
}

/** The membership's account. */
export async function addMember(
  sql: Sql,
  { id }: Pick<TestOrganization, 'id'>,
  personId: string,
  role: OrganizationRole,
): Promise<string> {
  const accountId = newId('acc', 0);
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO accounts (id, role, kind, person_id, organization_id)
      VALUES (${accountId}, 'user', 'member', ${personId}, ${id})`;
    await transaction`
      INSERT INTO organization_members (organization_id, user_id, account_id, role)
      VALUES (${id}, ${personId}, ${accountId}, ${role})`;
    await transaction`
      UPDATE organizations SET seats_taken = seats_taken + 1 WHERE id = ${id}`;
  });
  return accountId;
}

/** An API key of an account, which a wallet pays for. */
export async function addKey(
  sql: Sql,
  { accountId, walletId }: { accountId: string; walletId: string },
): Promise<{ id: string; token: string }> {
  const token = newKeyToken('test');
  const id = newId('key', 0);
  await createKey(sql, {
    id,
    accountId,
    walletId,
    label: 'test',
    environment: 'test',
    scopes: [...scopes],
    tokenHash: tokenHash(token),
    prefix: displayPrefix(token),
    requestsPerMinute: 100_000,
    concurrencyMax: 1_000,
  });
  return { id, token };
}
