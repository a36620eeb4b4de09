// The end of a generation: usage decided, charge computed, settlement durable, subscribers told.
// Nobody is told a charge before it is in the ledger; a ledger that is away is asked again.
import { answerEvents } from '../../media/model/answer.ts';
import type { SvcRouting } from '../../media/model/dialects/contract.ts';
import { recut } from '../../media/model/replay.ts';
import { inputText } from '../../media/model/tokens.ts';
import { noUsage, type UsageSource } from '../../media/model/usage.ts';
import type { ActorContext, Handlers } from '../../runtime/actor/contract.ts';
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import type { GenerationFinish } from '../billed-request/holder.ts';
import { createSettlement } from '../billed-request/settlement.ts';
import { svcUsageOf } from '../billed-request/usage.ts';
import type { GenerationEnd } from '../subscriber/protocol.ts';
import { abortAttempt, forgetAnswer } from './attempt.ts';
import { costOf, sumOf, usageAtEnd } from './charging.ts';
import { notePaid } from './giveaways.ts';
import type { CountedTokens, GenerationProtocol } from './protocol.ts';
import { svcRoutingOf } from './receipt.ts';
import type { GenerationState, Outcome } from './state.ts';
import { tellEvents } from './subscriptions.ts';
import { writtenTexts } from './written.ts';

type Context = ActorContext<GenerationProtocol>;
type ClosingMessages = 'counted' | 'settle' | 'settled' | 'release' | 'released';

const settlement = createSettlement(announceEnd, endUncharged);
export const { over } = settlement;

export const closing: Pick<Handlers<GenerationProtocol, GenerationState>, ClosingMessages> = {
  counted(state, tokens, context) {
    if (state.phase !== 'closing') return;
    settleWith(state, context, 'estimated', tokens);
  },

  ...settlement.handlers,
};

/** Stops reading the upstream and takes the generation to its end, money first. */
export function finishGeneration(state: GenerationState, context: Context, outcome: Outcome): void {
  abortAttempt(state);
  state.phase = 'closing';
  state.outcome = outcome;
  if (outcome.status === 'cancelled' || state.exhausted) state.answer.finishReason = 'length';
  if (state.structure.withheld) endWithheld(state, outcome);
  const whole = outcome.status === 'completed' || outcome.status === 'incomplete';
  const { spent } = state.structure;
  // The repair of a withheld answer gave nothing: what the answer cost is all there is to pay.
  if (spent !== null && state.deltas === 0) state.usage ??= noUsage();
  const nothing = spent === null && state.deltas === 0 && (state.usage === null || !whole);
  if (nothing || state.structure.unchecked) {
    settleNothing(state, context);
    return;
  }
  if (state.usage !== null && !isOutdated(state, outcome)) {
    settleWith(state, context, 'reported', null);
    return;
  }
  const { deps, request } = state;
  const { output, reasoning } = writtenTexts(state.answer);
  void deps
    .countTokens(state.spec.accountId, { input: inputText(request), output, reasoning })
    .then((tokens) => context.self.tell('counted', tokens));
}

/**
 * Of an answer that was cut: its newest report came before the last of it. Some providers report
 * with each piece, or zeros until the end.
 */
function isOutdated(state: GenerationState, { status }: Outcome): boolean {
  const isCut =
    status === 'cancelled' ||
    status === 'failed' ||
    state.exhausted ||
    // We may have left its upstream there.
    state.answer.stopSequence !== null;
  return isCut && state.deltas > state.reportedDeltas;
}

/** An answer that is cut short is shown as far as it came: it is paid for. A bad one is not. */
function endWithheld(state: GenerationState, { status }: Outcome): void {
  const isShown = status === 'incomplete' || status === 'cancelled';
  // Of an attempt that failed unseen nothing is paid; `completed` is an answer that is just bad.
  if (status === 'failed') {
    forgetAnswer(state);
    return;
  }
  recut(state.answer, isShown);
  if (!isShown) return;
  state.structure.withheld = false;
  if (state.deltas > 0) tellEvents(state, answerEvents(state.answer));
}

/** Ends a generation that never ran: its hold was refused, or its outcome is unknown. */
export function closeGeneration(
  state: GenerationState,
  context: Context,
  problem: PlainProblem | null,
  options: { release: boolean },
): void {
  state.phase = 'closing';
  if (problem !== null) {
    state.outcome = { status: 'failed', problem };
    state.end = {
      status: 'failed',
      problem,
      answer: state.answer,
      svcUsage: null,
      svcRouting: null,
    };
  }
  if (!options.release) {
    over(state, context);
    return;
  }
  announceEnd(state);
  state.finish = finishRecord(state, 'failed', { problem });
  context.self.tell('release', null);
}

