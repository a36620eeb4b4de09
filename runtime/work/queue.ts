// Repeated maintenance, on BullMQ with its PostgreSQL backend: due once in the whole deployment,
// however many processes share the database. The database keeps the times, the handlers are here.
import type { DatabaseTarget } from '../database-target.ts';
import type { Logger } from '../log.ts';
import { makePatient, RECONNECT_MS } from './queue-backend.ts';
import { connectionTo } from './queue-connection.ts';
import { closeAll, createQueueLife, LOCK_MS, loadBullMq, whileOpening } from './queue-life.ts';

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

const FAILED_KEPT_MAX = 20;
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
    await whileOpening(writeSchedule(queue, rounds));
    worker = openWorker(async (round) => rounds.get(round)?.handler(signal));
    worker.on('error', complain);
    worker.on('failed', (job, error) =>
      log.error({ round: job?.name, err: error }, 'a maintenance round failed'),
    );
    // A connection that fails first fails for ever: then all of it is opened anew.
    await whileOpening(worker.waitUntilReady());
  } catch (error) {
    await closeAll(worker === null ? [queue] : [worker, queue]);
    throw error;
  }
  worker.run().catch(complain);
  return { queue, worker };
}

/** A queue that does nothing until it is started. */
export function createQueue(options: QueueOptions): MaintenanceQueue {
  const { database, log } = options;
  const rounds = new Map<string, Round>();
  let looking: NodeJS.Timeout | undefined;
  const life = createQueueLife<Running>({
    what: 'the maintenance queue',
    database,
    log,
    async open(target, cut, complain) {
      const given = { ...options, database: target };
      const running = await openRunning(given, rounds, cut, complain);
      const look = () => void hastenFarOff(running.queue, rounds).catch(complain);
      looking = setInterval(look, options.lookMs ?? LOOK_MS).unref();
      return running;
    },
  });
  return {
    schedule(name, everyMs, handler) {
      if (rounds.has(name) || life.started) {
        throw new Error(`maintenance '${name}' is named twice or after the start`);
      }
      rounds.set(name, { everyMs, handler });
    },
    start: life.start,
    async stop(timeoutMs) {
      const stopped = life.stop(timeoutMs);
      clearInterval(looking);
      await stopped;
      clearInterval(looking);
    },
  };
}
