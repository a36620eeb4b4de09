// Which provider routes lead elsewhere after a change: what was learnt of them is true no more.
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { CatalogSnapshot } from './snapshot.ts';

/** Every route of the catalog, each once. */
export function routesOf(catalog: CatalogSnapshot): UpstreamTarget[] {
  const targets = catalog.models.flatMap((model) => model.targets);
  return [...new Map(targets.map((target) => [target.routeId, target])).values()];
}

/** The same, and the routes of all surfaces, each once: two surfaces may share them. */
export function everyRouteOf(catalog: CatalogSnapshot): UpstreamTarget[] {
  const searches = catalog.surfaces.flatMap(({ targets }) => targets.map((each) => each.upstream));
  const all = [...routesOf(catalog), ...searches];
  return [...new Map(all.map((target) => [target.routeId, target])).values()];
}

/**
 * The ids of routes whose address, credential or way to be called is another one now. Those that
 * are gone are among them: they may come back with another.
 */
export function movedRoutes(before: CatalogSnapshot, after: CatalogSnapshot): string[] {
  const now = everyRouteOf(after);
  const known = new Map(now.map((target) => [target.routeId, JSON.stringify(target)]));
  return everyRouteOf(before).flatMap((target) => {
    return known.get(target.routeId) === JSON.stringify(target) ? [] : [target.routeId];
  });
}
