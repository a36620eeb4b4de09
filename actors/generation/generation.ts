// One running generation: hold, upstream, subscribers, settlement. The client's socket decides
// nothing here but who listens; the surprise is that every wait answers as a message to itself, so
// that attach and cancel are never behind a slow database or provider.
import { strict as assert } from 'node:assert';
import type { ActorContext, ActorKind, Handlers } from '../../runtime/actor/contract.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { plainProblem } from '../subscriber/problem.ts';
import { subscriberKind } from '../subscriber/subscriber.ts';
import type { HoldReply } from '../wallet/protocol.ts';
import { closeGeneration, closing, finishGeneration, over } from './closing.ts';
import { deliverWaiting, delivery } from './delivery.ts';
import { tellProgress } from './progress.ts';
import type { GenerationProtocol } from './protocol.ts';
import { takeHits } from './searching.ts';
import type { GenerationDeps, GenerationSpec } from './spec.ts';
import { type GenerationState, isShown, newState, type Outcome } from './state.ts';
import { isSubscribed, setDetached, subscribe, unsubscribe } from './subscriptions.ts';
import { abortAttempt, conclude, startAttempt } from './upstream.ts';

type Context = ActorContext<GenerationProtocol>;
export type GenerationKind = ActorKind<GenerationProtocol, GenerationState, GenerationSpec>;

const behaviour: Handlers<GenerationProtocol, GenerationState> = {
  attach(state, { subscriber }, context) {
    // What ends without a charge leaves its key free: who comes now looks again.
    const isVoid = state.end?.status === 'failed' && state.finish?.usageJson === null;
    if (state.phase === 'over' || isVoid) return { status: 'ended' };
    const ref = context.system.at(subscriberKind, subscriber);
    return { status: subscribe(state, subscriber, ref) ? 'attached' : 'full' };
  },

  detach(state, { subscriber }, context) {
    const isAbandoned = unsubscribe(state, subscriber) && !isShown(state);
    if (!isAbandoned || state.spec.background || state.phase !== 'running') return;
    forgive(state);
    finishGeneration(state, context, abandoned());
  },

  cancel(state, _payload, context) {
    if (state.phase === 'over') return { status: 'ended' };
    if (state.phase === 'holding') state.endAfterHold = { status: 'cancelled' };
    else if (state.phase === 'running') finishGeneration(state, context, { status: 'cancelled' });
    return { status: 'cancelling' };
  },

  interrupt(state, _payload, context) {
    const problem = plainProblem('overloaded', 'The service is restarting. Try again.');
    if (state.phase === 'holding') state.endAfterHold = { status: 'failed', problem };
    else if (state.phase === 'running') {
      forgive(state);
      finishGeneration(state, context, { status: 'failed', problem });
    }
  },

  giveUp(state, _payload, context) {
    if (state.phase === 'over') return;
    state.end = {
      status: 'failed',
      problem: unavailable(),
      answer: state.answer,
      svcUsage: null,
    };
    over(state, context);
  },

  ping(state, { subscriber }) {
    return { status: isSubscribed(state, subscriber) ? 'attached' : 'detached' };
  },

  held(state, answer, context) {
    if (state.phase !== 'holding') return;
    if (!answer.ok || answer.value.status !== 'held') {
      state.deps.foresight.forget(state.spec.walletId);
      abortAttempt(state);
    }
    if (!answer.ok) {
      // The hold may still become durable behind the lost answer: the release follows it.
      closeGeneration(state, context, unavailable(), { release: true });
      return;
    }
    if (answer.value.status === 'held') {
      const { deps, spec } = state;
      deps.foresight.saw(spec.walletId, answer.value.availableMicros, Date.now());
      if (state.endAfterHold !== null) finishGeneration(state, context, state.endAfterHold);
      else if (spec.background) runInBackground(state, context);
      else if (state.subscriptions.length === 0) finishGeneration(state, context, abandoned());
      else run(state, context);
      return;
    }
    refused(state, context, answer.value);
  },

  searched(state, hits, context) {
    if (state.phase !== 'running') return;
    const { deps, spec } = state;
    if (hits === null && spec.search?.target != null) {
      const { routeId } = spec.search.target;
      deps.log.warn(
        { generation: spec.id, account: spec.accountId, route: routeId },
        'web search failed',
      );
    }
    if (takeHits(state, hits)) startAttempt(state, context);
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
    if (state.phase === 'running' && candidate !== null) {
      conclude(state, context, candidate, isGood);
    }
  },

  ...delivery,
  ...closing,
};

