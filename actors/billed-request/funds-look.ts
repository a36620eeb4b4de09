// The wallet is asked before what is dear is done for a request: who cannot pay for the least of it
// occupies nobody's threads. The hold decides later; this look only says what it would surely say.
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { toProblem } from '../../runtime/problem.ts';
import type { Limits } from '../limits.ts';
import type { LookReply, WalletProtocol } from '../wallet/protocol.ts';
import { firstPayment, takesOver } from './fallback.ts';
import type { FundsEstimate, Payer } from './funds-estimate.ts';
import { refusalProblem, type SpendRefusal } from './spend-refusal.ts';

export interface LookServices {
  wallet(walletId: string): ActorRef<WalletProtocol>;
  fundsEstimate: FundsEstimate;
  limits: Pick<Limits, 'ledger'>;
}

/** Who is to pay, and who does where that wallet refuses. */
export type LookedAt = Payer & { fallbackWalletId?: string | null | undefined };

/**
 * Asks whether a hold of `leastMicros`, the least that the request may cost, fits into the wallet
 * and below all caps. Else the wallet that pays in its place is asked. A ledger that does not
 * answer refuses nobody: the hold will.
 * @throws Problem insufficient_credits, spend_limit_exceeded, policy_blocked, forbidden
 */
export async function requireFunds(
  { wallet, fundsEstimate, limits }: LookServices,
  payer: LookedAt,
  leastMicros: bigint,
): Promise<void> {
  if (leastMicros === 0n) return;
  if (fundsEstimate.expectsFunds(payer, leastMicros, Date.now())) return;
  const { accountId, apiKeyId, fallbackWalletId } = payer;
  const look = { amountMicros: leastMicros, spender: { accountId, apiKeyId } };
  const payment = firstPayment(payer);
  for (;;) {
    const answer = await wallet(payment.walletId).ask('look', look, limits.ledger.askTimeoutMs);
    const refusal = answer.ok ? refusalIn(answer.value, leastMicros) : null;
    if (refusal === null) return;
    if (!takesOver(payment, fallbackWalletId, refusal)) throw toProblem(refusalProblem(refusal));
  }
}

function refusalIn(reply: LookReply, requiredMicros: bigint): SpendRefusal | null {
  if (reply.status === 'not_allowed') return reply;
  if (reply.status !== 'ok' || reply.availableMicros >= requiredMicros) return null;
  const { availableMicros, cap } = reply;
  const told = { requiredMicros, availableMicros };
  return cap === undefined
    ? { status: 'insufficient', ...told }
    : { status: 'over_limit', ...told, cap };
}
