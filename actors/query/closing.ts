// The end of a query: charged with its reply and its row in one statement, or given back, then
// told. Nobody is told of a charge before it is in the ledger.
import { hash } from 'node:crypto';
import { zeroUsage } from '../../media/model/usage.ts';
import type { ActorContext, Answer } from '../../runtime/actor/contract.ts';
import { plainProblem } from '../../runtime/problem.ts';
import { createSettlement } from '../billed-request/settlement.ts';
import { type StoredUsage, svcUsageOf } from '../billed-request/usage.ts';
import type { Found } from '../search/contract.ts';
import type { LookReply } from '../wallet/protocol.ts';
import type { QueryOutcome } from './metrics.ts';
import { tallyName } from './plan.ts';
import type { QueryProtocol } from './protocol.ts';
import { replyText } from './reply.ts';
import type { QueryPlan } from './spec.ts';
import type { QueryEnding, QueryState } from './state.ts';

type Context = ActorContext<QueryProtocol>;

const cancelledMessage = 'The query was cancelled.';
const settlement = createSettlement(announceEnd, (state: QueryState, problem) => {
  state.outcome = { status: 'failed', problem };
  state.end = { kind: 'failed', problem };
});
export const { over, handlers: settling } = settlement;

/** Ends it without a charge; its search, where it runs, is given up. */
export function failQuery(state: QueryState, context: Context, outcome: QueryEnding): void {
  state.controller.abort();
  state.phase = 'closing';
  state.outcome = outcome;
  const problem =
    outcome.status === 'failed' ? outcome.problem : plainProblem('conflict', cancelledMessage);
  state.end = { kind: 'failed', problem };
  state.finish = {
    kind: 'generation',
    id: state.spec.id,
    status: outcome.status === 'cancelled' ? 'cancelled' : 'failed',
    answerJson: null,
    usageJson: null,
    problemJson: outcome.status === 'failed' ? JSON.stringify(problem) : null,
  };
  context.self.tell('release', null);
}

/** Ends one that has no hold: it was refused, or another query has the key. */
export function refuseQuery(
  state: QueryState,
  context: Context,
  end: NonNullable<QueryState['end']>,
): void {
  state.phase = 'closing';
  state.end = end;
  over(state, context);
}

/** What the caller pays for this. */
export function chargeOf(plan: QueryPlan, { result, cache }: Found): bigint {
  const { surface } = plan.search;
  if (result.items.length === 0) return 0n;
  if (cache.hit && !surface.isShared) return 0n;
  return result.answer === null ? plan.unansweredMicros : plan.priceMicros;
}

/** Puts the reply together, and has it written with its settlement. */
export function settleQuery(state: QueryState, context: Context, answer: Answer<LookReply>): void {
  const { deps, spec, found: held } = state;
  if (held === null) return;
  const { found, normalizedJson } = held;
  const { result } = found;
  const chargeMicros = chargeOf(spec.plan, found);
  const text = replyText({
    surface: spec.plan.search.surface.name,
    chargeMicros,
    remainingMicros: leftAfter(state, answer, chargeMicros),
    requestId: spec.id,
    isSimulated: result.isSimulated,
    dataJson: result.dataJson,
    normalizedJson,
  });
  const partMicros = found.cache.hit ? 0n : result.costMicros;
  state.cost = {
    chargeMicros,
    providerCostMicros: partMicros < chargeMicros ? partMicros : chargeMicros,
  };
  state.phase = 'closing';
  state.outcome = { status: 'completed' };
  state.end = { kind: 'reply', text };
  state.finish = {
    kind: 'generation',
    id: spec.id,
    status: 'completed',
    answerJson: spec.idempotencyKey === null ? null : deps.seals.seal(spec.id, text),
    usageJson: JSON.stringify(usageOf(state, found, chargeMicros, text)),
    problemJson: null,
  };
  context.self.tell('settle', null);
}

/** The look was made while the whole price was held; without one the hold itself has told it. */
function leftAfter(
  { heldLeftMicros, spec }: QueryState,
  answer: Answer<LookReply>,
  chargeMicros: bigint,
): bigint {
  const seen = answer.ok && answer.value.status === 'ok' ? answer.value : null;
  const leftMicros = seen?.availableMicros ?? heldLeftMicros;
  return leftMicros + spec.plan.priceMicros - chargeMicros;
}

function usageOf(
  { spec, payment }: QueryState,
  { result, cache }: Found,
  chargeMicros: bigint,
  text: string,
): StoredUsage {
  const { name } = spec.plan.search.surface;
  const told = svcUsageOf(
    {
      spec: { id: spec.id, alias: name },
      payment,
      model: { simulated: result.isSimulated },
      exhausted: false,
    },
    { ...zeroUsage, searchCalls: chargeMicros > 0n ? 1 : 0 },
    'reported',
    chargeMicros,
  );
  const query = {
    surface: name,
    state: result.state,
    items: result.items.length,
    attempts: result.engines.length,
    target: result.routeId,
    hit: cache.hit,
    milliseconds: Date.now() - spec.createdAtMs,
    sha256: hash('sha256', text),
  };
  return { ...told, query };
}

/** Once a provider was asked, a search that nobody waits for any more is an unpaid answer. */
export function noteLeft({ deps, spec, isLeft }: QueryState, { result }: Found): void {
  if (!isLeft || !result.isAsked) return;
  const { accountId, plan } = spec;
  deps.tally.count(tallyName(accountId, plan.search.surface.name), 'unpaid', Date.now());
}

function announceEnd(state: QueryState): void {
  const { end, spec, deps, listeners, outcome, found } = state;
  state.end = null;
  if (end === null) return;
  state.told = end;
  if (end.kind !== 'duplicate' && outcome !== null) {
    deps.queryMetrics.ended(spec.plan.search.surface.name, outcomeOf(state));
  }
  if (end.kind === 'reply' && found !== null) noteAnswer(state, found.found);
  spec.ended(end);
  for (const tell of listeners.values()) tell(end);
  listeners.clear();
}

/** What cost nothing since it was kept is on neither side. */
function noteAnswer({ deps, spec, cost }: QueryState, { result }: Found): void {
  const isPaid = cost !== null && cost.chargeMicros > 0n;
  const name = tallyName(spec.accountId, spec.plan.search.surface.name);
  if (isPaid) deps.tally.count(name, 'paid', Date.now());
  else if (result.state === 'empty') deps.tally.count(name, 'unpaid', Date.now());
  deps.queryMetrics.replied((Date.now() - spec.createdAtMs) / 1_000);
}

function outcomeOf({ outcome, found, isLeft }: QueryState): QueryOutcome {
  if (outcome?.status !== 'completed') return isLeft ? 'left' : 'failed';
  if (found === null) return 'failed';
  const { result, cache } = found.found;
  return cache.hit ? 'kept' : result.state;
}
