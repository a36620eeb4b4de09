// What shards ask of the catalog, which changes in one place of the process.
import type { CatalogChange, CatalogReply } from './change.ts';
import type { TestTarget } from './live.ts';
import type { CatalogSurface } from './surface.ts';

export type CatalogProtocol = {
  /** Answered when every live shard has the catalog with the change. */
  change: (change: CatalogChange) => CatalogReply | { status: 'unavailable' };
  /** Due again and again where others write the same catalog. */
  follow: () => { status: 'followed' } | { status: 'unavailable' };
  /** How to call a provider for a test. Holds its credential: for the adapter's eyes only. */
  target: (asked: {
    provider: string;
    upstreamModel: string | null;
  }) =>
    | { status: 'found'; found: TestTarget }
    | { status: 'not_found' }
    | { status: 'unavailable' };
  /** A surface as it is called for a test, disabled or not. Holds credentials, too. */
  surface: (
    name: string,
  ) =>
    | { status: 'found'; surface: CatalogSurface }
    | { status: 'not_found' }
    | { status: 'unavailable' };
};
