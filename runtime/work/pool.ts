// Threads for CPU-heavy work without state (Piscina), started when the first task comes.
// A task that is late is ended with its thread, so a task must not hold anything that outlives it.
import type { Piscina } from 'piscina';
import { AwakeTimer } from '../awake.ts';
import type { Logger } from '../log.ts';

/** `overloaded`: not begun. `timeout`, `aborted`: ended. `failed`: it threw, the log says what. */
export type TaskRefusal = 'overloaded' | 'timeout' | 'aborted' | 'failed';
export type TaskAnswer<T> = { ok: true; value: T } | { ok: false; refused: TaskRefusal };

export interface TaskOptions {
  /** From now, with the wait for a thread; absent: the default of the pool. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** It may have the room that is kept for tasks that money is held for. */
  isSettling?: boolean;
  /** Buffers that move to the thread instead of being copied. */
  transfer?: ArrayBuffer[];
}

export interface Pool {
  /**
   * Runs the default export of the compiled module `file` with `input`. Never rejects. The caller
   * names the file and vouches for the type of its answer.
   */
  run<T>(file: URL, input: unknown, options?: TaskOptions): Promise<TaskAnswer<T>>;
  /** Waiting and running tasks, for metrics. */
  readonly length: number;
  /** Ends what runs and refuses what comes. */
  stop(): Promise<void>;
}

export interface PoolOptions {
  threadsMax: number;
  queueLengthMax: number;
  /** Of the queue, kept for tasks that money is held for. Default 0. */
  reservedLength?: number;
  /** Threads without work end after this long. */
  idleMs: number;
  /** Of one task, unless it says otherwise. */
  timeoutMs: number;
  log: Logger;
  /** The `workerData` of each thread, cloned: shared memory for tasks that work in it. */
  threadData?: unknown;
}

/** A task that needs more than this has a bug; its thread ends, nobody else notices. */
const HEAP_MEBIBYTES_MAX = 512;

/**
 * Loads what every pool of this thread needs, once it serves. Left to the first task, that may be
 * when files are short, and Node never reads a module again that it could not read once.
 */
export async function loadThreads(): Promise<void> {
  await import('piscina');
}

async function openThreads(options: PoolOptions, onEmpty: () => void): Promise<Piscina> {
  const { Piscina: Threads } = await import('piscina');
  const threads = new Threads({
    minThreads: 0,
    maxThreads: options.threadsMax,
    maxQueue: options.queueLengthMax,
    idleTimeout: options.idleMs,
    // Synchronous waiting saves microseconds a task but keeps the thread from being idle.
    atomics: 'disabled',
    env: {},
    workerData: options.threadData,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEBIBYTES_MAX },
  });
  // Such as one that the system has no files for; unheard it would end the process.
  threads.on('error', (error: unknown) => {
    options.log.error({ err: error }, 'a thread of a pool failed');
    if (threads.threads.length > 0) return;
    // Nobody is left for what waits: its callers are told now, and not when their time is over.
    onEmpty();
    void threads.destroy();
  });
  return threads;
}

/** A pool without threads yet. */
export function createPool(options: PoolOptions): Pool {
  let opened: Promise<Piscina> | null = null;
  let length = 0;
  let stopped = false;

  const open = () => {
    const own = openThreads(options, () => {
      if (opened === own) opened = null;
    });
    return own;
  };

  const attempt = async <T>(file: URL, input: unknown, given: TaskOptions) => {
    // AbortSignal.timeout and .any would cost as much as a short task itself: 80 µs of CPU.
    const ending = new AbortController();
    const giveUp = () => ending.abort();
    let late = false;
    const deadline = new AwakeTimer(given.timeoutMs ?? options.timeoutMs, () => {
      late = true;
      giveUp();
    });
    if (given.signal?.aborted === true) giveUp();
    given.signal?.addEventListener('abort', giveUp, { once: true });
    const refuse = (refused: TaskRefusal): TaskAnswer<T> => ({ ok: false, refused });
    try {
      opened ??= open();
      const threads = await opened;
      const value: T = await threads.run(input, {
        filename: file.href,
        signal: ending.signal,
        transferList: given.transfer ?? [],
      });
      return { ok: true, value } satisfies TaskAnswer<T>;
    } catch (error) {
      if (late) return refuse('timeout');
      if (ending.signal.aborted || stopped) return refuse('aborted');
      const name = file.pathname.split('/').at(-1) ?? '';
      options.log.error({ task: name, err: error }, 'a task failed');
      return refuse('failed');
    } finally {
      deadline.cancel();
      given.signal?.removeEventListener('abort', giveUp);
    }
  };

  return {
    async run<T>(file: URL, input: unknown, given: TaskOptions = {}) {
      // Counted here, because Piscina's own refusal cannot be told from a task's error.
      const kept = given.isSettling === true ? 0 : (options.reservedLength ?? 0);
      const room = options.threadsMax + options.queueLengthMax - kept;
      if (stopped || length >= room) {
        return { ok: false, refused: 'overloaded' } satisfies TaskAnswer<T>;
      }
      length += 1;
      try {
        return await attempt<T>(file, input, given);
      } finally {
        length -= 1;
      }
    },
    get length() {
      return length;
    },
    async stop() {
      stopped = true;
      const threads = await opened?.catch(() => null);
      await threads?.destroy();
    },
  };
}
