// The searches of a shard: its connections to search providers, the places that are on it, and the
// desk that queries, generations and voice ask.
import type { Sql } from '../../db/driver/sql.ts';
import { createSearchClient } from '../../media/providers/search/call.ts';
import { isScoring } from '../../media/providers/search/families.ts';
import type { SearchAsk } from '../../media/search/contract.ts';
import type { ActorSystem } from '../../runtime/actor/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import { type Component, defineComponent } from '../../runtime/shard/component.ts';
import type { CatalogSurface } from '../catalog/surface.ts';
import { cancelGeneration } from '../generation/open.ts';
import type { GenerationServices } from '../generation/start.ts';
import type { Limits } from '../limits.ts';
import type { RouteHealth } from '../provider-health/health.ts';
import { answerRoute, createAnswerer } from './answering.ts';
import { realClock } from './clock.ts';
import { createSearchDesk } from './desk.ts';
import type { ExecutionDeps } from './execution.ts';
import type { KeptResults } from './kept.ts';
import { createSearchMetrics } from './metrics.ts';
import { createPlaceKind } from './place.ts';
import { type ProbedTarget, probeTargets } from './probing.ts';
import { createWebSearch } from './web-search.ts';

/** What searches offer to routes. */
export interface SearchServices {
  /** Each target of a surface once, whatever is kept or rests. Nobody pays. */
  probe(surface: CatalogSurface, ask: SearchAsk, signal: AbortSignal): Promise<ProbedTarget[]>;
}

interface Given {
  limits: Limits;
  log: Logger;
  registry: MetricsRegistry;
  health: RouteHealth;
  system(): ActorSystem;
  sql: Sql;
  /** They are there once the shard serves. */
  generations(): GenerationServices;
}

/** Builds the searches of one shard. */
export function createSearchComponent(given: Given) {
  const { registry, health, log, system, generations, limits } = given;
  const client = createSearchClient({
    connectionsMax: limits.upstream.connectionsPerOriginMax,
  });
  const deps: ExecutionDeps = {
    client,
    health,
    isScoring,
    metrics: createSearchMetrics(registry),
    log,
    clock: realClock,
    answerer: createAnswerer(given),
    node: () => system().node,
  };
  const stores = new Set<KeptResults>();
  const kind = createPlaceKind(deps, stores);
  const desk = createSearchDesk({ ...deps, system, kind });
  const sum = (of: (kept: KeptResults) => number) => () =>
    [...stores].reduce((total, kept) => total + of(kept), 0);
  registry.watch([
    ['tollgate_search_kept', 'Answers of searches that are kept.', sum(({ size }) => size)],
    ['tollgate_search_kept_bytes', 'What they take of memory.', sum(({ bytes }) => bytes)],
  ]);
  const component: Component = defineComponent({
    name: 'search',
    kinds: [kind],
    // The generations that write answers.
    rows: {
      routes: [answerRoute],
      cancel: (requestId) =>
        cancelGeneration(generations(), requestId, limits.generation.cancelWaitMs),
    },
    close: () => client.close(),
  });
  const services: SearchServices = {
    probe: (surface, ask, signal) => probeTargets({ client, health }, surface, ask, signal),
  };
  return { component, desk, webSearch: createWebSearch(desk), services };
}
