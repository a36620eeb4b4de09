// What failed calls of providers mean for a request: whether another route is tried, and what the
// client is told in the end. A provider's own words stay in the log.
import type { UpstreamFailure } from '../../media/model/events.ts';
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import type { RequestState } from './settlement.ts';

/** What the state of a request has that calls one route after the other. */
export interface AttemptsState extends Pick<RequestState, 'deps' | 'spec'> {
  attempts: number;
  /** How many of them failed as `busy`. */
  busyAttempts: number;
  /** How many of them failed as `unpaid`. */
  unpaidAttempts: number;
}

/** Counts and logs a failed attempt; its route's health is the caller's. */
export function noteFailure(state: AttemptsState, routeId: string, failure: UpstreamFailure): void {
  const { id, exchangeId, accountId } = state.spec;
  state.deps.log.warn(
    { generation: id, exchange: exchangeId, account: accountId, route: routeId, failure },
    'upstream attempt failed',
  );
  if (failure.kind === 'busy') state.busyAttempts += 1;
  if (failure.kind === 'unpaid') state.unpaidAttempts += 1;
}

/**
 * Whether another route is tried: while nothing was shown, within bounded attempts and time, and
 * not with a request that is refused as such, or that waited for us: it would wait again. `left`:
 * routes that are left to try.
 */
export function mayTryNext(
  { deps, spec, attempts }: AttemptsState,
  failure: UpstreamFailure,
  { isShown, left, nowMs }: { isShown: boolean; left: number; nowMs: number },
): boolean {
  const { attemptsMax, failoverWithinMs } = deps.limits.generation;
  const isOurs = failure.kind === 'rejected' || failure.kind === 'overloaded';
  if (isShown || isOurs || left === 0) return false;
  return attempts < attemptsMax && nowMs - spec.createdAtMs <= failoverWithinMs;
}

/** The public problem of the last failure; `rejection` where the model refuses what is asked. */
export function failureProblem(
  { busyAttempts, unpaidAttempts, attempts }: AttemptsState,
  failure: UpstreamFailure,
  rejection: PlainProblem,
): PlainProblem {
  switch (failure.kind) {
    case 'rejected':
      return rejection;
    case 'overloaded':
      return plainProblem('overloaded');
    case 'busy': {
      // Another route only failed: not every one is busy.
      if (busyAttempts < attempts) return plainProblem('upstream_error');
      const problem = plainProblem('upstream_busy');
      const seconds = Math.ceil((failure.retryAfterMs ?? 1_000) / 1_000);
      problem.headers['retry-after'] = String(Math.min(Math.max(seconds, 1), 3_600));
      return problem;
    }
    case 'unpaid': {
      const problem = plainProblem('upstream_error');
      // Libraries try a 502 again, which helps nobody before somebody pays.
      if (unpaidAttempts === attempts) problem.headers['x-should-retry'] = 'false';
      return problem;
    }
    case 'timeout':
      return plainProblem('upstream_timeout');
    default:
      return plainProblem('upstream_error');
  }
}

interface Failed {
  status: 'failed';
  problem: PlainProblem;
}

/** The client left before it was shown anything: nothing was delivered, nothing is charged. */
export function abandoned(): Failed {
  const problem = plainProblem('upstream_error', 'The client went away before the answer began.');
  return { status: 'failed', problem };
}

/** The process stops. */
export function interrupted(): Failed {
  const problem = plainProblem('overloaded', 'The service is restarting. Try again.');
  return { status: 'failed', problem };
}
