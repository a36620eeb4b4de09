// The state of one running generation. Only its actor changes it.
import { strict as assert } from 'node:assert';
import { type Answer, emptyAnswer } from '../../media/model/answer.ts';
import { soundTokens } from '../../media/model/attachments.ts';
import { type CacheLife, cacheLifeOf } from '../../media/model/cache-marks.ts';
import type { ModelEvent, UpstreamFailure } from '../../media/model/events.ts';
import { callsOffered } from '../../media/model/hosted-tools.ts';
import { keepCuts } from '../../media/model/replay.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { deltasOf } from '../../media/model/text-run.ts';
import { weightOf } from '../../media/model/tokens.ts';
import type { Doubt, TokenUsage, UsageReport } from '../../media/model/usage.ts';
import type {
  CallOptions,
  Fitted,
  TimedHandle,
} from '../../media/providers/generation/contract.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { siblingId } from '../../runtime/ids.ts';
import type { PlainProblem } from '../../runtime/problem.ts';
import type { AttemptsState } from '../billed-request/failure.ts';
import { firstPayment } from '../billed-request/fallback.ts';
import type { RequestState } from '../billed-request/settlement.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Probe } from '../provider-health/breaker.ts';
import type { GenerationEnd, SubscriberProtocol } from '../subscriber/protocol.ts';
import { type CompiledCard, hasSoundPrice } from '../wallet/price.ts';
import { cardsOf, type Funds, firstHold } from './funds.ts';
import {
  hitsTokensMax,
  hostedSearchesOf,
  newSearch,
  type SearchState,
  searchesOf,
} from './search-state.ts';
import type { Candidate, GenerationDeps, GenerationSpec } from './spec.ts';
import { newStructure, type StructureState } from './structure.ts';

export interface Attempt {
  number: number;
  candidate: Candidate;
  /** What the provider is told, and how. */
  fitted: Fitted;
  options: CallOptions;
  handle: TimedHandle;
  /** Of its route's breaker. */
  probe: Probe;
  startedMs: number;
  firstEventMs: number | null;
  /** What of its time was ours until then. */
  ownMs: number;
}

export interface Subscription {
  node: number;
  id: string;
  ref: ActorRef<SubscriberProtocol>;
}

/** Why the upstream is no longer read. Decides the status and what the subscribers are told. */
export type Outcome =
  | { status: 'completed' | 'incomplete' | 'cancelled' }
  | { status: 'failed'; problem: PlainProblem };

export interface GenerationState extends RequestState, AttemptsState {
  readonly deps: GenerationDeps;
  readonly spec: GenerationSpec;
  readonly funds: Funds;
  /** Those that are left to try. */
  candidates: Candidate[];
  /** The model of the last attempt: what is charged. */
  model: CatalogModel;
  /** The request as the upstream is sent it: with what was found, or how to answer. */
  request: GenerationRequest;
  search: SearchState;
  structure: StructureState;
  attempt: Attempt | null;
  /** Attempts that failed and were followed by another. */
  fallbacks: number;
  answer: Answer;
  started: boolean;
  deltas: number;
  characters: number;
  /** As many of Latin text have about as many tokens. */
  weight: number;
  /** Of what was told of native items before their ends. */
  stagesCharacters: number;
  usage: TokenUsage | null;
  /** Deltas that were read before it. */
  reportedDeltas: number;
  /** What the provider said of the input as it began: of an answer that was cut it is all. */
  begunUsage: UsageReport | null;
  /** What of the last report is not believed. */
  doubt: Doubt | null;
  exhausted: boolean;
  paused: boolean;
  /** Epoch milliseconds of the first delta of the answer. */
  firstEventMs: number | null;
  /** Events beyond the hold, at most one read of the socket; then how their upstream ended. */
  waiting: ModelEvent[];
  waitingEnd: { failure: UpstreamFailure | null } | null;
  subscriptions: Subscription[];
  /** Members of the request that the provider is not told, by the last attempt. */
  dropped: readonly string[];
  /** Cancelled or abandoned while the hold was under way. */
  endAfterHold: Outcome | null;
  outcome: Outcome | null;
  /** What the subscribers will be told once money is durable. */
  end: GenerationEnd | null;
}

