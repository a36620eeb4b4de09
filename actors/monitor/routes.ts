// The public status of each model from probes and observed traffic, pure. Neutral reasons only: no
// provider and no provider's text is named.
import type { UpstreamTarget } from '../../media/providers/contract.ts';
import type { PoolMember } from '../catalog/managed.ts';
import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import type { RouteRecord } from '../generation/health.ts';
import type { ModelStatus } from './protocol.ts';

/** Fewer observed calls than this say nothing. */
const observedMin = 5;

const reasons: Record<ModelStatus['status'], string> = {
  operational: 'All routes answer.',
  degraded: 'Some routes do not answer or fail often.',
  unavailable: 'No route answers.',
  unknown: 'No route has been checked.',
};

export function modelStatuses(
  catalog: CatalogSnapshot,
  probed: ReadonlyMap<string, boolean>,
  observed: readonly RouteRecord[],
): ModelStatus[] {
  const failing = failingRoutes(observed);
  const exact = catalog.models.map(({ alias, targets }) => ({ alias, targets }));
  const managed = catalog.routes.map(({ alias, pool }) => ({ alias, targets: poolTargets(pool) }));
  return [...exact, ...managed].map((model) => modelStatus(model, probed, failing));
}

/** Every provider route that a pool may end at, each once. */
function poolTargets(pool: readonly PoolMember[]): UpstreamTarget[] {
  const targets = pool.flatMap(({ model }) => model.targets);
  return [...new Map(targets.map((target) => [target.routeId, target])).values()];
}

/** Routes most of whose recent calls failed, over all shards. */
function failingRoutes(observed: readonly RouteRecord[]): Set<string> {
  const sums = new Map<string, { successes: number; failures: number }>();
  for (const { routeId, successes, failures } of observed) {
    const sum = sums.get(routeId) ?? { successes: 0, failures: 0 };
    sums.set(routeId, {
      successes: sum.successes + successes,
      failures: sum.failures + failures,
    });
  }
  const failing = [...sums].filter(
    ([, { successes, failures }]) => successes + failures >= observedMin && failures > successes,
  );
  return new Set(failing.map(([routeId]) => routeId));
}

function modelStatus(
  model: { alias: string; targets: readonly UpstreamTarget[] },
  probed: ReadonlyMap<string, boolean>,
  failing: ReadonlySet<string>,
): ModelStatus {
  const total = model.targets.length;
  const checked = model.targets.filter((target) => probed.has(target.routeId)).length;
  const operational = model.targets.filter(
    (target) => probed.get(target.routeId) === true && !failing.has(target.routeId),
  ).length;
  const status = statusOf(total, checked, operational);
  return {
    alias: model.alias,
    status,
    routes_total: total,
    routes_operational: operational,
    reason: reasons[status],
  };
}

function statusOf(total: number, checked: number, operational: number): ModelStatus['status'] {
  // Every provider of it is disabled.
  if (total === 0) return 'unavailable';
  if (checked === 0) return 'unknown';
  if (operational === total) return 'operational';
  return operational === 0 ? 'unavailable' : 'degraded';
}
