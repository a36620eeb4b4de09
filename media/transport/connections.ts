// The connections of one thread for short calls: so many to each origin, kept for a while, the
// newest first; calls beyond them wait in order.
import {
  type CallHandler,
  Connection,
  type Exchange,
  type OriginMemory,
  type TextCall,
} from './connection.ts';

export interface ConnectionsOptions {
  /** To one origin. */
  connectionsMax: number;
  /** An idle connection is closed after this long. */
  idleMs: number;
}

interface Origin extends OriginMemory {
  open: Set<Connection>;
  idle: Connection[];
  waiting: Exchange[];
}

const sweepMs = 1_000;

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #origins = new Map<string, Origin>();
  /** Each carries one call, and no second one. */
  readonly #single = new Set<Connection>();
  #sweeping: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Sends a call as soon as there is a connection for it. */
  dispatch(call: TextCall, handler: CallHandler): void {
    const origin = this.#originOf(call.origin);
    const connection = this.#takeIdle(origin);
    const exchange = { call, handler };
    if (connection !== null) connection.start(exchange);
    else if (origin.open.size < this.#options.connectionsMax) this.#connect(origin, exchange);
    else origin.waiting.push(exchange);
  }

  /**
   * Sends a call on a new connection of its own, which ends with it. No kept connection can have
   * been closed under it. The result gives the connection up.
   */
  dispatchAlone(call: TextCall, handler: CallHandler): () => void {
    const single = new Connection(
      { call, handler },
      0,
      { session: null },
      {
        free: (free) => free.close(),
        closed: (closed) => this.#single.delete(closed),
      },
    );
    this.#single.add(single);
    return () => single.close();
  }

  /** Closes every connection; calls that wait are never sent. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#single) connection.close();
    if (this.#sweeping !== null) clearInterval(this.#sweeping);
    for (const { open, waiting } of this.#origins.values()) {
      waiting.length = 0;
      for (const connection of open) connection.close();
    }
  }

  #originOf(name: string): Origin {
    const known = this.#origins.get(name);
    if (known !== undefined) return known;
    const origin: Origin = { open: new Set(), idle: [], waiting: [], session: null };
    this.#origins.set(name, origin);
    return origin;
  }

  #takeIdle({ idle }: Origin): Connection | null {
    const nowMs = performance.now();
    for (let newest = idle.pop(); newest !== undefined; newest = idle.pop()) {
      if (newest.isUsable(nowMs)) return newest;
      newest.close();
    }
    return null;
  }

  #connect(origin: Origin, exchange: Exchange): void {
    const connection = new Connection(exchange, this.#options.idleMs, origin, {
      free: (free) => this.#serve(origin, free),
      closed: (closed) => this.#remove(origin, closed),
    });
    origin.open.add(connection);
  }

  #serve(origin: Origin, free: Connection): void {
    const next = origin.waiting.shift();
    if (next !== undefined) {
      // Behind what the response before it still has to tell.
      queueMicrotask(() => free.start(next));
      return;
    }
    origin.idle.push(free);
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepMs).unref();
  }

  #remove(origin: Origin, closed: Connection): void {
    origin.open.delete(closed);
    const at = origin.idle.indexOf(closed);
    if (at >= 0) origin.idle.splice(at, 1);
    const next = this.#isClosed ? undefined : origin.waiting.shift();
    if (next !== undefined) this.#connect(origin, next);
  }

  #sweep(): void {
    const nowMs = performance.now();
    let left = 0;
    for (const { idle } of this.#origins.values()) {
      for (const connection of [...idle]) {
        if (connection.isUsable(nowMs)) left += 1;
        else connection.close();
      }
    }
    if (left > 0 || this.#sweeping === null) return;
    clearInterval(this.#sweeping);
    this.#sweeping = null;
  }
}
