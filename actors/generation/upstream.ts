// The attempts of a generation: which provider route is tried, and what its end means. Until the
// first answer delta a failed attempt is followed by the next candidate; after it by nothing.

import { answerEvents, emptyAnswer } from '../../media/model/answer.ts';
import type { UpstreamFailure } from '../../media/model/events.ts';
import { addProgress, keepCuts, recut } from '../../media/model/replay.ts';
import { isHeavyFormat, satisfiesOutputFormat } from '../../media/model/structured.ts';
import { isLongRequest } from '../../media/model/tokens.ts';
import { tooLong } from '../../media/model/too-long.ts';
import { CeilingCut } from '../../media/providers/generation/ceiling.ts';
import { isContextRefusal } from '../../media/providers/generation/context-refusal.ts';
import { StopCut } from '../../media/providers/generation/stops.ts';
import type { ActorContext } from '../../runtime/actor/contract.ts';
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import { failureProblem, mayTryNext, noteFailure } from '../billed-request/failure.ts';
import { noProbe, type Probe } from '../provider-health/breaker.ts';
import { finishGeneration } from './closing.ts';
import { tellEvents } from './delivery.ts';
import type { GenerationProtocol } from './protocol.ts';
import { beginRepair } from './repair.ts';
import { searchesNatively, startSearch, tellSearching } from './searching.ts';
import type { Candidate } from './spec.ts';
import { type GenerationState, isShown } from './state.ts';
import { instructed, isConstrained, textToCheck, unfence } from './structure.ts';

type Context = ActorContext<GenerationProtocol>;

/** Calls the next candidate, after the search if one is due; fails when none is left. */
export function startAttempt(state: GenerationState, context: Context): void {
  const { deps, search } = state;
  const candidate = state.candidates[0];
  const now = Date.now();
  if (candidate === undefined) {
    const problem = plainProblem('no_route_available');
    finishGeneration(state, context, { status: 'failed', problem });
    return;
  }
  if (search.phase === 'due' && !searchesNatively(state, candidate)) {
    startSearch(state, context);
    return;
  }
  state.candidates.shift();
  const { routeId } = candidate.target;
  // The probe of a half-open breaker is taken by another call: this one goes elsewhere if it can.
  const probe = deps.health.started(routeId, now);
  if (probe === null && state.candidates.length > 0) {
    startAttempt(state, context);
    return;
  }
  callCandidate(state, context, candidate, probe ?? noProbe);
}

export function callCandidate(
  state: GenerationState,
  context: Context,
  candidate: Candidate,
  probe: Probe,
): void {
  const { deps, spec, structure, search, request } = state;
  const { target, model } = candidate;
  state.attempts += 1;
  state.model = model;
  const number = state.attempts;
  const family = deps.family(target.family);
  const nativeSearch = searchesNatively(state, candidate);
  search.uncounted = nativeSearch && family.format === 'chat';
  if (nativeSearch) tellSearching(state);
  const isFree = !isConstrained(family, request, candidate, nativeSearch);
  // What is repaired was searched for.
  search.awaited = nativeSearch && spec.search?.required === true && !structure.repaired;
  structure.isFree = isFree;
  structure.withheld = isFree || search.awaited;
  const { self } = context;
  const asked = isFree ? instructed(request) : request;
  const options = {
    outputTokensMax: Math.min(spec.outputTokensCeiling, model.outputTokensMax),
    nativeSearch,
    reasons: model.capabilities.includes('reasoning'),
  };
  const { outputTokensMax } = options;
  const cut = outputTokensMax < family.outputTokensMin ? new CeilingCut(outputTokensMax) : null;
  const unwatched = family.unwatched(request);
  const stop = unwatched.length === 0 ? null : new StopCut(unwatched);
  const encode = () => family.encodeRequest(asked, target, options);
  const handle = deps.upstream.start(
    family,
    isLongRequest(asked, spec.inputTokensEstimate) ? encode : encode(),
    deps.limits.upstream,
    {
      clientFormat: request.source.format,
      events: (read) => {
        const bounded = cut === null ? read : cut.keep(read);
        const events = stop === null ? bounded : stop.keep(bounded);
        if (!self.tell('upstreamEvents', { attempt: number, events })) handle.abort();
        if (stop?.ended !== true) return;
        // What would follow is not worth its price: what was told is counted instead.
        handle.abort();
        self.tell('upstreamEnded', { attempt: number, failure: null });
      },
      ended: (failure) => {
        self.tell('upstreamEnded', { attempt: number, failure });
      },
    },
    spec.accountId,
  );
  const startedMs = Date.now();
  state.attempt = { number, candidate, handle, probe, startedMs, firstEventMs: null, ownMs: 0 };
  // The one before may have ended while it was paused.
  state.paused = false;
}

export function abortAttempt(state: GenerationState): void {
  const { attempt, deps } = state;
  state.search.controller?.abort();
  if (attempt === null) return;
  attempt.handle.abort();
  deps.health.abandoned(attempt.candidate.target.routeId, attempt.probe);
  state.attempt = null;
}

