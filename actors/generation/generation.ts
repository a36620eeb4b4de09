// One running generation: hold, upstream, subscribers, settlement. The client's socket decides
// nothing here but who listens; the surprise is that every wait answers as a message to itself, so
// that attach and cancel are never behind a slow database or provider.
import { failedUncharged } from '../../db/generations.ts';
import type { ActorContext, ActorKind, Handlers } from '../../runtime/actor/contract.ts';
import { plainProblem } from '../../runtime/problem.ts';
import { atTurnEnd } from '../../runtime/turns.ts';
import { abandoned, interrupted } from '../billed-request/failure.ts';
import {
  askFallback,
  askHold,
  type HoldRefusal,
  leaveShard,
  mayCallAhead,
  refusalOf,
} from '../billed-request/settlement.ts';
import { subscriberKind } from '../subscriber/subscriber.ts';
import { abortAttempt } from './attempt.ts';
import { startAttempt } from './attempts.ts';
import { closeGeneration, closing, finishGeneration, over } from './closing.ts';
import { conclude, endUnchecked } from './conclusion.ts';
import { deliverWaiting, delivery } from './delivery.ts';
import { noteGiveaway } from './giveaways.ts';
import { generationLimits } from './limits.ts';
import { tellProgress } from './progress.ts';
import type { GenerationProtocol } from './protocol.ts';
import { takeHits } from './searching.ts';
import type { GenerationDeps, GenerationSpec } from './spec.ts';
import { type GenerationState, isShown, newState, type Outcome } from './state.ts';
import { isSubscribed, subscribe, unsubscribe } from './subscriptions.ts';

type Context = ActorContext<GenerationProtocol>;
export type GenerationKind = ActorKind<GenerationProtocol, GenerationState, GenerationSpec>;

const behaviour: Handlers<GenerationProtocol, GenerationState> = {
  attach(state, { subscriber }, context) {
    // What ends without a charge leaves its key free: who comes now looks again.
    const isVoid = state.finish !== null && failedUncharged(state.finish);
    if (state.phase === 'over' || isVoid) return { status: 'ended' };
    const ref = context.system.at(subscriberKind, subscriber);
    return { status: subscribe(state, subscriber, ref) ? 'attached' : 'full' };
  },

  detach(state, { subscriber }, context) {
    const isAbandoned = unsubscribe(state, subscriber) && !isShown(state);
    if (!isAbandoned || state.spec.background || state.phase !== 'running') return;
    forgive(state);
    leave(state, context, abandoned());
  },

  cancel(state, _payload, context) {
    if (state.phase === 'over') return { status: 'ended' };
    if (state.phase === 'holding') state.endAfterHold = { status: 'cancelled' };
    else if (state.phase === 'running') {
      // Of an answer that is repaired, and a repair that has not begun, there is nothing to show.
      if (state.deltas > 0) finishGeneration(state, context, { status: 'cancelled' });
      else {
        forgive(state);
        leave(state, context, { status: 'cancelled' });
      }
    }
    return { status: 'cancelling' };
  },

  interrupt(state, _payload, context) {
    if (state.phase === 'holding') state.endAfterHold = interrupted();
    else if (state.phase === 'running') {
      forgive(state);
      finishGeneration(state, context, interrupted());
    }
  },

  giveUp(state, _payload, context) {
    if (state.phase === 'over') return;
    state.end = {
      status: 'failed',
      problem: plainProblem('dependency_unavailable'),
      answer: state.answer,
      svcUsage: null,
      svcRouting: null,
    };
    over(state, context);
  },

  ping(state, { subscriber }) {
    return { status: isSubscribed(state, subscriber) ? 'attached' : 'detached' };
  },

  callAhead(state, _payload, context) {
    const isWanted = state.phase === 'holding' && state.endAfterHold === null;
    if (isWanted && state.attempt === null) startAttempt(state, context);
  },

  held(state, answer, context) {
    if (state.phase !== 'holding') return;
    const { funds, spec } = state;
    const isWanted = state.endAfterHold === null;
    if (isWanted && askFallback(state, context, answer, funds.heldMicros, spec.alias)) return;
    const refusal = refusalOf(state, answer);
    if (refusal !== null) {
      refused(state, context, refusal);
      return;
    }
    state.spec.storeRequest?.(state.spec.id);
    if (state.endAfterHold?.status === 'cancelled') leave(state, context, state.endAfterHold);
    else if (state.endAfterHold !== null) finishGeneration(state, context, state.endAfterHold);
    else if (state.spec.background) runInBackground(state, context);
    else if (state.subscriptions.length === 0) leave(state, context, abandoned());
    else run(state, context);
  },

  searched(state, hits, context) {
    if (state.phase !== 'running') return;
    const { deps, spec } = state;
    if (hits === null && spec.search?.target != null) {
      const { name: surface } = spec.search.target;
      deps.log.warn({ generation: spec.id, account: spec.accountId, surface }, 'web search failed');
    }
    if (takeHits(state, hits ?? [])) startAttempt(state, context);
    else {
      const problem = plainProblem(
        'no_route_available',
        'No web search is available at the moment.',
      );
      finishGeneration(state, context, { status: 'failed', problem });
    }
  },

  checked(state, isGood, context) {
    const { structure } = state;
    const candidate = structure.checking;
    structure.checking = null;
    if (state.phase !== 'running' || candidate === null) return;
    if (isGood === null) endUnchecked(state, context);
    else conclude(state, context, candidate, isGood);
  },

  ...delivery,
  ...closing,
};

