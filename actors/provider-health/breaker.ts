// The circuit breaker of one provider route, pure: closed, open for a time that grows, half-open
// with one probe at a time. A probe's first event lets others follow, on probation: the next
// failure opens it again at once, since an upstream may begin well and cut every stream.

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface Breaker {
  state: BreakerState;
  /** Since it last closed; they decay. */
  successes: number;
  failures: number;
  consecutiveFailures: number;
  /** How often it opened without a success between: the open time grows with it. */
  openings: number;
  openedAtMs: number;
  openUntilMs: number;
  /** Counts the probes: the last one is its number. */
  probe: number;
  /** Until then the one probe may be under way; its caller may be lost. */
  probeUntilMs: number;
  probation: boolean;
}

const consecutiveFailuresMax = 5;
const failureRateMax = 0.5;
/** Fewer calls than this (decayed) have no rate. */
const rateCallsMin = 10;
const openMs = 5_000;
const openMsMax = 120_000;
const probeMs = 30_000;

export function closedBreaker(): Breaker {
  return {
    state: 'closed',
    successes: 0,
    failures: 0,
    consecutiveFailures: 0,
    openings: 0,
    openedAtMs: 0,
    openUntilMs: 0,
    probe: 0,
    probeUntilMs: 0,
    probation: false,
  };
}

/**
 * Whether a time of at most `longestMs` is still running. One that is twice as far from its end is
 * over: the clock was set back meanwhile, and not by a little.
 */
export function isRunning(untilMs: number, longestMs: number, nowMs: number): boolean {
  return nowMs < untilMs && untilMs - nowMs <= 2 * longestMs;
}

const isOpen = ({ openUntilMs }: Breaker, nowMs: number) =>
  isRunning(openUntilMs, openMsMax, nowMs);

/** An open breaker whose time is over is half-open, whether somebody has called or not. */
export function breakerState(breaker: Breaker, nowMs: number): BreakerState {
  if (breaker.state === 'open' && !isOpen(breaker, nowMs)) return 'half-open';
  return breaker.state;
}

/** Whether one more call may be made; nothing is taken by asking. */
export function mayCall(breaker: Breaker, nowMs: number): boolean {
  if (breaker.state === 'closed') return true;
  if (breaker.state === 'open') return !isOpen(breaker, nowMs);
  return !isRunning(breaker.probeUntilMs, probeMs, nowMs);
}

/** The number of a call's probe; `noProbe`: the call is not one. */
export type Probe = number;
export const noProbe: Probe = 0;

/** A call begins: takes the probe where it is one. Null: the call is none that the rules admit. */
export function takeCall(breaker: Breaker, nowMs: number): Probe | null {
  if (breaker.state === 'closed') return noProbe;
  if (!mayCall(breaker, nowMs)) return null;
  breaker.state = 'half-open';
  breaker.probe += 1;
  breaker.probeUntilMs = nowMs + probeMs;
  return breaker.probe;
}

/** The upstream answered a call. One that began before the breaker opened says nothing. */
export function breakerAlive(breaker: Breaker, startedAtMs: number): void {
  if (breaker.state === 'closed' || startedAtMs < breaker.openedAtMs) return;
  breaker.state = 'closed';
  breaker.probation = true;
  breaker.consecutiveFailures = 0;
}

/**
 * Whether a call began before the breaker last opened: how it ends was decided then, and calls that
 * a provider has let hang end for minutes after it is well again. Who set the clock back is new.
 */
export function isOfBefore({ openedAtMs }: Breaker, startedAtMs: number, nowMs: number): boolean {
  return startedAtMs < openedAtMs && openedAtMs <= nowMs;
}

/** A call ended well. While it is open that may be a last resort: the breaker stays as it is. */
export function breakerSucceeded(breaker: Breaker, nowMs: number, startedAtMs: number): void {
  const isOpenNow = breakerState(breaker, nowMs) === 'open';
  if (isOpenNow || isOfBefore(breaker, startedAtMs, nowMs)) return;
  breaker.state = 'closed';
  breaker.probation = false;
  breaker.successes += 1;
  breaker.consecutiveFailures = 0;
  breaker.openings = 0;
}

/** A call failed. A last resort that fails while it is open does not keep it open for longer. */
export function breakerFailed(breaker: Breaker, nowMs: number, startedAtMs: number): void {
  const state = breakerState(breaker, nowMs);
  if (state === 'open' || isOfBefore(breaker, startedAtMs, nowMs)) return;
  breaker.failures += 1;
  breaker.consecutiveFailures += 1;
  const calls = breaker.successes + breaker.failures;
  const tooMany = calls >= rateCallsMin && breaker.failures / calls >= failureRateMax;
  const isLast = state === 'half-open' || breaker.probation;
  if (isLast || tooMany || breaker.consecutiveFailures >= consecutiveFailuresMax) {
    openBreaker(breaker, nowMs);
  }
}

/** The past weighs less: `factor` is what is left of it. */
export function decayBreaker(breaker: Breaker, factor: number): void {
  breaker.successes *= factor;
  breaker.failures *= factor;
}

/** A call ended without a verdict: if it was the probe, the next call is one. */
export function returnProbe(breaker: Breaker, probe: Probe): void {
  if (probe === breaker.probe) breaker.probeUntilMs = 0;
}

function openBreaker(breaker: Breaker, nowMs: number): void {
  breaker.state = 'open';
  breaker.openedAtMs = nowMs;
  breaker.openUntilMs = nowMs + Math.min(openMs * 2 ** breaker.openings, openMsMax);
  // 5 s doubled five times is above the bound: more openings change nothing.
  breaker.openings = Math.min(breaker.openings + 1, 5);
  breaker.probeUntilMs = 0;
  breaker.probation = false;
  breaker.successes = 0;
  breaker.failures = 0;
  breaker.consecutiveFailures = 0;
}
