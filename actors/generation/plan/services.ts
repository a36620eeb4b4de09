// What the planning of a generation is given by its shard.
import type { Sql } from '../../../db/driver/sql.ts';
import type { ActorRef } from '../../../runtime/actor/contract.ts';
import type { Logger } from '../../../runtime/log.ts';
import type { Catalog } from '../../catalog/current.ts';
import type { Limits } from '../../limits.ts';
import type { RouteHealth } from '../../provider-health/health.ts';
import type { TasksProtocol } from '../../tasks/protocol.ts';
import type { FundsServices } from '../least-hold.ts';

/** For whom the pool works. */
export interface PoolClient {
  accountId: string;
  /**
   * Asks the wallet before the pool is; what is free of charge asks nobody.
   * @throws Problem insufficient_credits
   */
  requireFunds(): Promise<void>;
}

export interface PlanServices extends FundsServices {
  sql: Sql;
  log: Logger;
  limits: Limits;
  /** How provider routes did lately, as this shard saw it. */
  health: RouteHealth;
  /** The way to the pool for CPU work. */
  tasks(): ActorRef<TasksProtocol>;
  /** The catalog of this moment. */
  catalog(): Catalog;
}