/** The kind, with what its shard gives it. A generation that crashes is not started again. */
export function createGenerationKind(deps: GenerationDeps): GenerationKind {
  return {
    name: 'generation',
    parent: 'generations',
    placement: 'local',
    supervision: { strategy: 'stop', crashesMax: 1, withinMs: 1_000 },
    mailboxLengthMax: generationLimits.mailboxLengthMax,
    populationMax: generationLimits.runningMax,
    start(context, spec) {
      const state = newState(deps, spec, context.address.node);
      const { self } = context;
      if (state.detachedSlot !== null) deps.metrics.detached(1);
      const amountMicros = state.funds.heldMicros;
      askHold(state, context, amountMicros, spec.alias);
      if (spec.storeRequest !== null && isRich(state)) spec.storeRequest(spec.id);
      const isAhead = spec.search === null && mayCallAhead(state, amountMicros);
      // Behind the statement of the hold, which takes longer than most calls to their first event.
      if (isAhead) atTurnEnd(() => void self.tell('callAhead', null));
      // At the end: a start that throws has no state, and nothing of it is taken back.
      deps.running.set(spec.id, self);
      return state;
    },
    behaviour,
    stopped(state, reason) {
      leaveShard(state, reason);
      abortAttempt(state);
      if (state.phase !== 'over') tellCrash(state);
    },
  };
}

/** The hold is as good as granted: what is done beside it is hardly ever in vain. */
function isRich({ deps, spec, funds }: GenerationState): boolean {
  return deps.fundsEstimate.expectsFunds(spec, funds.heldMicros, spec.createdAtMs);
}

/** The hold is durable: calls the upstream, or goes on with the call that was made meanwhile. */
function run(state: GenerationState, context: Context): void {
  state.phase = 'running';
  if (state.spec.routing !== null) {
    tellProgress(state, { stage: 'routing', state: 'completed', detail: 'A model was chosen.' });
  }
  if (state.attempt === null) startAttempt(state, context);
  else deliverWaiting(state, context);
}

/** Streams begin at once: from now on what goes wrong is the response's own state. */
function runInBackground(state: GenerationState, context: Context): void {
  for (const { ref } of [...state.subscriptions]) {
    ref.tell('events', [{ type: 'start' }]);
    ref.tell('accepted', null);
  }
  run(state, context);
}

function refused(state: GenerationState, context: Context, refusal: HoldRefusal): void {
  abortAttempt(state);
  if (refusal.status === 'duplicate') {
    state.end = { status: 'duplicate' };
    closeGeneration(state, context, null, { release: false });
    return;
  }
  // A hold that may still become durable behind the lost answer is followed by its release.
  const release = refusal.status === 'unknown';
  closeGeneration(state, context, refusal.problem, { release });
}

/** Its client ends it before the first word, whatever the provider was sent. */
function leave(state: GenerationState, context: Context, outcome: Outcome): void {
  noteGiveaway(state);
  finishGeneration(state, context, outcome);
}

/** Nothing was shown, and that is not the model's fault: an answer under repair costs nothing. */
function forgive(state: GenerationState): void {
  if (!isShown(state)) state.structure.spent = null;
}

/** A bug ended the actor: the clients hear of it. */
function tellCrash(state: GenerationState): void {
  for (const { ref } of state.subscriptions) {
    ref.tell('end', {
      status: 'failed',
      problem: plainProblem('internal'),
      answer: state.answer,
      svcUsage: null,
      svcRouting: null,
    });
  }
}
