// What of the upstream's events is delivered: as far as the hold reaches. It is extended on the
// way; events beyond it wait here with the upstream paused, so that nothing goes out that is not
// covered.
import { addToAnswer } from '../../media/model/answer.ts';
import { isAnswerDelta, type ModelEvent } from '../../media/model/events.ts';
import { addTo } from '../../media/model/lists.ts';
import { countDeltas, deltasOf, singles } from '../../media/model/text-run.ts';
import { weightOf } from '../../media/model/tokens.ts';
import { doubtOf, type UsageReport } from '../../media/model/usage.ts';
import type { ActorContext, Handlers } from '../../runtime/actor/contract.ts';
import { plainProblem } from '../../runtime/problem.ts';
import { measureFirstEvent } from './attempt.ts';
import { finishGeneration } from './closing.ts';
import { attemptEnded, searchSeen } from './conclusion.ts';
import { askSlice } from './extension.ts';
import { addSlice, covers, isOver, sliceDue } from './funds.ts';
import type { GenerationProtocol } from './protocol.ts';
import { fundsForRepair } from './repair.ts';
import { searched } from './searching.ts';
import { cardsLeft, coveredTokens, coveredTokensWith, type GenerationState } from './state.ts';
import { tellEvents } from './subscriptions.ts';

type Context = ActorContext<GenerationProtocol>;
type DeliveryMessages = 'upstreamEvents' | 'upstreamEnded' | 'extend' | 'extended';

const extendRetryMs = 250;
const holdLostMessage = 'The credits held for this answer were released before it was complete.';
/** Pausing a socket and going on costs more than it saves for less than this. */
const waitingDeltasMax = 256;

export const delivery: Pick<Handlers<GenerationProtocol, GenerationState>, DeliveryMessages> = {
  upstreamEvents(state, { attempt, events }, context) {
    if (attempt !== state.attempt?.number) return;
    if (state.attempt.firstEventMs === null) measureFirstEvent(state);
    if (state.phase === 'holding') waitForHold(state, events);
    else if (state.phase === 'running') {
      if (state.waiting.length > 0) addTo(state.waiting, events);
      else deliver(state, events, context);
    }
  },

  upstreamEnded(state, { attempt, failure }, context) {
    if (attempt !== state.attempt?.number) return;
    if (state.phase === 'holding') state.waitingEnd = { failure };
    else if (state.phase === 'running') {
      if (state.waiting.length > 0) state.waitingEnd = { failure };
      else attemptEnded(state, context, failure);
    }
  },

  extend(state, _payload, context) {
    askSlice(state, context);
  },

  extended(state, answer, context) {
    if (state.phase !== 'running') return;
    const { funds, deps, structure } = state;
    if (!answer.ok || answer.value.status === 'unavailable') {
      // It may be durable behind the lost answer: the same step is asked for again.
      context.after(extendRetryMs * (0.5 + Math.random()), 'extend', null);
      return;
    }
    funds.extending = false;
    if (answer.value.status === 'hold_not_active') {
      // Released by others: expired, or this process was taken for dead. No question of credits.
      const problem = plainProblem('internal', holdLostMessage);
      finishGeneration(state, context, { status: 'failed', problem });
      return;
    }
    if (structure.pending !== null) {
      fundsForRepair(state, context, answer.value.status === 'extended' ? answer.value : null);
      return;
    }
    if (answer.value.status === 'extended') {
      const { addedMicros } = answer.value;
      addSlice(cardsLeft(state), funds, addedMicros, deps.limits.generation.sliceTokens);
    } else {
      funds.dry = true;
    }
    deliverWaiting(state, context);
  },
};

/** The upstream was quicker than the ledger. A short answer waits whole, a long one is paused. */
function waitForHold(state: GenerationState, events: ModelEvent[]): void {
  addTo(state.waiting, events);
  if (state.paused || countDeltas(state.waiting) < waitingDeltasMax) return;
  state.paused = true;
  state.attempt?.handle.pause();
}

