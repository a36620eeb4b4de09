// Who was given up and comes to its end all the same: whether others have run its key since.
import type { BatchEntry } from '../../runtime/actor/contract.ts';
import type { Wallet } from './funds.ts';
import { claimKey, endOf, type Known, wasGivenUp } from './ledger.ts';
import type { LedgerAccess } from './ledger-access.ts';
import type { WalletProtocol } from './protocol.ts';

/** Generations that are to be settled although they were given up; null: none, as nearly always. */
export function givenUp(
  wallet: Wallet,
  entries: readonly BatchEntry<WalletProtocol>[],
  known: Known,
): string[] | null {
  let ids: string[] | null = null;
  for (const { message, payload } of entries) {
    if (message !== 'settle' || payload.keyed !== true || payload.finish === null) continue;
    if (wallet.holds.has(payload.holdId)) continue;
    const end = endOf(wallet, payload.holdId, known);
    if (end === null || !wasGivenUp(end)) continue;
    ids ??= [];
    ids.push(payload.finish.id);
  }
  return ids;
}

/**
 * Makes known which of these have lost their key; false: the database does not say. To be asked for
 * each attempt: whoever takes a key later changes the wallet's version.
 */
export async function findSuperseded(
  ledgerAccess: Pick<LedgerAccess, 'findKeys'>,
  wallet: Wallet,
  ids: string[],
  known: Known,
): Promise<boolean> {
  const found = await ledgerAccess.findKeys(ids);
  if (!found.ok) return false;
  known.superseded = new Set(ids);
  for (const key of found.value) {
    // Its taker's own write may still be on its way.
    const taker = wallet.runningByKey.get(claimKey(key) ?? '') ?? key.generationId;
    if (taker === key.generationId) known.superseded.delete(key.generationId);
  }
  return true;
}
