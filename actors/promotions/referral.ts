// Sign-up's part in referrals: who brought whom stands with the account, of the same transaction.
import type { Transaction } from '../../db/driver/sql.ts';
import { recordReferral } from '../../db/promotions/referrals.ts';
import { newId } from '../../runtime/ids.ts';

/** Null: nobody brought it. */
export async function noteReferral(
  transaction: Transaction,
  node: number,
  { refereeId, referrerId }: { refereeId: string; referrerId: string | null },
): Promise<void> {
  if (referrerId === null) return;
  await recordReferral(transaction, { id: newId('ref', node), refereeId, referrerId });
}
