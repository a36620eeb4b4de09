// Video jobs as the main thread has them: their queue, their desk, and the rounds that are due.
import type { Sql } from '../../db/driver/sql.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { ActorSystem } from '../../runtime/actor/contract.ts';
import type { DatabaseTarget } from '../../runtime/database-target.ts';
import type { Logger } from '../../runtime/log.ts';
import { createJobQueue } from '../../runtime/work/job-queue.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import { createVideoDesk, type VideoDesk } from './desk.ts';
import { createVideoJobKind } from './job.ts';
import type { VideoLimits } from './limits.ts';
import { sweepVideoJobs, sweepVideos, takeOverVideoJobs } from './rounds.ts';

interface WorkingOptions {
  sql: Sql;
  database: DatabaseTarget;
  blobs: BlobStore;
  system(): ActorSystem;
  limits: VideoLimits;
  /** How often old files are looked for. */
  sweepMs: number;
  log: Logger;
}

export interface VideosWorking {
  desk: VideoDesk;
  /** The kind of a job, to which this thread only sends. */
  kind: ReturnType<typeof createVideoJobKind>;
  schedule(rounds: Pick<MaintenanceQueue, 'schedule'>): void;
  start(): void;
  /** Nobody else has the database: what was under way goes on at once. */
  takeOver(): Promise<void>;
  stop(timeoutMs: number): Promise<void>;
}

export function createVideosWorking(options: WorkingOptions): VideosWorking {
  const { sql, database, blobs, system, limits, sweepMs, log } = options;
  const kind = createVideoJobKind(null);
  const queue = createJobQueue({
    name: 'video',
    database,
    log,
    concurrency: limits.workedMax,
    pendingMax: limits.queuedMax,
    handler: (id, signal) => desk.see(id, signal),
  });
  const desk = createVideoDesk({ add: queue.add, job: (id) => system().ref(kind, id), limits });
  return {
    desk,
    kind,
    schedule(rounds) {
      rounds.schedule('video-jobs', limits.leftMs, async () => {
        await sweepVideoJobs(sql, desk.add, limits);
      });
      rounds.schedule('videos', sweepMs, async () => {
        await sweepVideos(sql, blobs, limits);
      });
    },
    start: queue.start,
    takeOver: () => takeOverVideoJobs(sql, desk.add),
    stop: queue.stop,
  };
}
