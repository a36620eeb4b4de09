// Exports and erasings as the main thread has them: their queue, their desk, and the rounds that
// are due. The rows are the truth: the queue only sees to it that somebody works on them.
import { randomBytes } from 'node:crypto';
import { freeExports } from '../../db/accounts/exports.ts';
import { errorFields, type Sql } from '../../db/driver/sql.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { DatabaseTarget } from '../../runtime/database-target.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import { createJobQueue } from '../../runtime/work/job-queue.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import type { MailServices } from '../mail/services.ts';
import type { PersonalDataDesk } from './desk.ts';
import { eraseAccount } from './erasing.ts';
import { makeExport } from './exporting.ts';
import type { PersonalDataLimits } from './limits.ts';
import { createPersonalDataMetrics, type PersonalDataMetrics } from './metrics.ts';
import { sweepErasures, sweepExports, sweepOldExports } from './rounds.ts';

interface WorkingOptions {
  sql: Sql;
  database: DatabaseTarget;
  blobs: BlobStore;
  limits: PersonalDataLimits;
  /** The main thread's. */
  mail: MailServices;
  registry: MetricsRegistry;
  log: Logger;
}

export interface PersonalDataWorking {
  desk: PersonalDataDesk;
  schedule(queue: Pick<MaintenanceQueue, 'schedule'>): void;
  start(): void;
  /**
   * At a start: what nobody works on goes on at once. Where nobody else has the database, that is
   * all that was under way.
   */
  takeOver(isAlone: boolean): Promise<void>;
  stop(timeoutMs: number): Promise<void>;
}

export function createPersonalDataWorking(options: WorkingOptions): PersonalDataWorking {
  const { sql, database, blobs, limits, log } = options;
  // The entry of a process that was killed stays for half a minute: another process needs another.
  const process = randomBytes(4).toString('hex');
  const metrics = createPersonalDataMetrics(options.registry);
  const queue = createJobQueue({
    name: 'personal-data',
    database,
    log,
    concurrency: limits.workedMax,
    pendingMax: limits.queuedMax,
    handler: (name, signal) => work(options, metrics, name, signal),
  });
  const desk: PersonalDataDesk = {
    addExport: ({ id, epoch }) => queue.add(`${id}-${epoch}-${process}`),
  };
  const addErasure = (accountId: string) => queue.add(`${accountId}-${process}`);
  return {
    desk,
    schedule(rounds) {
      rounds.schedule('exports', limits.leftMs, () => sweepExports(sql, desk.addExport, limits));
      rounds.schedule('old-exports', limits.dueMs, async () => {
        await sweepOldExports(sql, blobs, limits);
      });
      rounds.schedule('erasures', limits.dueMs, () => sweepErasures(sql, addErasure, limits));
    },
    start: queue.start,
    async takeOver(isAlone) {
      if (isAlone) await freeExports(sql);
      await sweepExports(sql, desk.addExport, limits);
      await sweepErasures(sql, addErasure, limits);
    },
    stop: queue.stop,
  };
}

/** Whatever it throws is the next round's. */
async function work(
  options: WorkingOptions,
  metrics: PersonalDataMetrics,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { log } = options;
  const [id = ''] = name.split('-');
  try {
    if (id.startsWith('exp_')) {
      const outcome = await makeExport(options, id, signal);
      if (outcome !== 'taken') metrics.exported(outcome === 'ready' ? 'ready' : 'broken');
      return;
    }
    const outcome = await eraseAccount({ ...options, node: 0 }, id, signal);
    if (outcome !== 'erased') return;
    metrics.erased();
    log.info({ account: id }, 'an account is erased');
  } catch (error) {
    if (signal.aborted) return;
    log.warn({ ...errorFields(error), entry: name }, 'an export or an erasing waits for a round');
  }
}
