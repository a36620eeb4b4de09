// The process's view of itself, kept on the main thread: shards, the actor tree, provider routes.
import type { KindStatus } from '../../runtime/actor/contract.ts';
import type { DownRoute } from '../provider-health/down.ts';
import type { UnpaidRoute } from '../provider-health/unpaid.ts';

export interface ShardStatus {
  id: number;
  status: 'ok' | 'starting' | 'unresponsive';
  actors: number;
  sockets: number;
}

export interface ModelStatus {
  alias: string;
  status: 'operational' | 'degraded' | 'unavailable' | 'unknown';
  routes_total: number;
  routes_operational: number;
  reason: string;
}

/** What `GET /api/public/model-status` publishes. */
export interface StatusSnapshot {
  generated_at: string;
  next_refresh_at: string;
  models: ModelStatus[];
}

/** What is known of one provider route. */
export interface ProbedRoute {
  routeId: string;
  isWell: boolean;
  /** Address and credential that were probed, as a digest: with others it counts as unknown. */
  identity: string;
  /** When the round began, in milliseconds since 1970. */
  roundMs: number;
}

/** A route whose provider refuses the credential. */
export interface RefusedRoute {
  routeId: string;
  /** Epoch milliseconds. */
  sinceMs: number;
}

export type MonitorProtocol = {
  shards: (payload: null) => ShardStatus[];
  tree: (payload: null) => {
    shards: ShardStatus[];
    kinds: KindStatus[];
    /** Routes that rest since nobody has paid their provider. */
    unpaid: UnpaidRoute[];
    /** Routes that rest until their record changes or a probe succeeds. */
    down: RefusedRoute[];
  };
  /** Null before the first snapshot. */
  modelStatus: (payload: null) => StatusSnapshot | null;
  /** Timer. */
  poll: (payload: null) => void;
  /** A round of probes is due; routes that were probed a moment ago are left out. */
  probe: (payload: null) => void;
  /** A round is over. */
  probed: (routes: ProbedRoute[]) => void;
  /** A shard has found that nobody has paid the provider of a route, or that it was paid. */
  unpaid: (found: UnpaidRoute) => void;
  /** A thread has found that the credential of a route is refused, or a probe that it is good. */
  down: (found: DownRoute) => void;
  /** Makes the snapshot of what is known. */
  publish: (payload: null) => void;
  /** The catalog is another one: what left it leaves the snapshot, what is new is probed. */
  catalogChanged: (payload: null) => void;
};
