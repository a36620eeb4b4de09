// Surfaces of a catalog, asks and desks for tests of searches.

import type { CatalogSurface, SearchTarget } from '../../actors/catalog/surface.ts';
import { createRouteHealth } from '../../actors/provider-health/health.ts';
import { realClock } from '../../actors/search/clock.ts';
import { createSearchDesk, type DeskDeps } from '../../actors/search/desk.ts';
import type { SearchMetrics } from '../../actors/search/metrics.ts';
import { createPlaceKind } from '../../actors/search/place.ts';
import type { SearchAsk, SearchParameters } from '../../media/search/contract.ts';
import { createActorSystem } from '../../runtime/actor/system.ts';

/** A caller that says nothing else asks with these. */
export const plainParameters: SearchParameters = {
  limit: 10,
  page: 1,
  gl: null,
  hl: null,
  location: null,
  safe: 'moderate',
  timeRange: null,
  includeDomains: [],
  excludeDomains: [],
  ll: null,
  flights: null,
  hotels: null,
  routes: null,
};

/** Counts nothing. */
export const noSearchMetrics: SearchMetrics = { attempt: () => {}, found: () => {} };

export function searchTarget(routeId: string, members: Partial<SearchTarget['upstream']> = {}) {
  const upstream = {
    routeId,
    family: 'serper',
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'key-1',
    upstreamModel: 'web_search',
    ...members,
  };
  return { upstream, costMicros: 7n, simulated: true };
}

export function searchSurface(
  targets: readonly SearchTarget[],
  members: Partial<CatalogSurface> = {},
): CatalogSurface {
  return {
    name: 'web_search',
    displayName: 'Web search',
    kind: 'web',
    version: 'v1',
    targets,
    priceMicros: 1_000_000n,
    perSearchCall: null,
    maxAgeSeconds: 300,
    isShared: false,
    requestsPerMinute: null,
    answerModel: null,
    searchSurface: 'web_search',
    canary: null,
    ...members,
  };
}

export function searchAsk(query: string, members: Partial<SearchAsk> = {}): SearchAsk {
  return {
    surface: 'web_search',
    query,
    parameters: plainParameters,
    extra: {},
    ...members,
  };
}

const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** A desk on a system of its own; `stop` ends it. */
export function deskOf(given: Pick<DeskDeps, 'client'> & Partial<DeskDeps>) {
  const deps = {
    health: createRouteHealth(),
    isScoring: () => false,
    metrics: noSearchMetrics,
    log: silent,
    clock: realClock,
    answerer: { answer: async () => null },
    node: () => 1,
    ...given,
  };
  const kind = createPlaceKind(deps);
  const system = createActorSystem({ node: 1, kinds: [kind], log: silent });
  const desk = createSearchDesk({ ...deps, system: () => system, kind });
  return { desk, system, kind, health: deps.health, stop: () => system.stop(0) };
}