/** Delivers events up to the end of the hold. Where no more is to be had, the rest is dropped. */
function deliver(state: GenerationState, given: ModelEvent[], context: Context): void {
  const read = state.deps.unread.withoutThem(given, state, Date.now());
  const told = state.spec.search === null ? read : searched(state, read);
  // A hold may end between two texts of one event.
  const events = covers(state.funds, coveredTokensWith(state, told)) ? told : singles(told);
  if (state.search.awaited && state.search.seen) searchSeen(state);
  const count = absorb(state, events);
  const taken = count === events.length ? events : events.slice(0, count);
  if (!state.started) {
    state.started = true;
    state.deps.metrics.firstEvent((Date.now() - state.spec.createdAtMs) / 1_000);
  }
  if (!state.structure.withheld) tellEvents(state, taken);
  if (isTooLong(state)) {
    const problem = plainProblem('upstream_error');
    finishGeneration(state, context, { status: 'failed', problem });
    return;
  }
  if (count < events.length) {
    if (isOver(state.funds)) {
      state.exhausted = true;
      finishGeneration(state, context, { status: 'incomplete' });
      return;
    }
    state.waiting = events.slice(count);
  }
  watchFunds(state, context);
}

/** Longer than any answer that means something: it is not kept. */
function isTooLong({ answer, characters, stagesCharacters, deps }: GenerationState): boolean {
  const { answerCharactersMax, answerStagesCharactersMax, answerCutsMax } = deps.limits.generation;
  if (characters > answerCharactersMax || stagesCharacters > answerStagesCharactersMax) return true;
  return (answer.cuts?.steps.length ?? 0) > answerCutsMax;
}

/** Adds events to the answer; how many of them the hold covers. */
function absorb(state: GenerationState, events: ModelEvent[]): number {
  const { answer, funds } = state;
  for (let index = 0; index < events.length; index += 1) {
    const event = events[index];
    if (event === undefined) continue;
    if (event.type === 'usage') {
      takeUsage(state, event.usage);
      continue;
    }
    if (event.type === 'start') state.begunUsage = event.usage ?? null;
    if (isAnswerDelta(event)) {
      if (!covers(funds, coveredTokens(state))) return index;
      state.deltas += deltasOf(event);
      state.firstEventMs ??= Date.now();
      if ('text' in event) {
        state.characters += event.text.length;
        state.weight += weightOf(event.text);
      } else if (event.type === 'native_event') state.stagesCharacters += stageLength(event.value);
    }
    addToAnswer(answer, event);
  }
  return events.length;
}

/** A report that cannot be charged by, or that is not believed, may be right in a part. */
function takeUsage(state: GenerationState, usage: UsageReport): void {
  const isUnreadable = usage.unreadable === true;
  state.doubt = isUnreadable ? null : doubtOf(usage, state.spec.outputTokensCeiling);
  const isBelieved = !isUnreadable && state.doubt === null;
  if (!isBelieved) state.begunUsage = usage;
  state.usage = isBelieved ? usage : null;
  state.reportedDeltas = state.deltas;
}

/** Its texts and its name: numbers and nothing cost little. */
function stageLength(value: Record<string, unknown>): number {
  let length = 0;
  for (const name in value) {
    const member = value[name];
    if (typeof member === 'string') length += member.length;
  }
  return length;
}

/** The hold reaches further, or is known to reach no further: goes on with what has waited. */
export function deliverWaiting(state: GenerationState, context: Context): void {
  const { waiting, waitingEnd } = state;
  state.waiting = [];
  if (waiting.length > 0) deliver(state, waiting, context);
  else watchFunds(state, context);
  if (state.phase !== 'running' || state.waiting.length > 0) return;
  if (waitingEnd !== null) {
    state.waitingEnd = null;
    attemptEnded(state, context, waitingEnd.failure);
  } else resume(state);
}

/** Extends the hold when the next slice is due; waits for it when the held tokens are used up. */
function watchFunds(state: GenerationState, context: Context): void {
  const { deps, funds } = state;
  const delivered = coveredTokens(state);
  if (sliceDue(funds, delivered, deps.limits.generation.sliceTokens)) {
    funds.extending = true;
    funds.usedUp = !covers(funds, delivered);
    funds.step += 1;
    askSlice(state, context);
  }
  if (funds.extending && !covers(funds, delivered) && !state.paused) {
    state.paused = true;
    state.attempt?.handle.pause();
  }
}

function resume(state: GenerationState): void {
  if (!state.paused || (state.funds.extending && !covers(state.funds, coveredTokens(state)))) {
    return;
  }
  state.paused = false;
  state.attempt?.handle.resume();
}
