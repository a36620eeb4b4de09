// What the main thread asks each shard: a report for the live view, its metrics, and what it lost.
import type { KindStatus } from '../../runtime/actor/contract.ts';
import type { RouteRecord } from '../provider-health/health.ts';

export interface NodeReport {
  node: number;
  actors: number;
  sockets: number;
  kinds: KindStatus[];
  /** How the provider routes did lately, as this shard saw it. */
  routes: RouteRecord[];
}

export type NodeProtocol = {
  report: (payload: null) => NodeReport;
  /** The shard's metric registry as JSON (prom-client's own form). */
  metrics: (payload: null) => unknown;
  /** Those of these generations and voice sessions that do not run here (any more). */
  lost: (ownerIds: string[]) => string[];
};
