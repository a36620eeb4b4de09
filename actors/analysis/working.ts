// Analyses as the main thread has them: their queue, their desk, and the rounds that are due.
import type { Sql } from '../../db/driver/sql.ts';
import { setAsideNext } from '../../db/video-analyses/moves.ts';
import type { ActorSystem } from '../../runtime/actor/contract.ts';
import type { DatabaseTarget } from '../../runtime/database-target.ts';
import type { Logger } from '../../runtime/log.ts';
import { createJobQueue } from '../../runtime/work/job-queue.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import { createVideoAnalysisKind } from './analysis.ts';
import { type AnalysisDesk, createAnalysisDesk } from './desk.ts';
import type { AnalysisLimits } from './limits.ts';
import { sweepAnalyses, sweepOldAnalyses, takeOverAnalyses } from './rounds.ts';

interface WorkingOptions {
  sql: Sql;
  database: DatabaseTarget;
  system(): ActorSystem;
  limits: AnalysisLimits;
  /** How often old ones are looked for. */
  sweepMs: number;
  log: Logger;
}

export interface AnalysesWorking {
  desk: AnalysisDesk;
  /** The kind of an analysis, to which this thread only sends. */
  kind: ReturnType<typeof createVideoAnalysisKind>;
  schedule(queue: Pick<MaintenanceQueue, 'schedule'>): void;
  start(): void;
  /** Nobody else has the database: what was under way goes on at once. */
  takeOver(): Promise<void>;
  stop(timeoutMs: number): Promise<void>;
}

export function createAnalysesWorking(options: WorkingOptions): AnalysesWorking {
  const { sql, database, system, limits, sweepMs, log } = options;
  const kind = createVideoAnalysisKind(null);
  const queue = createJobQueue({
    name: 'analysis',
    database,
    log,
    concurrency: limits.runningMax,
    pendingMax: limits.queuedMax,
    handler: (_id, signal) => desk.takeTurn(signal),
  });
  const desk = createAnalysisDesk({
    addEntry: queue.add,
    next: () => setAsideNext(sql, limits.leaseMs),
    analysis: (id) => system().ref(kind, id),
    limits,
  });
  return {
    desk,
    kind,
    schedule(rounds) {
      rounds.schedule('analyses', limits.leftMs, () => sweepAnalyses(sql, desk.add, limits));
      rounds.schedule('old-analyses', sweepMs, async () => {
        await sweepOldAnalyses(sql, limits);
      });
    },
    start: queue.start,
    takeOver: () => takeOverAnalyses(sql, desk.add, limits),
    stop: queue.stop,
  };
}
