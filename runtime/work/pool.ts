// Threads for CPU-heavy work without state (Piscina), started when the first task comes. Tenants
// take turns for them, and none has more than half of the queue.
// A task that is late is ended with its thread, so a task must not hold anything that outlives it.
import type { Piscina } from 'piscina';
import { AwakeTimer } from '../awake.ts';
import type { Logger } from '../log.ts';
import { Places } from './places.ts';

/** `overloaded`: not begun. `timeout`, `aborted`: ended. `failed`: it threw, the log says what. */
export type TaskRefusal = 'overloaded' | 'timeout' | 'aborted' | 'failed';
export type TaskAnswer<T> = { ok: true; value: T } | { ok: false; refused: TaskRefusal };

export interface TaskOptions {
  /** From now, with the wait for a thread; absent: the default of the pool. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** For whom: its tasks wait behind each other, and not in front of what others send. */
  tenant?: string;
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
  /** One more is started for a tenant that has nothing running. */
  threadsMax: number;
  /** What waits, in all; half of the pool's room is one tenant's. */
  queueLengthMax: number;
  /** Of the queue, kept for tasks that money is held for. Default 0. */
  reservedLength?: number;
  /** Whoever has no thread by then is refused as if the queue were full. */
  waitMs?: number;
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
    maxThreads: options.threadsMax + 1,
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

/** Ends a task, or its wait, when its time is over or its caller gives it up. */
interface Ending {
  readonly signal: AbortSignal;
  isLate(): boolean;
  cancel(): void;
}

function createEnding({ timeoutMs, signal }: TaskOptions, usualMs: number): Ending {
  // AbortSignal.timeout and .any would cost as much as a short task itself: 80 µs of CPU.
  const ending = new AbortController();
  const giveUp = () => ending.abort();
  let late = false;
  const deadline = new AwakeTimer(timeoutMs ?? usualMs, () => {
    late = true;
    giveUp();
  });
  if (signal?.aborted === true) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: ending.signal,
    isLate: () => late,
    cancel() {
      deadline.cancel();
      signal?.removeEventListener('abort', giveUp);
    },
  };
}

/** Null: the tenant has a place now. Else why it has none. */
async function takePlace(
  places: Places,
  tenant: string,
  ending: Ending,
  waitMs: number | undefined,
): Promise<TaskRefusal | null> {
  const { signal } = ending;
  const wait = waitMs === undefined ? null : createEnding({ signal }, waitMs);
  const hasPlace = await places.enter(tenant, wait?.signal ?? signal);
  wait?.cancel();
  if (hasPlace) return null;
  if (ending.isLate()) return 'timeout';
  return wait?.isLate() === true ? 'overloaded' : 'aborted';
}

/** A pool without threads yet. */
export function createPool(options: PoolOptions): Pool {
  let opened: Promise<Piscina> | null = null;
  let length = 0;
  let stopped = false;
  const places = new Places(options.threadsMax);

  const open = () => {
    const own = openThreads(options, () => {
      if (opened === own) opened = null;
    });
    return own;
  };

  const attempt = async <T>(file: URL, input: unknown, tenant: string, given: TaskOptions) => {
    const ending = createEnding(given, options.timeoutMs);
    const refuse = (refused: TaskRefusal): TaskAnswer<T> => ({ ok: false, refused });
    let hasPlace = false;
    try {
      const refused = await takePlace(places, tenant, ending, options.waitMs);
      if (refused !== null) return refuse(refused);
      hasPlace = true;
      opened ??= open();
      const threads = await opened;
      const value: T = await threads.run(input, {
        filename: file.href,
        signal: ending.signal,
        transferList: given.transfer ?? [],
      });
      return { ok: true, value } satisfies TaskAnswer<T>;
    } catch (error) {
      if (ending.isLate()) return refuse('timeout');
      if (ending.signal.aborted || stopped) return refuse('aborted');
      const name = file.pathname.split('/').at(-1) ?? '';
      options.log.error({ task: name, err: error }, 'a task failed');
      return refuse('failed');
    } finally {
      if (hasPlace) places.leave(tenant);
      ending.cancel();
    }
  };

  return {
    async run<T>(file: URL, input: unknown, given: TaskOptions = {}) {
      // Counted here, because Piscina's own refusal cannot be told from a task's error.
      const kept = given.isSettling === true ? 0 : (options.reservedLength ?? 0);
      const room = options.threadsMax + options.queueLengthMax - kept;
      const { tenant = '' } = given;
      // Work of our own is nobody's share.
      const isOver = tenant !== '' && places.countOf(tenant) >= Math.ceil(room / 2);
      if (stopped || length >= room || isOver) {
        return { ok: false, refused: 'overloaded' } satisfies TaskAnswer<T>;
      }
      length += 1;
      try {
        return await attempt<T>(file, input, tenant, given);
      } finally {
        length -= 1;
      }
    },
    get length() {
      return length;
    },
    async stop() {
      stopped = true;
      places.close();
      const threads = await opened?.catch(() => null);
      await threads?.destroy();
    },
  };
}
