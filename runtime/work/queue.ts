// Repeated maintenance, on BullMQ with its PostgreSQL backend: due once in the whole deployment,
// however many processes share the database. The database keeps the times, the handlers are here.
import type * as BullMq from 'bullmq';
import type { DatabaseTarget } from '../database-target.ts';
import type { Logger } from '../log.ts';
import { pause } from './pause.ts';
import { makePatient, RECONNECT_MS } from './queue-backend.ts';
import { connectionTo, nextTarget } from './queue-connection.ts';

/** One round; `signal`: the process ends. Safe to repeat; what it throws is logged. */
export type MaintenanceHandler = (signal: AbortSignal) => Promise<void>;

export interface MaintenanceQueue {
  /** Names a round and how often it is due. A name can be given once. */
  schedule(name: string, everyMs: number, handler: MaintenanceHandler): void;
  /** Connects in the background and keeps trying; call it once everything else serves. */
  start(): void;
  /** Lets the running round finish within the time, takes no other. */
  stop(timeoutMs: number): Promise<void>;
}

export interface QueueOptions {
  database: DatabaseTarget;
  log: Logger;
  /** Keeps the queues of tests apart. */
  name?: string;
  /** How often it is looked whether a clock was set back; shorter in tests. */
  lookMs?: number;
}

interface Round {
  everyMs: number;
  handler: MaintenanceHandler;
}

/**
 * Loaded late: it costs more than anything else that a start loads. The default export is the whole
 * CommonJS module, for Node as in a bundle, which has no names beside it.
 */
async function loadBullMq(): Promise<typeof BullMq> {
  const { default: loaded } = (await import('bullmq')) as unknown as { default: typeof BullMq };
  return loaded;
}

async function openQueue(name: string, database: DatabaseTarget) {
  const { createPostgresBackend, Queue, Worker } = await loadBullMq();
  const connection = connectionTo(database);
  const openBackend = (...given: Parameters<typeof createPostgresBackend>) =>
    makePatient(createPostgresBackend(...given));
  const queue = new Queue(name, { connection }, openBackend);
  const openWorker = (work: (round: string) => Promise<void>) =>
    new Worker(
      name,
      (job) => work(job.name),
      {
        connection,
        autorun: false,
        concurrency: 1,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS,
        // A round given up for dead too often would never be due again.
        maxStalledCount: 1_000_000,
        runRetryDelay: RECONNECT_MS,
      },
      openBackend,
    );
  return { queue, openWorker };
}

type Opened = Awaited<ReturnType<typeof openQueue>>;

interface Running {
  queue: Opened['queue'];
  worker: ReturnType<Opened['openWorker']>;
}

const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;
const OPEN_MS = 4_000;
const FAILED_KEPT_MAX = 20;
const FORCED_STOP_MS = 1_000;
/** A worker that is gone is noticed after this long, and its round is given to another. */
const LOCK_MS = 5_000;
/** An outage is one line in the log now and then. */
const COMPLAINT_MS = 10_000;
const LOOK_MS = 30_000;
/** By how much the clocks of those who share the queue may differ. */
const CLOCKS_MS = 60_000;

function writeRound(queue: Opened['queue'], name: string, { everyMs }: Round): Promise<unknown> {
  const opts = { removeOnComplete: true, removeOnFail: FAILED_KEPT_MAX };
  return queue.upsertJobScheduler(name, { every: everyMs }, { name, opts });
}

/**
 * Makes rounds due now that are due later than in one period: a clock was set back since. They
 * would stand still until it is that time again, and a start alone would not change that.
 */
async function hastenFarOff(queue: Opened['queue'], rounds: Map<string, Round>): Promise<void> {
  for (const { key, next = 0 } of await queue.getJobSchedulers()) {
    const round = rounds.get(key);
    if (round === undefined || next - Date.now() <= round.everyMs + CLOCKS_MS) continue;
    await queue.removeJobScheduler(key);
    await writeRound(queue, key, round);
  }
}

/** Makes the times in the database those of this version: names that are gone are removed. */
async function writeSchedule(queue: Opened['queue'], rounds: Map<string, Round>): Promise<void> {
  for (const known of await queue.getJobSchedulers()) {
    if (!rounds.has(known.key)) await queue.removeJobScheduler(known.key);
  }
  await hastenFarOff(queue, rounds);
  for (const [name, round] of rounds) await writeRound(queue, name, round);
}

interface Closable {
  close(force?: boolean): Promise<unknown>;
}

/** Closing may wait for a database that is away; what is late is left behind. */
async function closeAll(parts: Closable[]): Promise<void> {
  const closed = Promise.allSettled(parts.map((part) => part.close(true)));
  await Promise.race([closed, pause(FORCED_STOP_MS)]);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = pause(ms).then(() => {
    throw new Error(`the database did not answer the queue within ${ms} ms`);
  });
  return Promise.race([work, late]);
}

/** Opens everything and begins to work; closes what it opened when something fails. */
async function openRunning(
  { name = 'maintenance', database, log }: QueueOptions,
  rounds: Map<string, Round>,
  signal: AbortSignal,
  complain: (error: Error) => void,
): Promise<Running> {
  const { queue, openWorker } = await openQueue(name, database);
  queue.on('error', complain);
  let worker: Running['worker'] | null = null;
  try {
    await within(OPEN_MS, writeSchedule(queue, rounds));
    worker = openWorker(async (round) => rounds.get(round)?.handler(signal));
    worker.on('error', complain);
    worker.on('failed', (job, error) =>
      log.error({ round: job?.name, err: error }, 'a maintenance round failed'),
    );
    // A connection that fails first fails for ever: then all of it is opened anew.
    await within(OPEN_MS, worker.waitUntilReady());
  } catch (error) {
    await closeAll(worker === null ? [queue] : [worker, queue]);
    throw error;
  }
  worker.run().catch(complain);
  return { queue, worker };
}

/** A queue that does nothing until it is started. */
export function createQueue(options: QueueOptions): MaintenanceQueue {
  const { log } = options;
  const rounds = new Map<string, Round>();
  const ending = new AbortController();
  const cutting = new AbortController();
  let running: Running | null = null;
  let starting: Promise<void> | null = null;
  let looking: NodeJS.Timeout | undefined;

  let complainedAt = Number.NEGATIVE_INFINITY;
  const complain = (error: Error) => {
    const now = performance.now();
    if (ending.signal.aborted || now - complainedAt < COMPLAINT_MS) return;
    complainedAt = now;
    log.warn({ err: error }, 'the maintenance queue has trouble');
  };

  const keepOpening = async (): Promise<void> => {
    let { database } = options;
    for (let pauseMs = RETRY_MS_MIN; !ending.signal.aborted; pauseMs *= 2) {
      try {
        const given = { ...options, database };
        running = await openRunning(given, rounds, cutting.signal, complain);
        const { queue } = running;
        const look = () => void hastenFarOff(queue, rounds).catch(complain);
        looking = setInterval(look, options.lookMs ?? LOOK_MS).unref();
        return;
      } catch (error) {
        database = nextTarget(options.database, error as Error);
        if (database === options.database) complain(error as Error);
        await pause(Math.min(pauseMs, RETRY_MS_MAX), ending.signal);
      }
    }
  };

  return {
    schedule(name, everyMs, handler) {
      if (rounds.has(name) || starting !== null) {
        throw new Error(`maintenance '${name}' is named twice or after the start`);
      }
      rounds.set(name, { everyMs, handler });
    },
    start() {
      starting ??= keepOpening();
    },
    async stop(timeoutMs) {
      ending.abort();
      await starting;
      clearInterval(looking);
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
