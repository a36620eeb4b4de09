// Starts the shard threads, wires every node to every other one, and replaces a shard that ends.
// A shard is not terminated while there is another way: with its app open the process would abort.
import { MessageChannel, type ResourceLimits, Worker } from 'node:worker_threads';
import type { ActorLog } from '../actor/contract.ts';
import { judge } from '../actor/supervisor.ts';
import type { FromShard, ShardBirth, ToShard } from './control.ts';
import type { LinkEnd } from './link.ts';
import type { Mesh } from './mesh.ts';

export interface ThreadsOptions {
  /** The main thread's mesh; it already serves an actor system. */
  mesh: Mesh;
  /** The module that each shard thread runs. */
  entry: URL;
  shardCount: number;
  /** Given to each shard as `ShardConnection.data`; must be structured-cloneable. */
  data: unknown;
  resourceLimits?: ResourceLimits;
  /** How long a shard may take until it says that it is ready. */
  readyTimeoutMs: number;
  /** How long a failing shard may take until it ends by itself. */
  failingTimeoutMs: number;
  /** More restarts of one shard than this within the time: `onGivenUp`. */
  restartsMax: number;
  restartsWithinMs: number;
  /** Called when a shard's thread is gone, before another one takes its node. */
  onEnded?(node: number): void;
  /** Called when a shard cannot be kept alive; the process should end and be restarted. */
  onGivenUp(node: number): void;
  log: ActorLog;
}

export type ShardStatus = 'starting' | 'ready' | 'failing' | 'draining' | 'down';

export interface Threads {
  status(): { node: number; status: ShardStatus; restarts: number }[];
  /**
   * Drains every shard; resolves when all threads have ended, by force when one is `graceMs` late:
   * a thread that is terminated with its app open aborts the process.
   */
  stop(deadlineMs: number, graceMs?: number): Promise<void>;
}

interface Shard {
  readonly node: number;
  worker: Worker | null;
  /** Loads its modules while the worker before it closes; it has no node yet. */
  next: Worker | null;
  status: ShardStatus;
  restarts: number;
  readonly endTimes: number[];
  /** Ends a thread that neither gets ready nor goes. */
  watchdog: NodeJS.Timeout | undefined;
}

/** Resolves when every shard is ready; rejects, with all threads ended, when one is not in time. */
export async function startThreads(options: ThreadsOptions): Promise<Threads> {
  const threads = new ShardThreads(options);
  try {
    await threads.started;
  } catch (error) {
    await threads.stop(options.failingTimeoutMs);
    throw error;
  }
  return threads;
}

class ShardThreads implements Threads {
  readonly started: Promise<void>;
  readonly #options: ThreadsOptions;
  readonly #shards: Shard[];
  #settleStart: { resolve(): void; reject(error: Error): void } | null = null;
  #stopping = false;
  #onAllEnded: (() => void) | null = null;

