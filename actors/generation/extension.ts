// The next slice of a generation's hold: asked for by whoever has counted the step up.
import type { ActorContext } from '../../runtime/actor/contract.ts';
import { nextSlice } from './funds.ts';
import type { GenerationProtocol } from './protocol.ts';
import { cardsLeft, type GenerationState } from './state.ts';

/** Asks the wallet for the step that is under way, once more too; the answer is `extended`. */
export function askSlice(state: GenerationState, context: ActorContext<GenerationProtocol>): void {
  const { funds, payment, deps } = state;
  if (state.phase !== 'running' || !funds.extending) return;
  void deps
    .wallet(payment.walletId)
    .ask(
      'extend',
      {
        holdId: state.holdId,
        step: funds.step,
        ...nextSlice(cardsLeft(state), funds, deps.limits.generation.sliceTokens),
        expiresAtMs: Date.now() + deps.limits.ledger.holdExpiryMs,
      },
      deps.limits.ledger.askTimeoutMs,
    )
    .then((answer) => context.self.tell('extended', answer));
}