/** What was delivered is at our expense. */
function endUncharged(state: GenerationState, problem: PlainProblem): void {
  const usage = noUsage();
  state.outcome = { status: 'failed', problem };
  const svcUsage = svcUsageOf(state, usage, 'none', 0n);
  const svcRouting = svcRoutingOf(state, usage, 0n);
  state.end = { status: 'failed', problem, answer: state.answer, svcUsage, svcRouting };
}

/** Nothing was delivered: the hold goes back whole. */
function settleNothing(state: GenerationState, context: Context): void {
  const { outcome } = state;
  const usage = noUsage();
  const svcUsage = svcUsageOf(state, usage, 'none', 0n);
  const svcRouting = svcRoutingOf(state, usage, 0n);
  if (outcome?.status === 'failed') {
    const { problem } = outcome;
    state.end = { status: 'failed', problem, answer: state.answer, svcUsage, svcRouting };
    state.finish = finishRecord(state, 'failed', { problem, svcRouting });
  } else {
    const status = outcome?.status ?? 'completed';
    setSettled(state);
    state.end = { status, answer: state.answer, receipt: { usage, svcUsage, svcRouting } };
    state.finish = finishRecord(state, status, { usageJson: JSON.stringify(svcUsage), svcRouting });
  }
  context.self.tell('release', null);
}

function settleWith(
  state: GenerationState,
  context: Context,
  source: UsageSource,
  tokens: CountedTokens | null,
): void {
  if (state.doubt !== null) state.deps.metrics.doubted(state.doubt);
  const calls = usageAtEnd(state, source, tokens);
  const usage = sumOf(calls);
  const cost = costOf(state, calls);
  state.cost = cost;
  notePaid(state, usage);
  const said = source === 'reported' && state.structure.spentEstimated ? 'estimated' : source;
  const svcUsage = svcUsageOf(state, usage, said, cost.chargeMicros);
  const usageJson = JSON.stringify(svcUsage);
  const outcome = checkedOutcome(state);
  const svcRouting = svcRoutingOf(state, usage, cost.chargeMicros);
  if (outcome.status === 'failed') {
    const problem = {
      ...outcome.problem,
      headers: { ...outcome.problem.headers, 'x-should-retry': 'false' },
    };
    state.end = { status: 'failed', problem, answer: state.answer, svcUsage, svcRouting };
    state.finish = finishRecord(state, 'failed', { usageJson, problem, svcRouting });
  } else {
    const { answer } = state;
    setSettled(state);
    state.end = { status: outcome.status, answer, receipt: { usage, svcUsage, svcRouting } };
    state.finish = finishRecord(state, outcome.status, { usageJson, svcRouting });
    // Beside the settlement, before the end is told: the next turn may come at once.
    if (outcome.status !== 'cancelled') state.extraWrite = rememberedBy(state);
  }
  context.self.tell('settle', null);
}

/** Stored with the answer: replays tell the time that was told first. */
function setSettled({ answer }: GenerationState): void {
  answer.settledAt = Math.floor(Date.now() / 1_000);
}

/** The next turn of the conversation finds the model of this one. */
function rememberedBy({ spec, model }: GenerationState): Promise<void> | null {
  return spec.routing === null ? null : spec.routing.answered(model.alias);
}

/** A complete answer that breaks the format asked for is a failure, charged for what was used. */
function checkedOutcome(state: GenerationState): Outcome {
  const outcome = state.outcome ?? { status: 'completed' };
  if (outcome.status !== 'completed' || !state.structure.broken) return outcome;
  const problem = plainProblem('upstream_error', 'The answer breaks the response format.');
  state.outcome = { status: 'failed', problem };
  return state.outcome;
}

interface FinishMembers {
  /** What was charged; absent: nothing, and the key stays free. */
  usageJson?: string;
  problem?: PlainProblem | null;
  svcRouting?: SvcRouting | null;
}

function finishRecord(
  state: GenerationState,
  status: GenerationFinish['status'],
  { usageJson, problem = null, svcRouting = null }: FinishMembers,
): GenerationFinish {
  const { keepsAnswer, background } = state.spec;
  const isTold = usageJson !== undefined || background;
  return {
    kind: 'generation',
    id: state.spec.id,
    status,
    // Of a background answer also what was told before it failed: its stream is told again.
    answerJson: keepsAnswer && isTold ? JSON.stringify(state.answer) : null,
    usageJson: usageJson ?? null,
    problemJson: problem === null ? null : JSON.stringify(problem),
    routingJson: svcRouting === null ? null : JSON.stringify(svcRouting),
  };
}

function announceEnd(state: GenerationState): void {
  const { end } = state;
  if (end === null) return;
  for (const { ref } of state.subscriptions) ref.tell('end', end satisfies GenerationEnd);
  state.subscriptions = [];
}
