// Rewards as the main thread has them: their queue, their desk, and the round that finds what was
// left or is due.
import type { Sql } from '../../db/driver/sql.ts';
import { leaveAllRewards, listLeftRewards, setAsideNextReward } from '../../db/rewards/moves.ts';
import type { ActorSystem } from '../../runtime/actor/contract.ts';
import type { DatabaseTarget } from '../../runtime/database-target.ts';
import type { Logger } from '../../runtime/log.ts';
import { createJobQueue } from '../../runtime/work/job-queue.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import { createTurnDesk, type TurnDesk } from '../../runtime/work/turn-desk.ts';
import type { RewardLimits } from './limits.ts';
import { createRewardKind } from './submission.ts';

interface WorkingOptions {
  sql: Sql;
  database: DatabaseTarget;
  system(): ActorSystem;
  limits: RewardLimits;
  log: Logger;
}

export interface RewardsWorking {
  desk: TurnDesk;
  /** The kind of a submission, to which this thread only sends. */
  kind: ReturnType<typeof createRewardKind>;
  schedule(queue: Pick<MaintenanceQueue, 'schedule'>): void;
  start(): void;
  /** Nobody else has the database: what was under way goes on at once. */
  takeOver(): Promise<void>;
  stop(timeoutMs: number): Promise<void>;
}

export function createRewardsWorking(options: WorkingOptions): RewardsWorking {
  const { sql, database, system, limits, log } = options;
  const kind = createRewardKind(null);
  const queue = createJobQueue({
    name: 'reward',
    database,
    log,
    concurrency: limits.runningMax,
    pendingMax: limits.queuedMax,
    handler: (_id, signal) => desk.takeTurn(signal),
  });
  const desk = createTurnDesk({
    addEntry: queue.add,
    next: () => setAsideNextReward(sql, limits.leaseMs),
    async work({ id, epoch }) {
      const answer = await system().ref(kind, id).ask('work', { epoch }, limits.askMs);
      return answer.ok ? answer.value : { status: 'unavailable' };
    },
    limits,
  });
  const addLeft = async () => {
    for (const left of await listLeftRewards(sql, limits.leftMax)) desk.add(left);
  };
  return {
    desk,
    kind,
    schedule: (rounds) => rounds.schedule('rewards', limits.leftMs, addLeft),
    start: queue.start,
    async takeOver() {
      await leaveAllRewards(sql);
      await addLeft();
    },
    stop: queue.stop,
  };
}
