// One query from its hold to its settlement. It lives for as long as somebody waits for it: its
// client, or others that came with the same idempotency key.
import type {
  ActorContext,
  ActorKind,
  BatchEntry,
  Handlers,
} from '../../runtime/actor/contract.ts';
import { plainProblem } from '../../runtime/problem.ts';
import { abandoned, interrupted } from '../billed-request/failure.ts';
import {
  askFallback,
  askHold,
  type HoldRefusal,
  leaveShard,
  refusalOf,
} from '../billed-request/settlement.ts';
import { failQuery, noteLeft, over, refuseQuery, settleQuery, settling } from './closing.ts';
import { failureProblem } from './failure.ts';
import { queryLimits } from './limits.ts';
import { normalizedJson } from './normalized.ts';
import type { QueryEnd, QueryProtocol } from './protocol.ts';
import type { QueryDeps, QuerySpec } from './spec.ts';
import { newQueryState, type QueryEnding, type QueryState } from './state.ts';

type Context = ActorContext<QueryProtocol>;
export type QueryKind = ActorKind<QueryProtocol, QueryState, QuerySpec>;

const handlers: Omit<Handlers<QueryProtocol, QueryState>, 'attach'> = {
  clientGone(state, _payload, context) {
    state.isHeard = false;
    giveUpUnheard(state, context);
  },

  leave(state, { listener }, context) {
    const tell = state.listeners.get(listener);
    state.listeners.delete(listener);
    // Who asked for it still waits for an answer.
    tell?.({ kind: 'failed', problem: abandoned().problem });
    giveUpUnheard(state, context);
  },

  cancel(state, _payload, context) {
    if (state.phase === 'over') return { status: 'ended' };
    state.isLeft = true;
    endEarly(state, context, { status: 'cancelled' });
    return { status: 'cancelling' };
  },

  interrupt(state, _payload, context) {
    endEarly(state, context, interrupted());
  },

  giveUp(state, _payload, context) {
    if (state.phase === 'over') return;
    state.controller.abort();
    state.end = { kind: 'failed', problem: plainProblem('dependency_unavailable') };
    over(state, context);
  },

  held(state, answer, context) {
    if (state.phase !== 'holding') return;
    const { spec, outcome } = state;
    const { priceMicros, search } = spec.plan;
    const isWanted = outcome === null;
    if (isWanted && askFallback(state, context, answer, priceMicros, search.surface.name)) return;
    const refusal = refusalOf(state, answer);
    if (refusal !== null) {
      refused(state, context, refusal);
      return;
    }
    if (answer.ok && answer.value.status === 'held') {
      state.heldLeftMicros = answer.value.availableMicros;
    }
    state.phase = 'running';
    if (outcome === null) startSearch(state, context);
    else failQuery(state, context, outcome);
  },

  found(state, found, context) {
    if (state.phase !== 'running' || state.found !== null) {
      noteLeft(state, found);
      return;
    }
    const { deps, spec, payment } = state;
    if (found.result.state === 'failed') {
      fail(state, context, failureProblem(found.result.failure));
      return;
    }
    const json = normalizedJson(spec.plan, found);
    if (json === null) {
      deps.log.error({ generation: spec.id, route: found.result.routeId }, 'a reply is not valid');
      fail(state, context, failureProblem(null));
      return;
    }
    state.found = { found, normalizedJson: json };
    const { accountId, apiKeyId } = spec;
    void deps
      .wallet(payment.walletId)
      .ask(
        'look',
        { amountMicros: 0n, spender: { accountId, apiKeyId } },
        deps.limits.ledger.askTimeoutMs,
      )
      .then((answer) => context.self.tell('looked', answer));
  },

  looked(state, answer, context) {
    if (state.phase === 'running') settleQuery(state, context, answer);
  },

  late(state, _payload, context) {
    if (state.phase !== 'running' || state.found !== null) return;
    fail(state, context, failureProblem({ kind: 'timeout', retryAfterMs: null }));
  },

  ...settling,
};

