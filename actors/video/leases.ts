// Keeps the leases of the jobs that this shard works on, all of them in one statement, and notes
// their progress with it. One that is not ours any more is told so.
import type { Sql } from '../../db/driver/sql.ts';
import { leaveVideoJobs, renewVideoJobs } from '../../db/video-jobs/moves.ts';
import type { Logger } from '../../runtime/log.ts';
import { repeat } from '../../runtime/work/repeat.ts';

export interface LeasedJob {
  readonly id: string;
  readonly epoch: number;
  /** From 0 to 99. */
  progress: number;
  /** Somebody else has it, or it is over. */
  lost(): void;
}

export interface Leases {
  keep(job: LeasedJob): void;
  /** `leave`: others may take it at once. */
  drop(job: LeasedJob, leave: boolean): void;
  readonly size: number;
  close(): Promise<void>;
}

export function createLeases(
  sql: Sql,
  { leaseMs, renewMs }: { leaseMs: number; renewMs: number },
  log: Pick<Logger, 'warn'>,
): Leases {
  const kept = new Set<LeasedJob>();
  let leaving: LeasedJob[] = [];
  const leave = async () => {
    const left = leaving;
    leaving = [];
    // They lapse by themselves where this fails.
    if (left.length > 0) await leaveVideoJobs(sql, left).catch(() => undefined);
  };
  const renew = async () => {
    const jobs = [...kept];
    if (jobs.length === 0) return;
    const held = await renewVideoJobs(sql, jobs, leaseMs);
    for (const job of jobs) {
      if (held.has(job.id) || !kept.delete(job)) continue;
      job.lost();
    }
  };
  const end = repeat('video leases', renewMs, renew, log);
  return {
    keep: (job) => kept.add(job),
    drop(job, leaves) {
      if (!kept.delete(job) || !leaves) return;
      leaving.push(job);
      if (leaving.length === 1) queueMicrotask(() => void leave());
    },
    get size() {
      return kept.size;
    },
    async close() {
      end();
      leaving.push(...kept);
      kept.clear();
      await leave();
    },
  };
}