  constructor(options: ThreadsOptions) {
    this.#options = options;
    this.#shards = Array.from({ length: options.shardCount }, (_, i) => ({
      node: i + 1,
      worker: null,
      next: null,
      status: 'down',
      restarts: 0,
      endTimes: [],
      watchdog: undefined,
    }));
    this.started = new Promise((resolve, reject) => {
      this.#settleStart = { resolve, reject };
    });
    for (const shard of this.#shards) this.#start(shard);
  }

  status(): { node: number; status: ShardStatus; restarts: number }[] {
    return this.#shards.map(({ node, status, restarts }) => ({ node, status, restarts }));
  }

  async stop(deadlineMs: number, graceMs = 0): Promise<void> {
    this.#stopping = true;
    let deadline: NodeJS.Timeout | undefined;
    const ended = new Promise<void>((resolve) => {
      this.#onAllEnded = resolve;
      deadline = setTimeout(resolve, deadlineMs + graceMs);
    });
    const unborn = this.#shards.map((shard) => shard.next?.terminate());
    for (const shard of this.#shards) {
      if (shard.worker === null) continue;
      shard.status = 'draining';
      clearTimeout(shard.watchdog);
      say(shard.worker, { type: 'drain', deadlineMs });
    }
    this.#checkAllEnded();
    await ended;
    clearTimeout(deadline);
    const late = this.#shards.map((shard) => this.#terminate(shard, 'did not drain'));
    await Promise.all([...unborn, ...late]);
  }

  #start(shard: Shard): void {
    const { data, readyTimeoutMs } = this.#options;
    const worker = shard.next ?? this.#load(shard);
    shard.next = null;
    shard.worker = worker;
    shard.status = 'starting';
    const links = this.#wire(shard);
    const birth: ShardBirth = { node: shard.node, links, live: this.#liveNodes(), data };
    const ports = links.map((end) => end.port);
    worker.postMessage(birth, ports);
    this.#watch(shard, readyTimeoutMs, 'was not ready in time');
  }

  /** A thread that loads its modules, which takes half a second, and waits for its birth. */
  #load(shard: Shard): Worker {
    const { entry, resourceLimits, log } = this.#options;
    const worker = new Worker(entry, {
      name: `shard ${shard.node}`,
      workerData: { shard: shard.node },
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
    });
    worker.on('message', (message: FromShard) => this.#received(shard, worker, message));
    worker.on('error', (error) => {
      log.error({ err: error, node: shard.node }, 'shard thread failed');
    });
    worker.on('exit', (code) => this.#ended(shard, worker, code));
    return worker;
  }

  /** A channel between the new shard and every other node; returns the new shard's ends. */
  #wire(shard: Shard): LinkEnd[] {
    const mine: LinkEnd[] = [];
    const connect = (node: number, hand: (end: LinkEnd) => void): void => {
      const { port1, port2 } = new MessageChannel();
      const bytesRead = new SharedArrayBuffer(8);
      mine.push({ node, port: port1, bytesRead, side: 0 });
      hand({ node: shard.node, port: port2, bytesRead, side: 1 });
    };
    const { mesh } = this.#options;
    connect(mesh.node, (end) => mesh.attach(end));
    for (const { node, worker } of this.#shards) {
      if (worker === null || node === shard.node) continue;
      connect(node, (end) => say(worker, { type: 'link', end }, [end.port]));
    }
    return mine;
  }

  #received(shard: Shard, worker: Worker, message: FromShard): void {
    if (shard.worker !== worker) return;
    if (this.#stopping) {
      // Its own work is done: what other shards still do moves to those that are left.
      if (message.type === 'failing') this.#leave(shard);
      return;
    }
    if (message.type === 'ready') {
      if (shard.status !== 'starting') return;
      clearTimeout(shard.watchdog);
      shard.status = 'ready';
      this.#announceLive();
    } else if (message.type === 'failing') {
      this.#leave(shard);
      shard.next ??= this.#load(shard);
      this.#watch(shard, this.#options.failingTimeoutMs, 'did not end after it had failed');
    }
  }

  #leave(shard: Shard): void {
    shard.status = 'failing';
    this.#announceLive();
  }

  #liveNodes(): number[] {
    // At the first start ids must not wander from shard to shard, so it waits for all of them.
    if (this.#settleStart !== null) return [];
    const isLive = ({ status }: Shard) => status === 'ready' || status === 'draining';
    return this.#shards.filter(isLive).map((each) => each.node);
  }

  #announceLive(): void {
    const start = this.#settleStart;
    if (start !== null && this.#shards.every((each) => each.status === 'ready')) {
      this.#settleStart = null;
      start.resolve();
    }
    const shards = this.#liveNodes();
    this.#options.mesh.setLive(shards);
    for (const { worker } of this.#shards) {
      if (worker !== null) say(worker, { type: 'live', shards });
    }
  }

  #ended(shard: Shard, worker: Worker, code: number): void {
    if (shard.next === worker) shard.next = null;
    if (shard.worker !== worker) return;
    clearTimeout(shard.watchdog);
    shard.worker = null;
    shard.status = 'down';
    const { mesh, log, restartsMax, restartsWithinMs } = this.#options;
    mesh.detach(shard.node);
    this.#options.onEnded?.(shard.node);
    for (const other of this.#shards) {
      if (other.worker !== null) say(other.worker, { type: 'down', node: shard.node });
    }
    this.#announceLive();
    this.#checkAllEnded();
    if (this.#stopping) return;
    log.error({ node: shard.node, code }, 'shard thread ended');
    if (this.#settleStart !== null) {
      this.#settleStart.reject(new Error(`shard ${shard.node} ended before it was ready`));
      this.#settleStart = null;
      return;
    }
    const intensity = {
      strategy: 'restart',
      crashesMax: restartsMax,
      withinMs: restartsWithinMs,
    } as const;
    if (judge(intensity, shard.endTimes, performance.now(), true) === 'stop') {
      this.#options.onGivenUp(shard.node);
      return;
    }
    shard.restarts += 1;
    this.#start(shard);
  }

  #watch(shard: Shard, timeoutMs: number, complaint: string): void {
    clearTimeout(shard.watchdog);
    shard.watchdog = setTimeout(() => {
      this.#terminate(shard, complaint).catch((error: unknown) => {
        this.#options.log.error({ err: error, node: shard.node }, 'shard thread cannot be ended');
      });
    }, timeoutMs);
  }

  /** The last resort. */
  async #terminate(shard: Shard, complaint: string): Promise<void> {
    if (shard.worker === null) return;
    this.#options.log.error({ node: shard.node }, `shard thread is terminated: it ${complaint}`);
    await shard.worker.terminate();
  }

  #checkAllEnded(): void {
    if (this.#shards.every((each) => each.worker === null)) this.#onAllEnded?.();
  }
}

function say(worker: Worker, message: ToShard, transfer: LinkEnd['port'][] = []): void {
  worker.postMessage(message, transfer);
}
