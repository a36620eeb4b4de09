// The wallet is asked before what is dear is done for a request: who cannot pay for the least of it
// occupies nobody's threads. The hold decides later; this look only says what it would surely say.
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { plainProblem, toProblem } from '../../runtime/problem.ts';
import type { Limits } from '../limits.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import type { FundsEstimate } from './funds-estimate.ts';

export interface LookServices {
  wallet(walletId: string): ActorRef<WalletProtocol>;
  fundsEstimate: FundsEstimate;
  limits: Pick<Limits, 'ledger'>;
}

/**
 * Asks whether a hold of `leastMicros`, the least that the request may cost, fits into the wallet.
 * A ledger that does not answer refuses nobody: the hold will.
 * @throws Problem insufficient_credits
 */
export async function requireFunds(
  { wallet, fundsEstimate, limits }: LookServices,
  walletId: string,
  leastMicros: bigint,
): Promise<void> {
  if (leastMicros === 0n) return;
  if (fundsEstimate.expectsFunds(walletId, leastMicros, Date.now())) return;
  const look = { amountMicros: leastMicros };
  const answer = await wallet(walletId).ask('look', look, limits.ledger.askTimeoutMs);
  if (!answer.ok || answer.value.status !== 'ok') return;
  const { availableMicros } = answer.value;
  if (availableMicros >= leastMicros) return;
  const amounts = {
    required_microcredits: Number(leastMicros),
    available_microcredits: Number(availableMicros),
  };
  throw toProblem(plainProblem('insufficient_credits', undefined, amounts));
}
