// The calls of a generation: which provider route is tried, and how its events come in.
import type { ModelEvent } from '../../media/model/events.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { isLongRequest } from '../../media/model/tokens.ts';
import { AllowedCalls, allowedNames } from '../../media/providers/generation/allowed-calls.ts';
import { CeilingCut } from '../../media/providers/generation/ceiling.ts';
import type { Fitted, ProviderFamily } from '../../media/providers/generation/contract.ts';
import { customCallsOf } from '../../media/providers/generation/custom-calls.ts';
import { tellMeant } from '../../media/providers/generation/fitting/names.ts';
import { WholeCharacters } from '../../media/providers/generation/halves.ts';
import { droppedMembers } from '../../media/providers/generation/members.ts';
import { serverName } from '../../media/providers/generation/server-name.ts';
import { StopCut } from '../../media/providers/generation/stops.ts';
import type { ActorContext } from '../../runtime/actor/contract.ts';
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import { noProbe, type Probe } from '../provider-health/breaker.ts';
import { finishGeneration } from './closing.ts';
import type { GenerationProtocol } from './protocol.ts';
import { searchesNatively, startSearch, tellSearching } from './searching.ts';
import type { Candidate } from './spec.ts';
import type { GenerationState } from './state.ts';
import { instructed, isConstrained } from './structure.ts';
import { tellDropped } from './subscriptions.ts';

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

/** Formats that have a place for what a server of another one wants back. */
function carries({ source: { format } }: GenerationRequest): boolean {
  return format === 'messages' || format === 'responses';
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
  const fitted = family.fit(asked, target, options);
  if ('refused' in fitted) {
    deps.health.abandoned(target.routeId, probe);
    const problem = refusedPart(fitted.refused);
    finishGeneration(state, context, { status: 'failed', problem });
    return;
  }
  tellDropped(state, allDropped(droppedMembers(request, family, target), fitted));
  const told = toldOf(family, request, fitted, options.outputTokensMax);
  const encode = () => family.encodeRequest(fitted.request, target, options);
  const handle = deps.upstream.start(
    family,
    isLongRequest(asked, spec.inputTokensEstimate) ? encode : encode(),
    deps.limits.upstream,
    {
      clientFormat: request.source.format,
      server: carries(request) ? serverName(target) : undefined,
      events: (read) => {
        const events = told.keep(read);
        if (!self.tell('upstreamEvents', { attempt: number, events })) handle.abort();
        if (!told.hasEnded()) return;
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
  const call = { number, candidate, fitted, options, handle, probe };
  state.attempt = { ...call, startedMs, firstEventMs: null, ownMs: 0 };
  // The one before may have ended while it was paused.
  state.paused = false;
}

/**
 * What of each read is told. Tools have the client's own names, and calls that it did not allow are
 * left out. The answer goes as far as its ceiling and its stop sequences let it.
 */
function toldOf(
  family: ProviderFamily,
  request: GenerationRequest,
  { names }: Fitted,
  outputTokensMax: number,
) {
  const cut = outputTokensMax < family.outputTokensMin ? new CeilingCut(outputTokensMax) : null;
  const allowed = allowedNames(request);
  const calls = allowed === null ? null : new AllowedCalls(allowed);
  const unwatched = family.unwatched(request);
  const stop = unwatched.length === 0 ? null : new StopCut(unwatched);
  const custom = customCallsOf(request);
  const characters = new WholeCharacters();
  return {
    keep(read: ModelEvent[]): ModelEvent[] {
      const whole = characters.keep(read);
      const meant = names === null ? whole : tellMeant(whole, names);
      const bounded = cut === null ? meant : cut.keep(meant);
      const callable = calls === null ? bounded : calls.keep(bounded);
      const shown = stop === null ? callable : stop.keep(callable);
      return custom === null ? shown : custom.keep(shown);
    },
    hasEnded: () => stop?.ended === true,
  };
}

function allDropped(dropped: readonly string[], fitted: Fitted): readonly string[] {
  if (fitted.dropped.length === 0) return dropped;
  return [...new Set([...dropped, ...fitted.dropped])];
}

/** A part of the request that this model's format has no form for: planning asks other models. */
function refusedPart(path: string): PlainProblem {
  const message = `The model cannot take this part of the request: '${path}'.`;
  return { ...plainProblem('invalid_request', message), param: path };
}