const nothingDropped: readonly string[] = [];

export function newState(
  deps: GenerationDeps,
  spec: GenerationSpec,
  subscriberNode: number,
): GenerationState {
  const answer = emptyAnswer();
  if (spec.background) keepCuts(answer);
  const [first] = spec.candidates;
  assert(first !== undefined, 'a generation has a candidate');
  const cards = cardsOf(spec);
  return {
    deps,
    spec,
    holdId: siblingId(spec.id, 'hold'),
    payment: firstPayment(spec),
    funds: firstHold(
      cards,
      {
        inputTokens: spec.inputTokensEstimate + hitsTokensMax * searchesOf(spec),
        soundTokens: cards.some(hasSoundPrice) ? soundTokens(spec.request) : 0,
        ceilingTokens: spec.outputTokensCeiling,
        searchCalls: searchesOf(spec) + hostedSearchesOf(spec),
        toolCalls: callsOffered(spec.hosted),
        cacheLife: cacheLifeFor(deps, spec),
      },
      deps.limits.generation.sliceTokens,
    ),
    phase: 'holding',
    candidates: [...spec.candidates],
    model: first.model,
    request: spec.request,
    search: newSearch(spec),
    structure: newStructure(),
    attempt: null,
    attempts: 0,
    busyAttempts: 0,
    unpaidAttempts: 0,
    fallbacks: 0,
    answer,
    started: false,
    deltas: 0,
    characters: 0,
    weight: 0,
    stagesCharacters: 0,
    usage: null,
    reportedDeltas: 0,
    begunUsage: null,
    doubt: null,
    exhausted: false,
    paused: false,
    firstEventMs: null,
    waiting: [],
    waitingEnd: null,
    subscriptions: [{ node: subscriberNode, id: spec.subscriber.id, ref: spec.subscriber }],
    dropped: nothingDropped,
    detachedSlot: spec.detachedSlot,
    endAfterHold: null,
    outcome: null,
    finish: null,
    cost: null,
    end: null,
    retries: 0,
    extraWrite: null,
  };
}

/**
 * For how long a cache may keep the input: servers of OpenAI's formats write one unasked, and a
 * card may have a price for that.
 */
function cacheLifeFor(deps: GenerationDeps, { request, candidates }: GenerationSpec): CacheLife {
  const marked = cacheLifeOf(request);
  if (marked !== 'none') return marked;
  const isUnasked = candidates.some(({ model, target }) => {
    if (!model.card.tiers.some(({ cacheWrite, input }) => cacheWrite > input)) return false;
    const { format } = deps.family(target.family);
    return format === 'chat' || format === 'responses';
  });
  return isUnasked ? '5m' : 'none';
}

/** Whether the client may have seen any of the answer: from then on it is no other attempt's. */
export function isShown({ deltas, structure }: GenerationState): boolean {
  return deltas > 0 && !structure.withheld;
}

/**
 * The cards of the models that may still answer: of an answer that was shown, or is repaired, its
 * own. What another one would have cost says nothing any more of how far the credits reach.
 */
export function cardsLeft(state: GenerationState): readonly CompiledCard[] {
  const isItsOwn = isShown(state) || state.structure.repaired;
  return isItsOwn ? [state.model.card] : cardsOf(state.spec);
}

/** Output tokens that the hold has to cover so far: those of an answer under repair as well. */
export function coveredTokens(state: GenerationState): number {
  return state.structure.spentTokens + deliveredTokens(state);
}

/** What it has to cover once these are delivered as well. */
export function coveredTokensWith(state: GenerationState, events: readonly ModelEvent[]): number {
  let { deltas, weight } = state;
  for (const event of events) {
    deltas += deltasOf(event);
    if ('text' in event) weight += weightOf(event.text);
  }
  return state.structure.spentTokens + estimatedTokens(deltas, weight);
}

/** Output tokens delivered so far, estimated. */
export function deliveredTokens({ deltas, weight }: GenerationState): number {
  return estimatedTokens(deltas, weight);
}

/** Providers send one or a few tokens an event. */
function estimatedTokens(deltas: number, weight: number): number {
  return Math.max(deltas, Math.ceil(weight / 4));
}
