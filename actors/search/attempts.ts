// One search from target to target: healthy ones first, each judged by what came of it, and an
// empty answer looked at twice. What a target's failure means for it is told to its health.
import type { UpstreamFailure } from '../../media/model/events.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type {
  FailedOutcome,
  FoundOutcome,
  SearchAsk,
  SearchOutcome,
} from '../../media/search/contract.ts';
import { plainFailure } from '../../media/transport/refusal.ts';
import type { SearchTarget } from '../catalog/surface.ts';
import { noProbe, type Probe } from '../provider-health/breaker.ts';
import type { CallBegin, Rest, RouteHealth } from '../provider-health/health.ts';
import type { SearchClock } from './clock.ts';
import { type Failed, failedResult, failureOf, foundResult } from './conclusion.ts';
import type { EngineState, EngineTry, SearchOrder, SearchResult } from './contract.ts';
import { attemptBounds, searchLimits } from './limits.ts';
import type { SearchMetrics } from './metrics.ts';

/** One call of a provider. Never rejects. */
export type AskProvider = (
  target: UpstreamTarget,
  ask: SearchAsk,
  bounds: { deadlineMs: number; signal: AbortSignal },
) => Promise<SearchOutcome>;

export interface AttemptDeps {
  client: { search: AskProvider };
  health: RouteHealth;
  /** Whether a family's results have scores, which `ai_search` prefers. */
  isScoring(family: string): boolean;
  metrics: SearchMetrics;
  log: { warn(details: object, text: string): void };
  clock: SearchClock;
}

/** A target under the name that clients see. */
interface Route {
  name: string;
  target: SearchTarget;
}

interface Run {
  deps: AttemptDeps;
  order: SearchOrder;
  signal: AbortSignal;
  attemptMs: number;
  /** On the clock of the awake. */
  untilMs: number;
  engines: EngineTry[];
  failed: Failed[];
  /** Passed over only for a breaker that is open. */
  open: Route[];
  attempts: number;
  empty: { route: Route; outcome: FoundOutcome } | null;
}

/** Asks the targets of the order's surface. Never rejects. */
export async function askTargets(
  deps: AttemptDeps,
  order: SearchOrder,
  signal: AbortSignal,
): Promise<SearchResult> {
  const { attemptMs, totalMs } = attemptBounds(order.ask.surface);
  const run: Run = {
    deps,
    order,
    signal,
    attemptMs,
    untilMs: deps.clock.awakeMs() + totalMs,
    engines: [],
    failed: [],
    open: [],
    attempts: 0,
    empty: null,
  };
  for (const [index, target] of inOrder(run).entries()) {
    if (!mayAsk(run)) break;
    const result = await tryRoute(run, { name: `r${index + 1}`, target });
    if (result !== null) return result;
  }
  return (await lookAgain(run)) ?? (await lastResort(run)) ?? conclusion(run);
}

/** Healthy ones first; where pages are scored, those of them that score. */
function inOrder({ deps, order }: Run): SearchTarget[] {
  const { targets } = order.surface;
  const nowMs = deps.clock.nowMs();
  const upstreams = targets.map(({ upstream }) => upstream);
  const ordered = deps.health.order(upstreams, nowMs).flatMap(({ routeId }) => {
    return targets.find(({ upstream }) => upstream.routeId === routeId) ?? [];
  });
  if (order.ask.surface !== 'ai_search') return ordered;
  const isFirst = ({ upstream }: SearchTarget) =>
    deps.isScoring(upstream.family) && deps.health.restOf(upstream, nowMs) === null;
  return [...ordered.filter(isFirst), ...ordered.filter((target) => !isFirst(target))];
}

function leftMs({ deps, untilMs }: Run): number {
  return untilMs - deps.clock.awakeMs();
}

function mayAsk(run: Run): boolean {
  if (run.signal.aborted || run.attempts >= searchLimits.attemptsMax) return false;
  return leftMs(run) >= searchLimits.attemptMsMin;
}

/** Null: the search goes on. */
async function tryRoute(run: Run, route: Route): Promise<SearchResult | null> {
  const { health, clock } = run.deps;
  const { upstream } = route.target;
  const nowMs = clock.nowMs();
  const rest = health.restOf(upstream, nowMs);
  const probe = rest === null ? health.started(upstream.routeId, nowMs) : null;
  if (probe !== null) return await ask(run, route, probe);
  skip(run, route, rest ?? { why: 'open', untilMs: null }, nowMs);
  return null;
}