/** The kind, with what its shard gives it. One that crashes is not started again. */
export function createQueryKind(deps: QueryDeps): QueryKind {
  return {
    name: 'query',
    parent: 'query',
    placement: 'local',
    supervision: { strategy: 'stop', crashesMax: 1, withinMs: 1_000 },
    mailboxLengthMax: queryLimits.mailboxLengthMax,
    populationMax: queryLimits.runningMax,
    start(context, spec) {
      const state = newQueryState(deps, spec);
      const { priceMicros, search } = spec.plan;
      askHold(state, context, priceMicros, search.surface.name);
      // At the end: a start that throws has no state, and nothing of it is taken back.
      deps.running.set(spec.id, context.self);
      return state;
    },
    behaviour: {
      batch: {
        lengthMax: queryLimits.batchLengthMax,
        receive(state, batch, context) {
          for (const entry of batch) take(state, entry, context);
        },
      },
    },
    stopped(state, reason) {
      leaveShard(state, reason);
      // One that is over has none: an abort makes an error with a stack, for 10 µs.
      if (state.phase === 'over') return;
      state.controller.abort();
      const end = { kind: 'failed', problem: plainProblem('internal') } as const;
      state.spec.ended(end);
      for (const tell of state.listeners.values()) tell(end);
    },
  };
}

/** Who attaches is answered at the end, or with it; everything else at once. */
function take(state: QueryState, entry: BatchEntry<QueryProtocol>, context: Context): void {
  if (entry.message !== 'attach') {
    handle(state, entry, context);
    return;
  }
  // Who comes to one that others have left finds its key free once its hold is given back.
  const isLate = state.isGivenUp;
  const tell = (end: QueryEnd) => {
    entry.reply(isLate && end.kind === 'failed' ? { kind: 'duplicate' } : end);
  };
  if (state.told !== null) tell(state.told);
  else state.listeners.set(entry.payload.listener, tell);
}

function handle<M extends keyof typeof handlers>(
  state: QueryState,
  entry: { message: M; payload: unknown; reply(value: never): void },
  context: Context,
): void {
  const handler = handlers[entry.message] as (
    state: QueryState,
    payload: unknown,
    context: Context,
  ) => unknown;
  entry.reply(handler(state, entry.payload, context) as never);
}

function startSearch(state: QueryState, context: Context): void {
  const { deps, spec, controller } = state;
  context.after(deps.limits.query.lateMs, 'late', null);
  void deps.desk.find(spec.plan.search, controller.signal).then((found) => {
    // Nobody may be there to be told of a search that was given up.
    if (controller.signal.aborted) noteLeft(state, found);
    else context.self.tell('found', found);
  });
}

function giveUpUnheard(state: QueryState, context: Context): void {
  if (state.isHeard || state.listeners.size > 0 || state.isGivenUp) return;
  if (state.phase !== 'holding' && state.phase !== 'running') return;
  state.isLeft = true;
  // One that was cancelled or stopped before ends as that.
  state.isGivenUp = state.outcome === null;
  endEarly(state, context, abandoned());
}

/** Before its money is due; a hold that is on its way is given back when it is there. */
function endEarly(state: QueryState, context: Context, outcome: QueryEnding): void {
  if (state.phase === 'holding') state.outcome ??= outcome;
  if (state.phase !== 'running') return;
  if (state.found !== null) noteLeft(state, state.found.found);
  failQuery(state, context, outcome);
}

function fail(
  state: QueryState,
  context: Context,
  problem: Extract<QueryEnding, { status: 'failed' }>['problem'],
): void {
  failQuery(state, context, { status: 'failed', problem });
}

function refused(state: QueryState, context: Context, refusal: HoldRefusal): void {
  if (refusal.status === 'duplicate') {
    refuseQuery(state, context, { kind: 'duplicate' });
    return;
  }
  const { problem } = refusal;
  // A hold that may still become durable behind the lost answer is followed by its release.
  if (refusal.status === 'unknown') fail(state, context, problem);
  else refuseQuery(state, context, { kind: 'failed', problem });
}
