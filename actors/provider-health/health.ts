// How well each provider route did lately, as this shard saw it: the order of candidates, which of
// them may be called at all, and the figures that the status snapshot and managed routing are made
// of. Counts decay, so that the past is forgotten; the clock is the caller's.
import type { UpstreamFailure } from '../../media/model/events.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import {
  type Breaker,
  type BreakerState,
  breakerAlive,
  breakerFailed,
  breakerState,
  breakerSucceeded,
  closedBreaker,
  decayBreaker,
  isOfBefore,
  isRunning,
  mayCall,
  noProbe,
  type Probe,
  returnProbe,
  takeCall,
} from './breaker.ts';
import { createDownRoutes, type DownRoute, type DownRoutes } from './down.ts';
import { healthLimits } from './limits.ts';
import type { UnpaidRoute } from './unpaid.ts';

const halfLifeMs = 60_000;
/** Speeds change slowly and are measured seldom. */
const speedHalfLifeMs = 300_000;
const restMs = 10_000;
/** A provider may ask for hours; it is asked again after this. */
const restMsMax = 60_000;
/** Decayed below this, a count says nothing. */
const weightMin = 0.01;
const { unpaidRestMs } = healthLimits;

/** A route as the monitor gets it from each shard. */
export interface RouteRecord {
  routeId: string;
  successes: number;
  failures: number;
  state: BreakerState;
  /** Epoch milliseconds before which the route is tried last. */
  restUntilMs: number;
  lastChangeMs: number;
}

export interface RouteStats {
  state: BreakerState;
  /** 0 to 1; 1 when nothing is known. */
  successRate: number;
  /** Decaying averages; null: not measured lately. */
  firstEventMs: number | null;
  tokensPerSecond: number | null;
}

/** A whole answer: its output tokens, and how long they took from the first event on. */
export interface OutputSpeed {
  tokens: number;
  durationMs: number;
}

/** How a call began: what it took of its breaker, and when. */
export interface CallBegin {
  probe: Probe;
  startedMs: number;
  /** Its success has cost nothing, so that it says nothing of a bill. */
  isFree?: true;
}

/** Why a route is not to be called. */
export interface Rest {
  why: 'busy' | 'unpaid' | 'down' | 'open';
  /** Epoch milliseconds; null: until its record changes or a probe succeeds. */
  untilMs: number | null;
}

export interface RouteHealth {
  /** Routes whose credential is refused: what is called without a look at them is not held back. */
  readonly down: DownRoutes;
  /** Why this route rests; null: it may be called. Takes nothing. */
  restOf(target: UpstreamTarget, nowMs: number): Rest | null;
  /** The targets, those that just failed or asked for a pause last; else the declared order. */
  order(targets: readonly UpstreamTarget[], nowMs: number): UpstreamTarget[];
  /** Whether a call may be made: the breaker admits it, no pause was asked for. Takes nothing. */
  allows(routeId: string, nowMs: number): boolean;
  /** A call begins. Takes the one probe of a half-open breaker; null: it should not be made. */
  started(routeId: string, nowMs: number): Probe | null;
  /** The first event of a call came after `durationMs`. */
  firstEvent(routeId: string, durationMs: number, nowMs: number): void;
  succeeded(routeId: string, nowMs: number, speed?: OutputSpeed | null, call?: CallBegin): void;
  /** `call` not given: it began just now, without a probe. */
  failed(routeId: string, failure: UpstreamFailure, nowMs: number, call?: CallBegin): void;
  /** A call ended by us, without a verdict. */
  abandoned(routeId: string, probe: Probe): void;
  /** What another shard has found. */
  rest(found: UnpaidRoute, nowMs: number): void;
  /** The route leads elsewhere now: nothing is known of it. */
  forget(routeId: string): void;
  stats(routeId: string, nowMs: number): RouteStats;
  /** What this shard saw, decayed to `nowMs`; what is forgotten is left out. */
  records(nowMs: number): RouteRecord[];
}

/** A mean whose past weighs half after every half-life. */
interface DecayingMean {
  sum: number;
  weight: number;
  lastChangeMs: number;
}

interface Entry {
  routeId: string;
  successes: number;
  failures: number;
  lastChangeMs: number;
  /** After a failure, for the order only. */
  restUntilMs: number;
  /** The provider's own wish: a success of another call does not end it. */
  busyUntilMs: number;
  /** Nobody has paid its provider: ended by a success of a call that began later. */
  unpaidUntilMs: number;
  firstEventMs: DecayingMean;
  tokensPerSecond: DecayingMean;
  breaker: Breaker;
}

/**
 * `tell` hears of routes that rest since nobody has paid their provider, and of their payment.
 * `tellDown` hears of those whose credential is refused, and of its end.
 */
