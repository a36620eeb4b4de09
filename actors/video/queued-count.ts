// How many jobs of all accounts wait for their submission, as of a moment ago.
import type { Sql } from '../../db/driver/sql.ts';
import { countQueuedVideoJobs } from '../../db/video-jobs.ts';
import type { Logger } from '../../runtime/log.ts';
import { repeat } from '../../runtime/work/repeat.ts';

export interface QueuedCount {
  isFull(): boolean;
  /** One more, until it is counted anew. */
  added(): void;
  close(): void;
}

export function createQueuedCount(
  sql: Sql,
  { queuedMax, queuedFreshMs }: { queuedMax: number; queuedFreshMs: number },
  log: Pick<Logger, 'warn'>,
): QueuedCount {
  let counted = 0;
  let added = 0;
  const count = async () => {
    // An idle shard asks nothing.
    if (counted === 0 && added === 0) return;
    added = 0;
    counted = await countQueuedVideoJobs(sql, queuedMax);
  };
  const close = repeat('count of queued video jobs', queuedFreshMs, count, log);
  return {
    isFull: () => counted + added >= queuedMax,
    added: () => {
      added += 1;
    },
    close,
  };
}
