// The one actor through which administrators change the catalog: one change at a time.
import { strict as assert } from 'node:assert';
import { classifyError } from '../../db/driver/sql.ts';
import type { ActorKind } from '../../runtime/actor/contract.ts';
import type { LiveCatalog } from './live.ts';
import type { CatalogProtocol } from './protocol.ts';

export const catalogId = 'catalog';

export interface CatalogDeps {
  live(): LiveCatalog;
}

export type CatalogActorKind = ActorKind<CatalogProtocol, CatalogDeps>;

/** `deps` is null on shards: they only send to it. */
export function createCatalogKind(deps: CatalogDeps | null): CatalogActorKind {
  return {
    name: 'catalog',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'restart', crashesMax: 10, withinMs: 60_000 },
    mailboxLengthMax: 256,
    start() {
      assert(deps !== null, 'the catalog changes on the main thread');
      return deps;
    },
    behaviour: {
      change: (state, change) => answered(() => state.live().change(change)),
      follow: (state) =>
        answered(async () => {
          await state.live().follow();
          return { status: 'followed' };
        }),
      target: (state, { provider, upstreamModel }) =>
        answered(async () => {
          const found = await state.live().target(provider, upstreamModel);
          return found === null ? { status: 'not_found' } : { status: 'found', found };
        }),
      surface: (state, name) =>
        answered(async () => {
          const surface = await state.live().surface(name);
          return surface === null ? { status: 'not_found' } : { status: 'found', surface };
        }),
    },
  };
}

/** A database that is away is an answer, not a crash. */
async function answered<T>(work: () => Promise<T>): Promise<T | { status: 'unavailable' }> {
  try {
    return await work();
  } catch (error) {
    const failure = classifyError(error);
    if (failure !== 'unavailable' && failure !== 'retry') throw error;
    return { status: 'unavailable' };
  }
}
