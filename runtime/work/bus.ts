// Publish and subscribe by topic over all threads of the process: what one publishes, all hear.
// A frame on a link is never refused or overtaken, so a thread that lags still hears it first.
import type { ActorLog, Answer } from '../actor/contract.ts';
import { DeadlineWheel, PendingAsk, type ReplyTo } from '../actor/deadline.ts';
import { awakeMs } from '../awake.ts';
import type { Mesh } from '../shard/mesh.ts';

/** The name of the bus on the links; no actor kind has such a name. */
const service = '$bus';
const acknowledgeTimeoutMs = 2_000;

export type BusListener = (payload: unknown) => void | Promise<void>;

export interface Bus {
  /**
   * Resolves once the subscribers on this and on every live node have run. Never rejects: a node
   * that does not acknowledge in time is logged; it will still hear it before any later message.
   */
  publish(topic: string, payload: unknown): Promise<void>;
  /** Hears every publication of the topic; returns the end of the subscription. */
  subscribe(topic: string, listener: BusListener): () => void;
}

/** Builds a node's bus; without a mesh it serves one thread alone. */
export function createBus(options: {
  mesh: Mesh | null;
  log: ActorLog;
  acknowledgeTimeoutMs?: number;
}): Bus {
  return new ThreadBus(
    options.mesh,
    options.log,
    options.acknowledgeTimeoutMs ?? acknowledgeTimeoutMs,
  );
}

class ThreadBus implements Bus {
  readonly #mesh: Mesh | null;
  readonly #log: ActorLog;
  readonly #timeoutMs: number;
  readonly #wheel = new DeadlineWheel(awakeMs);
  readonly #listeners = new Map<string, Set<BusListener>>();

  constructor(mesh: Mesh | null, log: ActorLog, timeoutMs: number) {
    this.#mesh = mesh;
    this.#log = log;
    this.#timeoutMs = timeoutMs;
    mesh?.serve(service, (topic, _message, payload, replyTo) => {
      void this.#heard(topic, payload, replyTo);
    });
  }

  async publish(topic: string, payload: unknown): Promise<void> {
    const remote = this.#mesh === null ? [] : this.#publishTo(this.#mesh, topic, payload);
    await Promise.all([this.#run(topic, payload), ...remote]);
  }

  subscribe(topic: string, listener: BusListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) {
        this.#listeners.delete(topic);
      }
    };
  }

  #publishTo(mesh: Mesh, topic: string, payload: unknown): Promise<void>[] {
    const live = new Set([0, ...mesh.liveShards]);
    const acknowledged: Promise<void>[] = [];
    for (const node of mesh.linkedNodes) {
      const ask = new PendingAsk();
      mesh.askService(node, service, topic, 'publish', payload, ask);
      const answer = this.#wheel.wait(ask, this.#timeoutMs);
      // A shard that is starting or ending hears it too, but nobody has to wait for it.
      const done = answer.then((each) => this.#check(node, topic, each));
      if (live.has(node)) acknowledged.push(done);
    }
    return acknowledged;
  }

  #check(node: number, topic: string, answer: Answer<unknown>): void {
    // A node that went down took what it knew with it, and one without a bus knows nothing.
    if (answer.ok || answer.reason !== 'timeout') return;
    this.#log.error({ node, topic }, 'publication was not acknowledged in time');
  }

  async #heard(topic: string, payload: unknown, replyTo: ReplyTo | null): Promise<void> {
    await this.#run(topic, payload);
    replyTo?.settle({ ok: true, value: null });
  }

  async #run(topic: string, payload: unknown): Promise<void> {
    const listeners = this.#listeners.get(topic);
    if (listeners === undefined) return;
    const running: (void | Promise<void>)[] = [];
    for (const listener of [...listeners]) {
      try {
        running.push(listener(payload));
      } catch (error) {
        this.#failed(topic, error);
      }
    }
    for (const result of await Promise.allSettled(running)) {
      if (result.status === 'rejected') this.#failed(topic, result.reason);
    }
  }

  #failed(topic: string, error: unknown): void {
    this.#log.error({ err: error, topic }, 'subscriber failed');
  }
}