export function createRouteHealth(
  tell: (found: UnpaidRoute) => void = () => {},
  tellDown: (found: DownRoute) => void = () => {},
): RouteHealth {
  const down = createDownRoutes(tellDown);
  const entries = new Map<string, Entry>();
  const entryOf = (routeId: string, nowMs: number): Entry => {
    let entry = entries.get(routeId);
    if (entry === undefined) {
      entry = newEntry(routeId, nowMs);
      entries.set(routeId, entry);
    }
    decay(entry, nowMs);
    return entry;
  };
  return {
    down,
    order: (targets, nowMs) => ordered(entries, down, targets, nowMs),
    restOf: (target, nowMs) => restOf(entries.get(target.routeId), down.isDown(target), nowMs),
    allows(routeId, nowMs) {
      const entry = entries.get(routeId);
      return entry === undefined || (mayCall(entry.breaker, nowMs) && !isHeldBack(entry, nowMs));
    },
    started(routeId, nowMs) {
      const entry = entries.get(routeId);
      if (entry === undefined) return noProbe;
      return isHeldBack(entry, nowMs) ? null : takeCall(entry.breaker, nowMs);
    },
    firstEvent(routeId, durationMs, nowMs) {
      const entry = entryOf(routeId, nowMs);
      addSample(entry.firstEventMs, durationMs, nowMs);
      breakerAlive(entry.breaker, nowMs - durationMs);
    },
    succeeded(routeId, nowMs, speed = null, call = newCall(nowMs)) {
      const entry = entryOf(routeId, nowMs);
      const wasUnpaid = entry.unpaidUntilMs > 0;
      recordSuccess(entry, speed, nowMs, call);
      if (wasUnpaid && entry.unpaidUntilMs === 0) tell({ routeId, untilMs: 0 });
    },
    failed(routeId, failure, nowMs, call = newCall(nowMs)) {
      const entry = entryOf(routeId, nowMs);
      const isNews = failure.kind === 'unpaid' && !isUnpaid(entry, nowMs);
      recordFailure(entry, failure, nowMs, call);
      if (isNews) tell({ routeId, untilMs: entry.unpaidUntilMs });
    },
    abandoned(routeId, probe) {
      const entry = entries.get(routeId);
      if (entry !== undefined) returnProbe(entry.breaker, probe);
    },
    rest({ routeId, untilMs }, nowMs) {
      if (untilMs > 0 || entries.has(routeId)) entryOf(routeId, nowMs).unpaidUntilMs = untilMs;
    },
    forget(routeId) {
      entries.delete(routeId);
      down.forget(routeId);
    },
    stats: (routeId, nowMs) => statsOf(entries.get(routeId), nowMs),
    records(nowMs) {
      for (const entry of entries.values()) {
        decay(entry, nowMs);
        if (isForgotten(entry, nowMs)) entries.delete(entry.routeId);
      }
      return [...entries.values()].map((entry) => recordOf(entry, nowMs));
    },
  };
}

function newCall(startedMs: number): CallBegin {
  return { probe: noProbe, startedMs };
}

function newEntry(routeId: string, nowMs: number): Entry {
  return {
    routeId,
    successes: 0,
    failures: 0,
    lastChangeMs: nowMs,
    restUntilMs: 0,
    busyUntilMs: 0,
    unpaidUntilMs: 0,
    firstEventMs: { sum: 0, weight: 0, lastChangeMs: nowMs },
    tokensPerSecond: { sum: 0, weight: 0, lastChangeMs: nowMs },
    breaker: closedBreaker(),
  };
}

function ordered(
  entries: ReadonlyMap<string, Entry>,
  down: DownRoutes,
  targets: readonly UpstreamTarget[],
  nowMs: number,
): UpstreamTarget[] {
  if (targets.length < 2) return [...targets];
  const rests = (target: UpstreamTarget): boolean => {
    if (down.isDown(target)) return true;
    const entry = entries.get(target.routeId);
    if (entry === undefined) return false;
    const isResting = isRunning(entry.restUntilMs, restMsMax, nowMs);
    return isResting || isHeldBack(entry, nowMs) || !mayCall(entry.breaker, nowMs);
  };
  return [...targets.filter((target) => !rests(target)), ...targets.filter(rests)];
}

const isBusy = ({ busyUntilMs }: Entry, nowMs: number) => isRunning(busyUntilMs, restMsMax, nowMs);
const isUnpaid = ({ unpaidUntilMs }: Entry, nowMs: number) =>
  isRunning(unpaidUntilMs, unpaidRestMs, nowMs);
const isHeldBack = (entry: Entry, nowMs: number) => isBusy(entry, nowMs) || isUnpaid(entry, nowMs);

function restOf(entry: Entry | undefined, isDown: boolean, nowMs: number): Rest | null {
  if (isDown) return { why: 'down', untilMs: null };
  if (entry === undefined) return null;
  if (isUnpaid(entry, nowMs)) return { why: 'unpaid', untilMs: entry.unpaidUntilMs };
  if (isBusy(entry, nowMs)) return { why: 'busy', untilMs: entry.busyUntilMs };
  if (mayCall(entry.breaker, nowMs)) return null;
  const { openUntilMs, probeUntilMs } = entry.breaker;
  return { why: 'open', untilMs: Math.max(openUntilMs, probeUntilMs) };
}

