// The lease by which other processes on the database know that this one lives, and whether it may
// judge theirs: after an outage of the database all have passed, also those of the living.
import type { Sql } from '../../db/driver/sql.ts';
import { registerInstance, renewLease } from '../../db/instances.ts';
import type { Logger } from '../../runtime/log.ts';

export interface LeaseOptions {
  sql: Sql;
  instanceId: string;
  leaseMs: number;
  /** Milliseconds that only go forward. */
  clock: () => number;
  log: Pick<Logger, 'warn'>;
}

export interface Lease {
  /** Announces this process. */
  register(): Promise<void>;
  /** To be called more often than the lease lasts. One that was given up is announced anew. */
  renew(): Promise<void>;
  /** Whether it was held so long without a gap that whoever lives has renewed its own as well. */
  isSettled(): boolean;
}

export function createLease({ sql, instanceId, leaseMs, clock, log }: LeaseOptions): Lease {
  let heldSinceMs = Number.POSITIVE_INFINITY;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  const held = () => {
    const nowMs = clock();
    if (nowMs - renewedAtMs > leaseMs) heldSinceMs = nowMs;
    renewedAtMs = nowMs;
  };
  const register = async () => {
    await registerInstance(sql, instanceId, leaseMs);
    held();
  };
  return {
    register,
    async renew() {
      if (await renewLease(sql, instanceId, leaseMs)) return held();
      log.warn({}, 'other processes took this one for dead');
      await register();
    },
    isSettled: () => clock() - renewedAtMs <= leaseMs && clock() - heldSinceMs > leaseMs,
  };
}
