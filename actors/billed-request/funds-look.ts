// The wallet is asked before what is dear is done for a request: who cannot pay for the least of it
// occupies nobody's threads. The hold decides later; this look only says what it would surely say.
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { plainProblem, toProblem } from '../../runtime/problem.ts';
import type { Limits } from '../limits.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import type { FundsEstimate, Payer } from './funds-estimate.ts';
import { limitProblem } from './spend-refusal.ts';

export interface LookServices {
  wallet(walletId: string): ActorRef<WalletProtocol>;
  fundsEstimate: FundsEstimate;
  limits: Pick<Limits, 'ledger'>;
}

/**
 * Asks whether a hold of `leastMicros`, the least that the request may cost, fits into the wallet
 * and below the key's cap. A ledger that does not answer refuses nobody: the hold will.
 * @throws Problem insufficient_credits, spend_limit_exceeded
 */
export async function requireFunds(
  { wallet, fundsEstimate, limits }: LookServices,
  payer: Payer,
  leastMicros: bigint,
): Promise<void> {
  if (leastMicros === 0n) return;
  if (fundsEstimate.expectsFunds(payer, leastMicros, Date.now())) return;
  const look = { amountMicros: leastMicros, apiKeyId: payer.apiKeyId };
  const answer = await wallet(payer.walletId).ask('look', look, limits.ledger.askTimeoutMs);
  if (!answer.ok || answer.value.status !== 'ok') return;
  const { availableMicros, cap } = answer.value;
  if (availableMicros >= leastMicros) return;
  if (cap !== undefined) {
    throw toProblem(limitProblem({ requiredMicros: leastMicros, availableMicros, cap }));
  }
  const amounts = {
    required_microcredits: Number(leastMicros),
    available_microcredits: Number(availableMicros),
  };
  throw toProblem(plainProblem('insufficient_credits', undefined, amounts));
}