function recordSuccess(
  entry: Entry,
  speed: OutputSpeed | null,
  nowMs: number,
  { startedMs, isFree }: CallBegin,
): void {
  entry.successes += 1;
  entry.restUntilMs = 0;
  const unpaidSinceMs = entry.unpaidUntilMs - unpaidRestMs;
  if (startedMs >= unpaidSinceMs && isFree !== true) entry.unpaidUntilMs = 0;
  breakerSucceeded(entry.breaker, nowMs, startedMs);
  if (speed === null || speed.tokens < 2 || speed.durationMs <= 0) return;
  addSample(entry.tokensPerSecond, (speed.tokens * 1_000) / speed.durationMs, nowMs);
}

function recordFailure(
  entry: Entry,
  failure: UpstreamFailure,
  nowMs: number,
  { probe, startedMs }: CallBegin,
): void {
  const { breaker } = entry;
  if (failure.kind === 'overloaded') {
    // It never left: the route has nothing to do with it.
    returnProbe(breaker, probe);
    return;
  }
  if (failure.kind === 'rejected') {
    // The request is at fault; that the provider said so shows that it is there.
    if (breakerState(breaker, nowMs) === 'half-open') breakerAlive(breaker, nowMs);
    return;
  }
  if (failure.kind === 'unpaid') {
    // It says nothing of how well the route works. A last resort does not let it rest for longer.
    if (!isUnpaid(entry, nowMs)) entry.unpaidUntilMs = nowMs + unpaidRestMs;
    returnProbe(breaker, probe);
    return;
  }
  entry.failures += 1;
  const pauseMs = Math.min(failure.retryAfterMs ?? restMs, restMsMax);
  if (!isOfBefore(breaker, startedMs, nowMs)) entry.restUntilMs = nowMs + pauseMs;
  const isAsked = failure.kind === 'busy' || failure.retryAfterMs !== null;
  if (isAsked) entry.busyUntilMs = Math.max(entry.busyUntilMs, nowMs + pauseMs);
  // A provider at its limit is well: it rests, and its breaker stays as it is.
  if (failure.kind === 'busy') returnProbe(breaker, probe);
  else breakerFailed(breaker, nowMs, startedMs);
}

function statsOf(entry: Entry | undefined, nowMs: number): RouteStats {
  if (entry === undefined) {
    return { state: 'closed', successRate: 1, firstEventMs: null, tokensPerSecond: null };
  }
  decay(entry, nowMs);
  const { successes, failures } = entry;
  return {
    state: breakerState(entry.breaker, nowMs),
    // One success is taken for granted: a single failure is no rate of zero.
    successRate: (successes + 1) / (successes + failures + 1),
    firstEventMs: meanOf(entry.firstEventMs, nowMs),
    tokensPerSecond: meanOf(entry.tokensPerSecond, nowMs),
  };
}

function recordOf(entry: Entry, nowMs: number): RouteRecord {
  const { routeId, successes, failures, lastChangeMs } = entry;
  const restUntilMs = Math.max(entry.restUntilMs, entry.busyUntilMs, entry.unpaidUntilMs);
  const state = breakerState(entry.breaker, nowMs);
  return { routeId, successes, failures, state, restUntilMs, lastChangeMs };
}

function isForgotten(entry: Entry, nowMs: number): boolean {
  const weight = Math.max(entry.successes, entry.failures, weightAt(entry.firstEventMs, nowMs));
  const rests = Math.max(entry.restUntilMs, entry.busyUntilMs, entry.unpaidUntilMs) > nowMs;
  return weight < weightMin && !rests && entry.breaker.state === 'closed';
}

function decay(entry: Entry, nowMs: number): void {
  const factor = remaining(nowMs - entry.lastChangeMs, halfLifeMs);
  entry.successes *= factor;
  entry.failures *= factor;
  decayBreaker(entry.breaker, factor);
  entry.lastChangeMs = nowMs;
}

function addSample(mean: DecayingMean, value: number, nowMs: number): void {
  const factor = remaining(nowMs - mean.lastChangeMs, speedHalfLifeMs);
  mean.sum = mean.sum * factor + value;
  mean.weight = mean.weight * factor + 1;
  mean.lastChangeMs = nowMs;
}

function meanOf(mean: DecayingMean, nowMs: number): number | null {
  return weightAt(mean, nowMs) < weightMin ? null : mean.sum / mean.weight;
}

function weightAt(mean: DecayingMean, nowMs: number): number {
  return mean.weight * remaining(nowMs - mean.lastChangeMs, speedHalfLifeMs);
}

/** A clock that is set back changes nothing. */
function remaining(elapsedMs: number, halfMs: number): number {
  return elapsedMs > 0 ? 0.5 ** (elapsedMs / halfMs) : 1;
}
