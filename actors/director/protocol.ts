// How a shard thread gets to work: it asks what to serve, and says when it does.
import type { Board } from '../../db/app/board.ts';
import type { CatalogPublication } from '../catalog/live.ts';

export interface LaunchOrder {
  catalog: CatalogPublication;
  /** What apps are told. */
  board: Board;
  port: number;
  /** Unix milliseconds up to which seals that are bound to no account are taken. */
  unboundSealsUntilMs: number;
}

export type DirectorProtocol = {
  /** Answered when the database is migrated and recovered, and the catalog is known. */
  launch: (payload: null) => LaunchOrder;
  serving: (shard: { node: number }) => void;
};
