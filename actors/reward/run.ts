// One process's work on one evidence, under one epoch, and what that needs of its shard. Every
// write names the epoch, so a run that was replaced changes nothing.
import type { House } from '../../db/accounts/house.ts';
import type { Sql } from '../../db/driver/sql.ts';
import type { JudgedSubmission } from '../../db/rewards/moves.ts';
import type { ReadPage, ReadPageInput } from '../../media/tasks/read-page.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Outbound } from '../../runtime/outbound/contract.ts';
import type { LeasedWork, Leases } from '../../runtime/work/leases.ts';
import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import type { GenerationServices } from '../generation/start.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import type { RewardLimits } from './limits.ts';
import type { RewardMetrics } from './metrics.ts';

export interface RewardDeps {
  sql: Sql;
  outbound: Outbound;
  /** Null: the page could not be read now. */
  readPage(page: ReadPageInput, accountId: string): Promise<ReadPage | null>;
  settings(): Pick<CatalogSnapshot, 'billing' | 'rewardTasks'>;
  /** Who pays for what models are asked. */
  house(): Promise<House>;
  generations(): GenerationServices;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  leases: Leases;
  limits: RewardLimits;
  metrics: RewardMetrics;
  log: Logger;
}

export class Run implements LeasedWork {
  readonly deps: RewardDeps;
  /** As it was taken. */
  readonly row: JudgedSubmission;
  readonly progress = 0;
  readonly #stopping = new AbortController();

  constructor(deps: RewardDeps, row: JudgedSubmission) {
    this.deps = deps;
    this.row = row;
  }

  get id(): string {
    return this.row.id;
  }

  get epoch(): number {
    return this.row.epoch;
  }

  /** Another has it, or this process stops. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  stop(): void {
    this.#stopping.abort(new Error('the work on a submission was stopped'));
  }

  lost(): void {
    this.stop();
  }
}
