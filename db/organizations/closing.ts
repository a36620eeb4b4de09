// What an organization's end takes with it at once, and whether a person can be its canonical
// owner.
import type { Transaction } from '../driver/sql.ts';
import { endPending } from './invitations.ts';
import { setStatus, takeSeats } from './records.ts';

/**
 * Closes a locked organization: its keys and its members' there are revoked, nobody is waited for,
 * nobody acts there by default. Returns the ids of what is good for nothing any more.
 */
export async function closeOrganization(transaction: Transaction, id: number): Promise<string[]> {
  await setStatus(transaction, id, 'closed', null);
  const waited = await endPending(transaction, id, null, 'revoked');
  await takeSeats(transaction, id, -waited.length);
  const accounts = await transaction<{ id: string }[]>`
    SELECT id FROM accounts WHERE organization_id = ${id} ORDER BY id`;
  const keys = await transaction<{ id: string }[]>`
    UPDATE api_keys k SET status = 'revoked', revoked_at = now() FROM accounts a
    WHERE a.organization_id = ${id} AND k.account_id = a.id AND k.status = 'active'
    RETURNING k.id`;
  await transaction`
    UPDATE accounts SET default_organization_id = NULL WHERE default_organization_id = ${id}`;
  return [...accounts, ...keys].map((row) => row.id);
}

/** Whether the account is in use, until the transaction ends: a deletion waits for that. */
export async function holdActiveAccount(
  transaction: Transaction,
  accountId: string,
): Promise<boolean> {
  const rows = await transaction`
    SELECT 1 FROM accounts WHERE id = ${accountId} AND disabled_at IS NULL
      AND deleting_at IS NULL AND erased_at IS NULL FOR SHARE`;
  return rows.length > 0;
}

/** Whether the person is the canonical owner of one that is not closed; it is locked for that. */
export async function ownsOrganization(
  transaction: Transaction,
  accountId: string,
): Promise<boolean> {
  await transaction`SELECT 1 FROM accounts WHERE id = ${accountId} FOR UPDATE`;
  const rows = await transaction`
    SELECT 1 FROM organizations WHERE owner_user_id = ${accountId} AND status <> 'closed' LIMIT 1`;
  return rows.length > 0;
}
