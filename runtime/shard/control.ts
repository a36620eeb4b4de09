// What the main thread and a shard thread say to each other about the shard itself.
// These messages use the worker's own port, so they never wait behind the traffic of actors.
import type { LinkEnd } from './link.ts';

/** The first message to a shard thread: with it the thread takes its node. */
export interface ShardBirth {
  node: number;
  /** Links to the main thread and to every shard that exists. */
  links: LinkEnd[];
  live: readonly number[];
  /** The application's own part, given to `startThreads`. */
  data: unknown;
}

export type ToShard =
  /** A shard came (back): this is the link to it. */
  | { type: 'link'; end: LinkEnd }
  /** A shard's thread has ended. */
  | { type: 'down'; node: number }
  | { type: 'live'; shards: readonly number[] }
  | { type: 'drain'; deadlineMs: number };

export type FromShard =
  /** It serves; placement may use it. */
  | { type: 'ready' }
  /** It is going to end: placement must leave it at once. */
  | { type: 'failing' }
  /** Its work is done, its thread ends by itself. */
  | { type: 'drained' };
