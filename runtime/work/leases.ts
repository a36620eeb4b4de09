// Keeps the leases of what a shard works on, all of them in one statement, and notes progress with
// it. Work that is another's by now, or over, is told so.
import type { Logger } from '../log.ts';
import { repeat } from './repeat.ts';

/** What somebody works on under an epoch. */
export interface LeasedWork {
  readonly id: string;
  readonly epoch: number;
  /** From 0 to 99. */
  readonly progress: number;
  /** Somebody else has it, or it is over. */
  lost(): void;
}

/** The rows behind it. */
export interface LeaseRows {
  /** Returns the ids of those that are still held. */
  renew(work: readonly LeasedWork[]): Promise<ReadonlySet<string>>;
  /** Others may take them at once. */
  leave(work: readonly LeasedWork[]): Promise<void>;
}

export interface Leases {
  keep(work: LeasedWork): void;
  /** `leave`: others may take it at once. */
  drop(work: LeasedWork, leave: boolean): void;
  close(): Promise<void>;
}

export interface LeasesOptions {
  /** For the log. */
  what: string;
  renewMs: number;
  rows: LeaseRows;
  log: Pick<Logger, 'warn'>;
}

export function createLeases({ what, renewMs, rows, log }: LeasesOptions): Leases {
  const kept = new Set<LeasedWork>();
  let leaving: LeasedWork[] = [];
  const leave = async () => {
    const left = leaving;
    leaving = [];
    // They lapse by themselves where this fails.
    if (left.length > 0) await rows.leave(left).catch(() => undefined);
  };
  const renew = async () => {
    const all = [...kept];
    if (all.length === 0) return;
    const held = await rows.renew(all);
    for (const work of all) {
      if (held.has(work.id) || !kept.delete(work)) continue;
      work.lost();
    }
  };
  const end = repeat(what, renewMs, renew, log);
  return {
    keep: (work) => kept.add(work),
    drop(work, leaves) {
      if (!kept.delete(work) || !leaves) return;
      leaving.push(work);
      if (leaving.length === 1) queueMicrotask(() => void leave());
    },
    async close() {
      end();
      leaving.push(...kept);
      kept.clear();
      await leave();
    },
  };
}
