// The shard thread's side of its life: its links, its place in the mesh, and when it has to go.
// Whoever owns the HTTP app closes it before the thread ends: an open one aborts the process.
import { strict as assert } from 'node:assert';
import { parentPort } from 'node:worker_threads';
import type { ActorLog } from '../actor/contract.ts';
import type { FromShard, ShardBirth, ToShard } from './control.ts';
import { Mesh } from './mesh.ts';

const exitGraceMs = 500;

export interface ShardConnection {
  /** 1 and up. */
  readonly node: number;
  /** What `startThreads` was given for the shards, as a structured clone. */
  readonly data: unknown;
  /** The transport of this shard's actor system, and of its bus. */
  readonly mesh: Mesh;
  /** Says that this shard serves; resolves when placement uses it. */
  ready(): Promise<void>;
  /** Takes this shard out of placement at once; the thread is expected to end soon after. */
  failing(): void;
  /** What to do when the process stops; when it resolves, the links close and the thread ends. */
  onDrain(listener: (deadlineMs: number) => Promise<void>): void;
  /** Closes the links and the control port, so that nothing of ours keeps the thread alive. */
  leave(): void;
}

/**
 * Connects the calling worker thread; to be called once, at its start. Resolves when the thread is
 * given its node: it may have been started ahead, while the one before it was still closing.
 */
export function connectShard(log: ActorLog): Promise<ShardConnection> {
  const port = parentPort;
  assert(port !== null, 'a shard runs in a worker thread');
  return new Promise((resolve) => {
    port.once('message', (birth: ShardBirth) => resolve(new ThreadConnection(port, birth, log)));
  });
}

class ThreadConnection implements ShardConnection {
  readonly node: number;
  readonly data: unknown;
  readonly mesh: Mesh;
  readonly #port: NonNullable<typeof parentPort>;
  readonly #log: ActorLog;
  #drain: ((deadlineMs: number) => Promise<void>) | null = null;
  #draining = false;
  #onLive: (() => void) | null = null;

  constructor(port: NonNullable<typeof parentPort>, birth: ShardBirth, log: ActorLog) {
    this.#port = port;
    this.#log = log;
    this.node = birth.node;
    this.data = birth.data;
    this.mesh = new Mesh(birth.node, log);
    for (const end of birth.links) this.mesh.attach(end);
    this.mesh.setLive(birth.live);
    port.on('message', (message: ToShard) => this.#received(message));
  }

  ready(): Promise<void> {
    this.#say({ type: 'ready' });
    return new Promise((resolve) => {
      this.#onLive = resolve;
    });
  }

  failing(): void {
    this.#say({ type: 'failing' });
  }

  onDrain(listener: (deadlineMs: number) => Promise<void>): void {
    this.#drain = listener;
  }

  leave(): void {
    this.mesh.close();
    this.#port.close();
  }

  #say(message: FromShard): void {
    this.#port.postMessage(message);
  }

  #received(message: ToShard): void {
    switch (message.type) {
      case 'link':
        this.mesh.attach(message.end);
        return;
      case 'down':
        this.mesh.detach(message.node);
        return;
      case 'live':
        this.mesh.setLive(message.shards);
        if (message.shards.includes(this.node)) this.#onLive?.();
        return;
      case 'drain':
        void this.#drainOnce(message.deadlineMs);
    }
  }

  async #drainOnce(deadlineMs: number): Promise<void> {
    if (this.#draining) return;
    this.#draining = true;
    try {
      await this.#drain?.(deadlineMs);
    } catch (error) {
      this.#log.error({ err: error, node: this.node }, 'shard failed to drain');
    }
    this.#say({ type: 'drained' });
    this.leave();
    // Whatever still keeps the loop alive is not ours to wait for.
    setTimeout(() => process.exit(0), exitGraceMs).unref();
  }
}
