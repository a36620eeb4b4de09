// How a queue on BullMQ lives with its database. It is opened in the background, again and again
// where that fails, and closed within a time.
import type * as BullMq from 'bullmq';
import type { DatabaseTarget } from '../database-target.ts';
import type { Logger } from '../log.ts';
import { pause } from './pause.ts';
import { nextTarget } from './queue-connection.ts';

/**
 * Loaded late: it costs more than anything else that a start loads. The default export is the whole
 * CommonJS module, for Node as in a bundle, which has no names beside it.
 */
export async function loadBullMq(): Promise<typeof BullMq> {
  const { default: loaded } = (await import('bullmq')) as unknown as { default: typeof BullMq };
  return loaded;
}

const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;
const FORCED_STOP_MS = 1_000;
/** An outage is one line in the log now and then. */
const COMPLAINT_MS = 10_000;
const OPEN_MS = 4_000;
/** A worker that is gone is noticed after this long, and its work is given to another. */
export const LOCK_MS = 5_000;

export interface Closable {
  close(force?: boolean): Promise<unknown>;
}

/** What works while a queue is open. */
export interface Running {
  readonly queue: Closable;
  readonly worker: Closable;
}

/** Closing may wait for a database that is away; what is late is left behind. */
export async function closeAll(parts: Closable[]): Promise<void> {
  const closed = Promise.allSettled(parts.map((part) => part.close(true)));
  await Promise.race([closed, pause(FORCED_STOP_MS)]);
}

/** Rejects where the database takes longer than an opening may. */
export async function whileOpening<T>(work: Promise<T>): Promise<T> {
  const late = pause(OPEN_MS).then(() => {
    throw new Error(`the database did not answer the queue within ${OPEN_MS} ms`);
  });
  return Promise.race([work, late]);
}

interface LifeOptions<R extends Running> {
  /** For the log. */
  what: string;
  database: DatabaseTarget;
  log: Logger;
  /** `cut` aborts what runs at the very end. */
  open(database: DatabaseTarget, cut: AbortSignal, complain: Complain): Promise<R>;
}

export type Complain = (error: Error) => void;

export interface QueueLife<R extends Running> {
  start(): void;
  readonly started: boolean;
  /** Null: it is not open at this moment. */
  current(): R | null;
  complain: Complain;
  /** Lets what runs finish within the time, takes nothing else. */
  stop(timeoutMs: number): Promise<void>;
}

/** A queue that does nothing until it is started. */
export function createQueueLife<R extends Running>(options: LifeOptions<R>): QueueLife<R> {
  const { what, log } = options;
  const ending = new AbortController();
  const cutting = new AbortController();
  let running: R | null = null;
  let starting: Promise<void> | null = null;
  let complainedAt = Number.NEGATIVE_INFINITY;
  const complain = (error: Error) => {
    const now = performance.now();
    if (ending.signal.aborted || now - complainedAt < COMPLAINT_MS) return;
    complainedAt = now;
    log.warn({ err: error }, `${what} has trouble`);
  };
  const keepOpening = async (): Promise<void> => {
    let { database } = options;
    for (let pauseMs = RETRY_MS_MIN; !ending.signal.aborted; pauseMs *= 2) {
      try {
        running = await options.open(database, cutting.signal, complain);
        return;
      } catch (error) {
        database = nextTarget(options.database, error as Error);
        if (database === options.database) complain(error as Error);
        await pause(Math.min(pauseMs, RETRY_MS_MAX), ending.signal);
      }
    }
  };
  return {
    start() {
      starting ??= keepOpening();
    },
    get started() {
      return starting !== null;
    },
    current: () => running,
    complain,
    async stop(timeoutMs) {
      ending.abort();
      await starting;
      if (running === null) return;
      const { queue, worker } = running;
      const closed = worker.close().then(
        () => true,
        () => false,
      );
      const finished = await Promise.race([closed, pause(timeoutMs).then(() => false)]);
      cutting.abort();
      await closeAll(finished ? [queue] : [worker, queue]);
    },
  };
}
