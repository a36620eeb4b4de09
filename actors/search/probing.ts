// A target asked for an administrator or a canary: nothing is kept, nobody pays, and a rest is no
// reason not to ask. What it comes to is told to the health of the route: a success ends its rest.
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { SearchAsk, SearchOutcome } from '../../media/search/contract.ts';
import type { CatalogSurface } from '../catalog/surface.ts';
import { noProbe } from '../provider-health/breaker.ts';
import type { RouteHealth } from '../provider-health/health.ts';
import { type AskProvider, noteFailed } from './attempts.ts';
import { realClock } from './clock.ts';
import { attemptBounds } from './limits.ts';

export interface ProbeDeps {
  client: { search: AskProvider };
  health: RouteHealth;
}

/** A failure in the words of clients (the contract of unified query, section 4). */
export type ProbeProblem =
  | 'invalid_request'
  | 'upstream_busy'
  | 'upstream_timeout'
  | 'upstream_error';

export interface ProbedTarget {
  routeId: string;
  state: SearchOutcome['state'];
  ms: number;
  /** How many it found. */
  items: number;
  /** Null: it answered. */
  problem: ProbeProblem | null;
}

/** Each target of the surface once, all at the same time, told in their order. Never rejects. */
export function probeTargets(
  deps: ProbeDeps,
  surface: Pick<CatalogSurface, 'targets'>,
  ask: SearchAsk,
  signal: AbortSignal,
): Promise<ProbedTarget[]> {
  const deadlineMs = attemptBounds(ask.surface).attemptMs;
  return Promise.all(
    surface.targets.map(async ({ upstream }): Promise<ProbedTarget> => {
      const begunMs = performance.now();
      const outcome = await askProbe(deps, upstream, ask, { deadlineMs, signal });
      const ms = Math.round(performance.now() - begunMs);
      const { routeId } = upstream;
      const { state } = outcome;
      if ('items' in outcome) {
        return { routeId, state, ms, items: outcome.items.length, problem: null };
      }
      return { routeId, state, ms, items: 0, problem: problems[outcome.state] };
    }),
  );
}

/** One target. Never rejects. */
export async function askProbe(
  { client, health }: ProbeDeps,
  target: UpstreamTarget,
  ask: SearchAsk,
  bounds: Parameters<AskProvider>[2],
): Promise<SearchOutcome> {
  const call = { probe: noProbe, startedMs: Date.now() };
  const outcome = await client.search(target, ask, bounds);
  if ('items' in outcome) {
    health.succeeded(target.routeId, Date.now(), null, call);
    health.down.accepted(target);
  } else noteFailed({ health, clock: realClock }, target, outcome, call);
  return outcome;
}

const problems = {
  refused: 'invalid_request',
  busy: 'upstream_busy',
  timeout: 'upstream_timeout',
  aborted: 'upstream_timeout',
  exhausted: 'upstream_error',
  credential: 'upstream_error',
  failed: 'upstream_error',
} as const satisfies Record<string, ProbeProblem>;