/** The first event of an attempt: how quick this route is. */
export function measureFirstEvent(state: GenerationState): void {
  const { attempt, deps } = state;
  if (attempt === null || attempt.firstEventMs !== null) return;
  const now = Date.now();
  attempt.firstEventMs = now;
  attempt.ownMs = attempt.handle.ownMs;
  const durationMs = now - attempt.startedMs - attempt.ownMs;
  deps.health.firstEvent(attempt.candidate.target.routeId, durationMs, now);
}

/** The upstream is over: done, failed for good, or failed with another candidate to try. */
export function attemptEnded(
  state: GenerationState,
  context: Context,
  failure: UpstreamFailure | null,
): void {
  const { deps, attempt } = state;
  if (attempt === null) return;
  state.attempt = null;
  const now = Date.now();
  const { routeId } = attempt.candidate.target;
  if (failure === null) {
    const durationMs = now - (attempt.firstEventMs ?? now) - (attempt.handle.ownMs - attempt.ownMs);
    deps.health.succeeded(routeId, now, { tokens: state.deltas, durationMs }, attempt);
    answered(state, context, attempt.candidate);
    return;
  }
  deps.health.failed(routeId, failure, now, attempt);
  noteFailure(state, routeId, failure);
  const left = state.candidates.length;
  if (mayTryNext(state, failure, { isShown: isShown(state), left, nowMs: now })) {
    state.fallbacks += 1;
    forgetAnswer(state);
    startAttempt(state, context);
    return;
  }
  const problem = failureProblem(state, failure, rejectionOf(state, failure));
  finishGeneration(state, context, { status: 'failed', problem });
}

function rejectionOf({ spec }: GenerationState, failure: UpstreamFailure): PlainProblem {
  if (!isContextRefusal(failure)) {
    return plainProblem('invalid_request', 'The model refused the request as invalid.');
  }
  const { message, param } = tooLong(spec.request, null);
  return { ...plainProblem('invalid_request', message), param };
}

/** A whole answer: checked here, or elsewhere if that may take long. */
function answered(state: GenerationState, context: Context, candidate: Candidate): void {
  const { structure, search, spec, deps } = state;
  if (search.awaited && ((state.usage ?? state.begunUsage)?.searchCalls ?? 0) === 0) {
    const problem = plainProblem('no_route_available', 'The model answered without a web search.');
    finishGeneration(state, context, { status: 'failed', problem });
    return;
  }
  const { outputFormat } = spec.request;
  const text = textToCheck(state);
  if (text === null) conclude(state, context, candidate, true);
  else if (isHeavyFormat(outputFormat)) {
    structure.checking = candidate;
    void deps
      .checkAnswer(outputFormat, text)
      .then((isGood) => context.self.tell('checked', isGood));
  } else conclude(state, context, candidate, satisfiesOutputFormat(outputFormat, text));
}

/** One that was withheld is shown if it is good, and repaired once if it is not. */
export function conclude(
  state: GenerationState,
  context: Context,
  candidate: Candidate,
  isGood: boolean,
): void {
  const { structure, answer, spec } = state;
  if (structure.withheld) {
    if (!isGood && !structure.repaired) {
      beginRepair(state, context, candidate);
      return;
    }
    if (isGood) {
      if (spec.request.outputFormat.type !== 'text') unfence(answer);
      reveal(state);
    }
  }
  structure.broken = !isGood;
  const status = answer.finishReason === 'length' ? 'incomplete' : 'completed';
  finishGeneration(state, context, { status });
}

/** What nobody looked at is not handed out as checked: that is our failure, and free. */
export function endUnchecked(state: GenerationState, context: Context): void {
  state.structure.unchecked = true;
  const problem = plainProblem('overloaded', 'The answer could not be checked. Try again.');
  finishGeneration(state, context, { status: 'failed', problem });
}

/** The search that was required is seen: only an answer whose format is to be checked waits on. */
export function searchSeen(state: GenerationState): void {
  state.search.awaited = false;
  if (!state.structure.isFree) reveal(state);
}

/** What was withheld so far is shown now. */
export function reveal(state: GenerationState): void {
  const { answer, structure, search } = state;
  structure.withheld = false;
  search.awaited = false;
  if (state.deltas === 0) return;
  state.firstEventMs = Date.now();
  recut(answer, true);
  tellEvents(state, answerEvents(answer));
}

/** Nothing of the attempt was shown: the next one begins from nothing. */
export function forgetAnswer(state: GenerationState): void {
  const { cuts } = state.answer;
  state.answer = emptyAnswer();
  if (cuts !== undefined) {
    keepCuts(state.answer);
    for (const progress of cuts.progress) addProgress(state.answer, progress);
  }
  state.usage = null;
  state.reportedDeltas = 0;
  state.begunUsage = null;
  state.firstEventMs = null;
  state.search.seen = false;
  state.search.cited = false;
  state.deltas = 0;
  state.characters = 0;
  state.weight = 0;
  state.stagesCharacters = 0;
}
