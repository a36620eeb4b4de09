// A person is barred, or is again not: what was decided on wallets of its organizations is void.
import type { Transaction } from '../driver/sql.ts';
import { fenceWallet } from './fence.ts';

/** New versions for the wallets of all organizations that the person is in, in one order. */
export async function fenceMemberships(transaction: Transaction, personId: string): Promise<void> {
  const wallets = await transaction<{ id: string }[]>`
    SELECT g.wallet_id AS id FROM organization_members m
    JOIN organizations g ON g.id = m.organization_id
    WHERE m.user_id = ${personId} AND m.status = 'active' ORDER BY g.wallet_id`;
  for (const { id } of wallets) await fenceWallet(transaction, id);
}
