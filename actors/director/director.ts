// Sends shards to work, also one that replaces another: none serves before the main thread has the
// database ready, and the start is over when all of them serve.
import { strict as assert } from 'node:assert';
import type { ActorKind } from '../../runtime/actor/contract.ts';
import type { DirectorProtocol, LaunchOrder } from './protocol.ts';

export interface DirectorDeps {
  /** Resolves once; later calls see the catalog of their time. */
  order(): Promise<LaunchOrder>;
  serving(node: number): void;
}

export const directorId = 'director';

/** `deps` is null on shards: they only send to it. */
export function createDirectorKind(
  deps: DirectorDeps | null,
): ActorKind<DirectorProtocol, DirectorDeps> {
  return {
    name: 'director',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'restart', crashesMax: 3, withinMs: 60_000 },
    mailboxLengthMax: 1_024,
    start() {
      assert(deps !== null, 'the director runs on the main thread');
      return deps;
    },
    behaviour: {
      launch: (state) => state.order(),
      serving: (state, { node }) => state.serving(node),
    },
  };
}
