// The wallet that pays where the first refuses. It is asked once, for the first hold: what has
// begun stays with the wallet that holds for it.
import type { HoldReply } from '../wallet/protocol.ts';

/** The wallet that holds for a request, or is asked to. */
export interface Payment {
  walletId: string;
  walletType: 'personal' | 'organization';
}

/** Who pays first; whose wallet it is, its answer says. */
export function firstPayment({ walletId }: { walletId: string }): Payment {
  return { walletId, walletType: 'personal' };
}

/** Funds, the organization or the member have no room. A key's limit is passed in no wallet. */
function mayFallBack(reply: HoldReply): boolean {
  return (
    reply.status === 'insufficient' || (reply.status === 'over_limit' && reply.cap.kind !== 'key')
  );
}

/**
 * Takes the answer to a hold. True: the payer is another one now, who is to be asked. Nothing was
 * written for the first one, which has refused.
 */
export function takesOver(
  payment: Payment,
  fallbackWalletId: string | null | undefined,
  reply: HoldReply | null,
): boolean {
  if (reply === null) return false;
  if (reply.status === 'held') {
    payment.walletType = reply.isOrganization === true ? 'organization' : 'personal';
    return false;
  }
  if (fallbackWalletId === null || fallbackWalletId === undefined) return false;
  if (payment.walletId === fallbackWalletId || !mayFallBack(reply)) return false;
  payment.walletId = fallbackWalletId;
  return true;
}
