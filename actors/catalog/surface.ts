// A surface as shards use it: who serves it in which order, what a query costs, how long an answer
// is kept.
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { SurfaceKind, SurfaceName } from '../../media/search/surfaces.ts';

/** Its route id is `provider/surface`: the breaker's key. */
export interface SearchTarget {
  upstream: UpstreamTarget;
  /** What a query costs the operator, in microcredits. */
  costMicros: bigint;
  simulated: boolean;
}

export interface Canary {
  query: string;
  params: Readonly<Record<string, unknown>>;
  expectHost: string;
  everyMinutes: number;
}

export interface CatalogSurface {
  name: string;
  displayName: string;
  /** Null: a name that is none of the fifteen is displayed only. */
  kind: SurfaceKind | null;
  /** A digest of all that its answers depend on: what is kept of another version is not told. */
  version: string;
  /** Enabled ones, in the record's order. Those of `web_answer` are its search surface's. */
  targets: readonly SearchTarget[];
  /** What a query costs, in microcredits; null: it is not offered. */
  priceMicros: bigint | null;
  /** Price of a search for a model, in dollars, as the record says it. */
  perSearchCall: string | null;
  maxAgeSeconds: number;
  /** One cache for all accounts. */
  isShared: boolean;
  requestsPerMinute: number | null;
  /** Writes the cited answer; null: there is none. */
  answerModel: string | null;
  /** `web_answer` answers from the items of this surface; others are served under this name. */
  searchSurface: SurfaceName | null;
  canary: Canary | null;
}

/** A snapshot of the catalog. */
interface WithSurfaces {
  readonly surfaces: readonly CatalogSurface[];
}

/** An enabled surface by its name, displayed ones too. */
export function surfaceOf({ surfaces }: WithSurfaces, name: string): CatalogSurface | null {
  return surfaces.find((surface) => surface.name === name) ?? null;
}

/** Where models without a search of their own look, and voices; null: nowhere. */
export function webSearchOf(snapshot: WithSurfaces): CatalogSurface | null {
  const surface = surfaceOf(snapshot, 'web_search');
  return surface === null || surface.targets.length === 0 ? null : surface;
}
