// The public status of each model from probes and observed traffic, pure. Neutral reasons only: no
// provider and no provider's text is named.
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { PoolMember } from '../catalog/managed.ts';
import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import type { RouteRecord } from '../provider-health/health.ts';
import type { ModelStatus } from './protocol.ts';

/** Fewer observed calls than this say nothing. */
const observedMin = 5;

const reasons: Record<ModelStatus['status'], string> = {
  operational: 'All routes answer.',
  degraded: 'Some routes do not answer or fail often.',
  unavailable: 'No route answers.',
  unknown: 'No route has been checked.',
};
const unpaidReasons: Partial<typeof reasons> = {
  degraded: 'Some routes do not answer: provider.unpaid.',
  unavailable: 'No route answers: provider.unpaid.',
};

/** `unpaid` routes do not work, whatever else is seen: their descriptions are told for free. */
export function modelStatuses(
  catalog: CatalogSnapshot,
  probed: ReadonlyMap<string, boolean>,
  observed: readonly RouteRecord[],
  unpaid: ReadonlySet<string> = new Set(),
): ModelStatus[] {
  const traffic = judgedByTraffic(observed);
  for (const routeId of unpaid) traffic.set(routeId, false);
  const exact = catalog.models.map(({ alias, targets }) => ({ alias, targets }));
  const managed = catalog.routes.map(({ alias, pool }) => ({ alias, targets: poolTargets(pool) }));
  return [...exact, ...managed].map((model) => modelStatus(model, probed, traffic, unpaid));
}

/** Every provider route that a pool may end at, each once. */
function poolTargets(pool: readonly PoolMember[]): UpstreamTarget[] {
  const targets = pool.flatMap(({ model }) => model.targets);
  return [...new Map(targets.map((target) => [target.routeId, target])).values()];
}

/**
 * Whether a route works for those that use it, over all shards: most of its recent calls succeed,
 * and nobody's breaker is open. Routes with few calls are not judged.
 */
function judgedByTraffic(observed: readonly RouteRecord[]): Map<string, boolean> {
  const sums = new Map<string, { successes: number; failures: number; isOpen: boolean }>();
  for (const { routeId, successes, failures, state } of observed) {
    const sum = sums.get(routeId) ?? { successes: 0, failures: 0, isOpen: false };
    sums.set(routeId, {
      successes: sum.successes + successes,
      failures: sum.failures + failures,
      isOpen: sum.isOpen || state !== 'closed',
    });
  }
  const judged = new Map<string, boolean>();
  for (const [routeId, { successes, failures, isOpen }] of sums) {
    if (successes + failures < observedMin) continue;
    if (failures > successes) judged.set(routeId, false);
    // What an open breaker holds back is the probe's to say.
    else if (!isOpen) judged.set(routeId, true);
  }
  return judged;
}

function modelStatus(
  model: { alias: string; targets: readonly UpstreamTarget[] },
  probed: ReadonlyMap<string, boolean>,
  traffic: ReadonlyMap<string, boolean>,
  unpaid: ReadonlySet<string>,
): ModelStatus {
  const total = model.targets.length;
  // Servers may run what their lists of models do not name: who is served knows better.
  const verdicts = model.targets.map(({ routeId }) => traffic.get(routeId) ?? probed.get(routeId));
  const checked = verdicts.filter((verdict) => verdict !== undefined).length;
  const operational = verdicts.filter((verdict) => verdict === true).length;
  const status = statusOf(total, checked, operational);
  const isUnpaid = model.targets.some(({ routeId }) => unpaid.has(routeId));
  return {
    alias: model.alias,
    status,
    routes_total: total,
    routes_operational: operational,
    reason: (isUnpaid ? unpaidReasons[status] : undefined) ?? reasons[status],
  };
}

function statusOf(total: number, checked: number, operational: number): ModelStatus['status'] {
  // Every provider of it is disabled.
  if (total === 0) return 'unavailable';
  if (checked === 0) return 'unknown';
  if (operational === total) return 'operational';
  return operational === 0 ? 'unavailable' : 'degraded';
}
