// A pool over single connections of postgres.js. A query waits until one is free or new; only where
// no more may be opened it stands behind another. While the database is away it is told so soon.
import { AwakeTimer } from '../../runtime/awake.ts';
import { type ClientOptions, Connection, connectionError, type Query } from './connection.ts';

export interface PoolLimits {
  connectionsMax: number;
  connectTimeoutMs: number;
  /** A server that answers nothing for this long is lost; 0: never. */
  silentMs: number;
  /** From a connection that failed to the next try. */
  retryMs: number;
  /** How long a query waits for a connection after one has failed. */
  awayMs: number;
  /** An older connection is replaced when it is idle: its server process grows with time. */
  lifetimeMs: number;
}

/** What a server says that is full. It counts those that it is about to refuse. */
const tooManyConnections = '53300';

/** Whoever needs a connection. */
interface Waiting {
  start(connection: Connection): void;
  reject(error: unknown): void;
}

export class Pool {
  readonly #options: ClientOptions;
  readonly #limits: PoolLimits;
  readonly #connections = new Set<Connection>();
  #waiting: Waiting[] = [];
  #patience: AwakeTimer | null = null;
  #retry: NodeJS.Timeout | null = null;
  /** The last connection that was tried could not be used. */
  #isAway = false;
  /** Why. */
  #reason: unknown = null;
  /** Those who wait have been told to wait for one that is tried alone. */
  #isAlone = false;
  #isEnded = false;
  #onReturned: (() => void) | null = null;

  constructor(options: ClientOptions, limits: PoolLimits) {
    this.#options = options;
    this.#limits = limits;
  }

  run(query: Query): void {
    const connection = this.#pickAtOnce();
    if (connection !== null) connection.run(query);
    else this.#wait({ start: (free) => free.run(query), reject: (error) => query.reject(error) });
  }

  /** One connection alone, until it is given back. */
  takeWhole(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const start = (connection: Connection) => {
        connection.isWhole = true;
        resolve(connection);
      };
      const free = this.#pickAtOnce();
      if (free !== null) start(free);
      else this.#wait({ start, reject });
    });
  }

  giveBack(connection: Connection): void {
    connection.isWhole = false;
    this.#serve();
    if (!this.#hasWhole()) this.#onReturned?.();
  }

  /** Ends what is idle, and what is under way when it has its answer or the time is over. */
  async end(timeoutMs: number): Promise<void> {
    this.#isEnded = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#refuse(connectionError('CONNECTION_ENDED'));
    if (this.#hasWhole()) {
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, timeoutMs);
        this.#onReturned = () => {
          clearTimeout(late);
          resolve();
        };
      });
    }
    await Promise.all([...this.#connections].map((connection) => connection.end(timeoutMs)));
  }

  #hasWhole(): boolean {
    for (const { isWhole } of this.#connections) if (isWhole) return true;
    return false;
  }

  #wait(waiting: Waiting): void {
    if (this.#isEnded) {
      waiting.reject(connectionError('CONNECTION_ENDED'));
      return;
    }
    this.#waiting.push(waiting);
    const { silentMs, awayMs } = this.#limits;
    if (silentMs > 0) {
      this.#patience ??= this.#startPatience(this.#isAway ? awayMs : silentMs);
    }
    this.#openFor(this.#waiting.length);
  }

  /** Hands what is free to who waits, and opens more for who still does. */
  #serve(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#pick();
      if (connection === null) {
        this.#openFor(this.#waiting.length);
        return;
      }
      this.#waiting.shift()?.start(connection);
    }
    this.#patience?.cancel();
    this.#patience = null;
  }

  /** Nobody who waits is overtaken. */
  #pickAtOnce(): Connection | null {
    return this.#isEnded || this.#waiting.length > 0 ? null : this.#pick();
  }

  /** The least busy connection; none while one that is idle may come. */
  #pick(): Connection | null {
    let best: Connection | null = null;
    for (const each of this.#connections) {
      if (!each.isReady || each.isWhole) continue;
      if (best !== null && best.running.size <= each.running.size) continue;
      if (each.running.size === 0) {
        if (performance.now() - each.bornAtMs < this.#limits.lifetimeMs) return each;
        void each.end(0);
      } else best = each;
    }
    return this.#mayOpen() || this.#connecting() > 0 ? null : best;
  }

  #connecting(): number {
    let count = 0;
    for (const { isReady } of this.#connections) if (!isReady) count += 1;
    return count;
  }

  /** While the database is away one is tried at a time, and not at once. */
  #mayOpen(): boolean {
    if (this.#connections.size >= this.#limits.connectionsMax) return false;
    return !this.#isAway || (this.#retry === null && this.#connecting() === 0);
  }

  #openFor(count: number): void {
    for (let opening = this.#connecting(); opening < count && this.#mayOpen(); opening += 1) {
      const events = {
        onReady: () => {
          this.#isAway = false;
          this.#reason = null;
          this.#isAlone = false;
          this.#serve();
        },
        onFree: () => this.#serve(),
        onLost: (lost: Connection, error: unknown) => this.#drop(lost, error),
      };
      this.#connections.add(new Connection(this.#options, this.#limits, events));
    }
  }

  #drop(lost: Connection, error: unknown): void {
    this.#connections.delete(lost);
    if (this.#isEnded) return;
    if (!lost.hasBegun) this.#failed(error);
    // What has said nothing for as long is lost as well: found out one by one it would last.
    const sinceMs = performance.now() - this.#limits.silentMs;
    if (lost.heardAtMs < sinceMs) {
      for (const each of this.#connections) {
        if (each.isReady && each.running.size === 0 && each.heardAtMs < sinceMs) each.lose(error);
      }
    }
    this.#serve();
  }

  #failed(error: unknown): void {
    this.#isAway = true;
    this.#reason = error;
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#serve();
    }, this.#limits.retryMs);
    // Of those that are tried together one may do, and then nobody need be told.
    if (this.#connections.size > 0) return;
    if ((error as { code?: unknown } | null)?.code === tooManyConnections) this.#tryAlone();
    else this.#refuse(error);
  }

  /** Those that were tried together may have been in each other's way: one alone is tried next. */
  #tryAlone(): void {
    if (this.#isAlone || this.#patience === null) return;
    this.#isAlone = true;
    this.#patience.cancel();
    this.#patience = this.#startPatience(this.#limits.awayMs);
  }

  #startPatience(patienceMs: number): AwakeTimer {
    return new AwakeTimer(patienceMs, () => this.#giveUp());
  }

  #giveUp(): void {
    // All were served meanwhile.
    if (this.#patience === null) return;
    if (this.#connecting() > 0) this.#isAway = true;
    // A server that is full has said so: that is what its operator has to know.
    this.#refuse(this.#reason ?? connectionError('CONNECT_TIMEOUT'));
  }

  #refuse(error: unknown): void {
    this.#patience?.cancel();
    this.#patience = null;
    const refused = this.#waiting;
    this.#waiting = [];
    for (const { reject } of refused) reject(error);
  }
}