/** The kind, with what its shard gives it. A generation that crashes is not started again. */
export function createGenerationKind(deps: GenerationDeps | null): GenerationKind {
  return {
    name: 'generation',
    parent: 'generations',
    placement: 'local',
    supervision: { strategy: 'stop', crashesMax: 1, withinMs: 1_000 },
    mailboxLengthMax: fixedLimits.generation.mailboxLengthMax,
    populationMax: fixedLimits.generation.runningMax,
    start(context, spec) {
      assert(deps !== null, 'generations run on shards');
      const state = newState(deps, spec, { ...context.address, id: spec.subscriber.id });
      deps.running.set(spec.id, context.self);
      askHold(state, context);
      if (mayCallAhead(state)) startAttempt(state, context);
      return state;
    },
    behaviour,
    stopped(state, reason) {
      const { deps } = state;
      deps.running.delete(state.spec.id);
      abortAttempt(state);
      setDetached(state, false);
      if (state.phase !== 'over') crashed(state);
      deps.metrics.ended(reason === 'stopped' ? (state.outcome?.status ?? 'refused') : reason);
      state.spec.releasePlace();
    },
  };
}

/** Never with an idempotency key: until the hold is there, another generation may have it. */
function mayCallAhead({ deps, spec, funds }: GenerationState): boolean {
  if (spec.idempotencyKey !== null || spec.search !== null) return false;
  return deps.foresight.expectsFunds(spec.walletId, funds.heldMicros, spec.createdAtMs);
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

function askHold(state: GenerationState, context: Context): void {
  const { deps, spec, funds } = state;
  const { ledger } = deps.limits;
  void deps
    .wallet(spec.walletId)
    .ask(
      'hold',
      {
        holdId: state.holdId,
        amountMicros: funds.heldMicros,
        owner: { kind: 'generation', id: spec.id, instanceId: deps.instanceId },
        expiresAtMs: spec.createdAtMs + ledger.holdExpiryMs,
        claim: {
          id: spec.id,
          accountId: spec.accountId,
          apiKeyId: spec.apiKeyId,
          route: spec.route,
          idempotencyKey: spec.idempotencyKey,
          fingerprint: spec.fingerprint,
          model: spec.alias,
        },
      },
      ledger.askTimeoutMs,
    )
    .then((answer) => context.self.tell('held', answer));
}

function refused(
  state: GenerationState,
  context: Context,
  reply: Exclude<HoldReply, { status: 'held' }>,
): void {
  switch (reply.status) {
    case 'duplicate':
      state.end = { status: 'duplicate' };
      closeGeneration(state, context, null, { release: false });
      return;
    case 'insufficient':
      closeGeneration(
        state,
        context,
        plainProblem('insufficient_credits', undefined, {
          required_microcredits: Number(reply.requiredMicros),
          available_microcredits: Number(reply.availableMicros),
        }),
        { release: false },
      );
      return;
    case 'wallet_not_found':
    case 'unavailable':
      closeGeneration(state, context, unavailable(), { release: false });
  }
}

/** The last subscriber left before the first delta: nothing was delivered, nothing is charged. */
function abandoned(): Outcome {
  const problem = plainProblem('upstream_error', 'The client went away before the answer began.');
  return { status: 'failed', problem };
}

/** Nothing was shown, and that is not the model's fault: an answer under repair costs nothing. */
function forgive(state: GenerationState): void {
  if (!isShown(state)) state.structure.spent = null;
}

/** A bug ended the actor: the client hears of it, and the hold goes back. */
function crashed(state: GenerationState): void {
  const { deps, spec } = state;
  for (const { ref } of state.subscriptions) {
    ref.tell('end', {
      status: 'failed',
      problem: plainProblem('internal'),
      answer: state.answer,
      svcUsage: null,
    });
  }
  deps.wallet(spec.walletId).tell('release', {
    holdId: state.holdId,
    reason: 'failed',
    finish: {
      id: spec.id,
      status: 'failed',
      answerJson: null,
      usageJson: null,
      problemJson: JSON.stringify(plainProblem('internal')),
    },
  });
}

function unavailable() {
  return plainProblem('dependency_unavailable');
}
