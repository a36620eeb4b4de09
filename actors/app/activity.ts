// How often installations and accounts were active, counted in memory and written every ten
// seconds. What is counted stays here until it is written: nothing is lost while a shard ends.
import type { ActivityCount } from '../../db/app/installations.ts';
import type { Logger } from '../../runtime/log.ts';
import type { AppLimits } from './limits.ts';

export interface ActiveSubject extends Pick<ActivityCount, 'accountId' | 'subject'> {
  platform: string | null;
  appVersion: string | null;
  source: string | null;
}

export interface Activity {
  /** False: too much waits to be written. */
  count(subject: ActiveSubject, nowMs: number): boolean;
  /** Writes what is counted. Rejects for nobody: what failed waits for the next time. */
  flush(): Promise<void>;
  /** From here on everything is written at once. */
  drain(): void;
  /** Counts that are not written yet. */
  readonly pending: number;
  close(): void;
}

interface Options {
  write(counts: readonly ActivityCount[]): Promise<unknown>;
  limits: AppLimits['activity'];
  log: Pick<Logger, 'warn'>;
}

type Counts = Map<string, ActivityCount>;

export function createActivity({ write, limits, log }: Options): Activity {
  // Replaced whole by each flush.
  let counts: Counts = new Map();
  let taken: Counts = new Map();
  let writing: Promise<void> | null = null;
  let isDraining = false;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;

  async function writeTaken(): Promise<void> {
    while (taken.size > 0) {
      const batch = [...taken].slice(0, limits.batchMax);
      await write(batch.map(([, count]) => count));
      for (const [key] of batch) taken.delete(key);
    }
  }

  async function flushOnce(): Promise<void> {
    if (taken.size === 0) {
      taken = counts;
      counts = new Map();
    }
    try {
      await writeTaken();
    } catch (error) {
      log.warn({ err: error, counts: taken.size }, 'activity waits to be written');
      for (const [key, count] of counts) add(taken, key, count);
      counts = taken;
      taken = new Map();
    }
  }

  function flush(): Promise<void> {
    writing ??= flushOnce().finally(() => {
      writing = null;
      if (!isDraining || isClosed || counts.size === 0) return;
      retry = setTimeout(() => void flush(), limits.retryMs);
    });
    return writing;
  }

  const flushSome = () => void (counts.size > 0 && flush());
  const timer = setInterval(flushSome, limits.flushMs);

  return {
    count(subject, nowMs) {
      const day = new Date(nowMs).toISOString().slice(0, 10);
      const key = `${day} ${subject.subject}`;
      const isFull = counts.size + taken.size >= limits.pendingMax;
      if (isFull && !counts.has(key)) return false;
      add(counts, key, { ...subject, day, count: 1, firstAtMs: nowMs, lastAtMs: nowMs });
      if (isDraining) void flush();
      return true;
    },
    flush,
    drain() {
      isDraining = true;
      flushSome();
    },
    get pending() {
      return counts.size + taken.size;
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      clearTimeout(retry);
    },
  };
}

/** Adds a later count to what is known of the same day and subject. */
function add(counts: Counts, key: string, later: ActivityCount): void {
  const known = counts.get(key);
  if (known === undefined) {
    counts.set(key, { ...later });
    return;
  }
  known.count += later.count;
  known.lastAtMs = Math.max(known.lastAtMs, later.lastAtMs);
  known.platform = later.platform ?? known.platform;
  known.appVersion = later.appVersion ?? known.appVersion;
  known.source = later.source ?? known.source;
}