function skip(run: Run, route: Route, { why, untilMs }: Rest, nowMs: number): void {
  run.deps.metrics.attempt(run.order.surface.name, 'skipped');
  run.engines.push({ name: route.name, state: 'skipped', ms: 0 });
  const retryAfterMs = untilMs === null ? null : Math.max(0, untilMs - nowMs);
  run.failed.push({ isAsked: false, state: why === 'busy' ? 'busy' : 'skipped', retryAfterMs });
  if (why === 'open') run.open.push(route);
}

async function ask(run: Run, route: Route, probe: Probe): Promise<SearchResult | null> {
  const { deps, order, signal } = run;
  const { client, clock, metrics } = deps;
  run.attempts += 1;
  const call = { probe, startedMs: clock.nowMs() };
  const begunMs = clock.awakeMs();
  const deadlineMs = Math.min(run.attemptMs, leftMs(run));
  const { upstream } = route.target;
  const outcome = await client.search(upstream, order.ask, { deadlineMs, signal });
  const ms = Math.max(0, Math.round(clock.awakeMs() - begunMs));
  metrics.attempt(order.surface.name, outcome.state);
  run.engines.push({ name: route.name, state: engineStates[outcome.state], ms });
  if ('items' in outcome) {
    deps.health.firstEvent(upstream.routeId, ms, clock.nowMs());
    deps.health.succeeded(upstream.routeId, clock.nowMs(), null, call);
    return took(run, route, outcome);
  }
  noteFailed(deps, upstream, outcome, call);
  if (outcome.state === 'aborted') return failedResult(run.engines, 'aborted', null, true);
  const { state, retryAfterMs, detail } = outcome;
  const { accountId: account, surface } = order;
  deps.log.warn(
    { account, surface: surface.name, route: upstream.routeId, state, detail },
    'search attempt failed',
  );
  run.failed.push({ isAsked: true, state, retryAfterMs });
  return null;
}

const engineStates: Readonly<Record<SearchOutcome['state'], EngineState>> = {
  found: 'found',
  partial: 'partial',
  empty: 'empty',
  busy: 'busy',
  refused: 'failed',
  exhausted: 'failed',
  credential: 'failed',
  failed: 'failed',
  timeout: 'failed',
  aborted: 'failed',
};

function took(run: Run, route: Route, outcome: FoundOutcome): SearchResult | null {
  const isSecond = run.empty !== null;
  if (outcome.state === 'empty') run.empty = { route, outcome };
  if (outcome.state === 'empty' && !isSecond) return null;
  return foundResult(run.engines, route.target, outcome, run.deps.clock.nowMs());
}

/** What a failure says of the route. Also of those that only a probe or a test has asked. */
export function noteFailed(
  { health, clock }: Pick<AttemptDeps, 'health' | 'clock'>,
  target: UpstreamTarget,
  { state, retryAfterMs, detail }: FailedOutcome,
  call: CallBegin,
): void {
  const { routeId } = target;
  if (state === 'aborted' || state === 'credential') {
    health.abandoned(routeId, call.probe);
    if (state === 'credential') health.down.refused(target);
    return;
  }
  const failure: UpstreamFailure = { ...plainFailure(failureKinds[state], detail), retryAfterMs };
  health.failed(routeId, failure, clock.nowMs(), call);
}

type Judged = Exclude<FailedOutcome['state'], 'aborted' | 'credential'>;

const failureKinds: Readonly<Record<Judged, UpstreamFailure['kind']>> = {
  refused: 'rejected',
  busy: 'busy',
  exhausted: 'unpaid',
  failed: 'failed',
  timeout: 'timeout',
};

/** Nobody else is left: who found nothing is asked once more. */
async function lookAgain(run: Run): Promise<SearchResult | null> {
  const { deps, empty, signal } = run;
  if (empty === null || !mayAsk(run)) return null;
  await deps.clock.pause(searchLimits.secondLookMs, signal);
  return mayAsk(run) ? await tryRoute(run, empty.route) : null;
}

/** Nobody may be asked: whoever has no other way tries a target whose breaker is open. */
async function lastResort(run: Run): Promise<SearchResult | null> {
  const [route] = run.open;
  if (run.order.isLastResort !== true || run.attempts > 0 || route === undefined) return null;
  return mayAsk(run) ? await ask(run, route, noProbe) : null;
}

function conclusion(run: Run): SearchResult {
  const { deps, empty, engines, failed, signal } = run;
  const isAsked = run.attempts > 0;
  if (signal.aborted) return failedResult(engines, 'aborted', null, isAsked);
  // A provider has said that there is nothing, and nobody said otherwise.
  if (empty !== null) {
    return foundResult(engines, empty.route.target, empty.outcome, deps.clock.nowMs());
  }
  const { kind, retryAfterMs } = failureOf(failed);
  return failedResult(engines, kind, retryAfterMs, isAsked);
}
