// The one repair of a structured answer that its provider did not constrain: paid for before it is
// asked for, so that a wallet is never taken by surprise by a second call.
import { estimateInputTokens } from '../../media/model/tokens.ts';
import { totalInputTokens } from '../../media/model/usage.ts';
import type { ActorContext } from '../../runtime/actor/contract.ts';
import { plainProblem } from '../../runtime/problem.ts';
import { noProbe } from '../provider-health/breaker.ts';
import type { ExtendReply } from '../wallet/protocol.ts';
import { forgetAnswer } from './attempt.ts';
import { callCandidate } from './attempts.ts';
import { estimatedUsage, withUncounted } from './charging.ts';
import { finishGeneration } from './closing.ts';
import { askSlice } from './extension.ts';
import { addSlice, holdsAgain, needAgain } from './funds.ts';
import type { GenerationProtocol } from './protocol.ts';
import type { Candidate } from './spec.ts';
import { cardsLeft, deliveredTokens, type GenerationState } from './state.ts';
import { repairRequest } from './structure.ts';

type Context = ActorContext<GenerationProtocol>;

/** Books the answer that broke the format and asks once more, when that is paid for. */
export function beginRepair(state: GenerationState, context: Context, candidate: Candidate): void {
  const { structure, funds } = state;
  const request = repairRequest(state.request, state.answer);
  const spent = withUncounted(state, state.usage ?? estimatedUsage(state));
  structure.repaired = true;
  structure.spent = spent;
  structure.spentEstimated = state.usage === null;
  structure.spentTokens = Math.max(
    deliveredTokens(state),
    spent.outputTokens + spent.reasoningTokens,
  );
  state.request = request;
  // The same model alone: what it has used is priced with its own card.
  state.candidates = state.candidates.filter(({ model }) => model === candidate.model);
  forgetAnswer(state);
  needAgain(funds, {
    inputTokens: totalInputTokens(spent) + estimateInputTokens(request),
    outputTokens: structure.spentTokens,
    searchCalls: spent.searchCalls,
    ...(spent.toolCalls === undefined ? {} : { toolCalls: spent.toolCalls }),
  });
  // Asked also when the hold covers it: it was made to outlive one answer, and this is another.
  structure.pending = { candidate, asked: !funds.extending };
  if (!funds.extending) askFunds(state, context);
}

/** The wallet has answered while a repair waits for it. */
export function fundsForRepair(
  state: GenerationState,
  context: Context,
  reply: Extract<ExtendReply, { status: 'extended' }> | null,
): void {
  const { structure, funds, deps } = state;
  const { pending, spentTokens } = structure;
  if (pending === null) return;
  const { sliceTokens } = deps.limits.generation;
  if (reply !== null) funds.heldMicros += reply.addedMicros;
  let isCovered = holdsAgain(cardsLeft(state), funds, spentTokens, sliceTokens);
  if (!pending.asked && (!isCovered || reply === null)) {
    // That was the slice of the first answer, which was still under way.
    pending.asked = true;
    askFunds(state, context);
    return;
  }
  structure.pending = null;
  if (!isCovered) {
    addSlice(cardsLeft(state), funds, 0n, sliceTokens);
    isCovered = funds.heldTokens > spentTokens;
  }
  if (isCovered) {
    callCandidate(state, context, pending.candidate, noProbe);
    return;
  }
  const message =
    'The answer breaks the response format, and the credits do not suffice to have it repaired.';
  const problem = plainProblem('insufficient_credits', message);
  finishGeneration(state, context, { status: 'failed', problem });
}

function askFunds(state: GenerationState, context: Context): void {
  state.funds.extending = true;
  state.funds.step += 1;
  askSlice(state, context);
}
