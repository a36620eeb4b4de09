// Jobs on BullMQ: each is worked on by some process until its handler says that it is over. The row
// of a job is its truth; an entry here only sees to it that somebody works on it. An entry is named
// by its job, so it is there once, however often it is added.
import type { DatabaseTarget } from '../database-target.ts';
import type { Logger } from '../log.ts';
import { pause } from './pause.ts';
import { makePatient, RECONNECT_MS } from './queue-backend.ts';
import { connectionTo } from './queue-connection.ts';
import { closeAll, createQueueLife, loadBullMq, type Running, whileOpening } from './queue-life.ts';

export interface JobQueue {
  /** Adds in groups. Never rejects: what is lost is added again by whoever looks at the rows. */
  add(id: string): void;
  start(): void;
  /** Handlers are told at once; what they do not finish is another's after a while. */
  stop(timeoutMs: number): Promise<void>;
}

export interface JobQueueOptions {
  name: string;
  database: DatabaseTarget;
  log: Logger;
  /** Jobs of this process that are worked on at once. */
  concurrency: number;
  /** Entries that wait to be written while the database is away; more are left to the rows. */
  pendingMax: number;
  /** Works on a job until it is over. The signal: the process ends. What it throws is repeated. */
  handler(id: string, signal: AbortSignal): Promise<void>;
}

/** Work that breaks is repeated for ever: the row has the deadline. */
const ATTEMPTS_MAX = 1_000_000;
const BACKOFF_MS = 1_000;
/** A worker that is gone is noticed after this long. */
const LOCK_MS = 15_000;
const GROUP_MAX = 500;
/** Entries that come within this time are one write. */
const GROUP_MS = 2;

async function openQueue(
  { name, concurrency, handler }: JobQueueOptions,
  database: DatabaseTarget,
  signal: AbortSignal,
) {
  const { createPostgresBackend, Queue, Worker } = await loadBullMq();
  const connection = connectionTo(database);
  const openBackend = (...given: Parameters<typeof createPostgresBackend>) =>
    makePatient(createPostgresBackend(...given));
  const queue = new Queue(name, { connection }, openBackend);
  const openWorker = () =>
    new Worker(
      name,
      async (job) => {
        if (typeof job.id === 'string') await handler(job.id, signal);
      },
      {
        connection,
        autorun: false,
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS,
        maxStalledCount: ATTEMPTS_MAX,
        runRetryDelay: RECONNECT_MS,
      },
      openBackend,
    );
  return { queue, openWorker };
}

type Opened = Awaited<ReturnType<typeof openQueue>>;

interface Open extends Running {
  queue: Opened['queue'];
  worker: ReturnType<Opened['openWorker']>;
}

/** A queue that keeps what is added until it is started and open. */
export function createJobQueue(options: JobQueueOptions): JobQueue {
  const { name, database, log, pendingMax } = options;
  const stopping = new AbortController();
  const pending = new Set<string>();
  let writing = false;
  const life = createQueueLife<Open>({
    what: `the queue of ${name}`,
    database,
    log,
    async open(target, _cut, complain) {
      const { queue, openWorker } = await openQueue(options, target, stopping.signal);
      queue.on('error', complain);
      let worker: Open['worker'] | null = null;
      try {
        await whileOpening(queue.waitUntilReady());
        worker = openWorker();
        worker.on('error', complain);
        worker.on('failed', (job, error) => {
          if (stopping.signal.aborted) return;
          log.error({ job: job?.id, err: error }, `work on an entry of ${name} failed`);
        });
        await whileOpening(worker.waitUntilReady());
      } catch (error) {
        await closeAll(worker === null ? [queue] : [worker, queue]);
        throw error;
      }
      worker.run().catch(complain);
      queueMicrotask(() => void write());
      return { queue, worker };
    },
  });

  const write = async (): Promise<void> => {
    if (writing) return;
    writing = true;
    try {
      await pause(GROUP_MS);
      for (let open = life.current(); open !== null && pending.size > 0; open = life.current()) {
        const group = [...pending].slice(0, GROUP_MAX);
        await open.queue.addBulk(group.map(entryOf));
        for (const id of group) pending.delete(id);
      }
    } catch (error) {
      life.complain(error as Error);
      // Whoever looks at the rows adds them again.
      pending.clear();
    } finally {
      writing = false;
    }
  };

  return {
    add(id) {
      if (pending.size >= pendingMax) return;
      pending.add(id);
      if (life.current() !== null) void write();
    },
    start: life.start,
    async stop(timeoutMs) {
      stopping.abort();
      await life.stop(timeoutMs);
    },
  };
}

function entryOf(id: string) {
  return {
    name: 'work',
    data: {},
    opts: {
      jobId: id,
      attempts: ATTEMPTS_MAX,
      backoff: { type: 'fixed', delay: BACKOFF_MS },
      removeOnComplete: true,
      removeOnFail: true,
    },
  };
}
