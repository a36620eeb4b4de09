// One connection of postgres.js, used until it is lost and never again: what was under way then
// stays in its state (3.4.9), so that the next one hangs, or answers queries with others' rows.
import { connect, type Socket } from 'node:net';
import postgres from 'postgres';
import { AwakeTimer, afterReading, awakeMs, stoodStillMs } from '../../runtime/awake.ts';
import { TransientSet } from '../../runtime/transient.ts';

/** A query of postgres.js, with what its types do not show. It runs when it is awaited. */
export interface Query extends PromiseLike<unknown> {
  /** Called once, to run it. */
  handler: (query: Query) => void;
  reject(error: unknown): void;
  /** What it was made of, in the form of the caller and in those that were made of it. */
  args: unknown;
  parameters: unknown;
  string: unknown;
  signature: unknown;
}

/** A client of postgres.js, for any types. */
export type Client = postgres.Sql<Record<string, unknown>>;
export type ClientOptions = postgres.Options<Record<string, postgres.PostgresType>>;

/** Where postgres.js would connect to. */
interface Target {
  path: string | false;
  host: string[];
  port: number[];
}

export interface ConnectionEvents {
  /** It can be used. */
  onReady(): void;
  /** All that ran on it has its answer. */
  onFree(): void;
  onLost(connection: Connection, error: unknown): void;
}

/** What a server says that may only be read: the one to write to may be another by now. */
const readOnlyState = '25006';

/** The code that postgres.js has for it. */
export function connectionError(code: string): Error {
  return Object.assign(new Error(`no connection to the database: ${code}`), { code });
}

/**
 * For a query that has its answer. Queries of postgres.js that are followed by others live on in V8
 * until it marks the whole heap. Measured were 11 KB of parameters for each batch of the ledger:
 * half of all that became old, and had to be copied and marked for it.
 */
function empty(query: Query): void {
  query.args = null;
  query.parameters = null;
  query.string = null;
  query.signature = null;
}

export class Connection {
  /** Queries without an answer. */
  readonly running = new TransientSet<Query>();
  /** A transaction has it for itself. */
  isWhole = false;
  isReady = false;
  /** It was of use, once. */
  hasBegun = false;
  readonly bornAtMs = performance.now();
  /** When it answered last. */
  heardAtMs = this.bornAtMs;
  #isLost = false;
  #socket: Socket | null = null;
  readonly #client: Client;
  readonly #handler: Query['handler'];
  readonly #events: ConnectionEvents;
  readonly #silence: NodeJS.Timeout | null;
  readonly #connecting: AwakeTimer;
  /** How long this thread had stood still when the silence began. */
  #stoodMs = stoodStillMs();

  /** Connects. A server that leaves queries unanswered for `silentMs` is lost; 0: never. */
  constructor(
    options: ClientOptions,
    limits: { connectTimeoutMs: number; silentMs: number },
    events: ConnectionEvents,
  ) {
    const { connectTimeoutMs, silentMs } = limits;
    this.#events = events;
    // Timers may be early by a part of a millisecond, and what was idle is lost after all of it.
    const hearNothing = () => this.#hearNothing();
    this.#silence = silentMs === 0 ? null : setTimeout(hearNothing, silentMs + 1).unref();
    const isLate = () => this.lose(connectionError('CONNECT_TIMEOUT'));
    this.#connecting = new AwakeTimer(connectTimeoutMs, isLate);
    const client = postgres({
      ...options,
      max: 1,
      max_lifetime: null,
      // Ours is the one that counts.
      connect_timeout: 0,
      onclose: () => this.lose(connectionError('CONNECTION_CLOSED')),
      // Documented, but not in its types.
      ...{ socket: (target: Target) => this.#dial(target) },
    });
    this.#client = client;
    const probe = client.unsafe('SELECT 1');
    this.#handler = (probe as unknown as Query).handler;
    probe.then(
      () => this.#begin(),
      (error: unknown) => this.lose(error),
    );
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Runs it behind those that are under way. */
  run(query: Query): void {
    if (this.#isLost) {
      query.reject(connectionError('CONNECTION_CLOSED'));
      return;
    }
    if (this.running.size === 0) this.#listen();
    this.running.add(query);
    query.then(
      () => this.#hear(query),
      (error: { code?: unknown } | null) => {
        this.#hear(query);
        if (error?.code === readOnlyState) this.lose(error);
      },
    );
    this.#handler(query);
  }

  /** Fails what is under way: whether it was done is not known. */
  lose(error: unknown): void {
    if (this.#isLost) return;
    this.#forget();
    this.#socket?.destroy();
    for (const query of this.running) query.reject(error);
    this.#events.onLost(this, error);
  }

  /** Ends it, once what is under way has its answer or the time is over. */
  async end(timeoutMs: number): Promise<void> {
    if (!this.isReady) {
      this.lose(connectionError('CONNECTION_ENDED'));
      return;
    }
    this.isReady = false;
    await this.#client.end({ timeout: timeoutMs / 1_000 });
    this.lose(connectionError('CONNECTION_ENDED'));
  }

  #begin(): void {
    if (this.#isLost) return;
    this.#connecting.cancel();
    this.isReady = true;
    this.hasBegun = true;
    this.heardAtMs = performance.now();
    this.#events.onReady();
  }

  #hear(query: Query): void {
    this.running.delete(query);
    empty(query);
    if (this.#isLost) return;
    this.heardAtMs = performance.now();
    this.#listen();
    if (this.running.size === 0) this.#events.onFree();
  }

  /** From now on it is silent. */
  #listen(): void {
    this.#stoodMs = stoodStillMs();
    this.#silence?.refresh();
  }

  #hearNothing(): void {
    awakeMs();
    if (stoodStillMs() > this.#stoodMs) {
      // The server may have stood still as well.
      this.#listen();
      return;
    }
    const { heardAtMs } = this;
    const stillNothing = () => {
      if (this.running.size === 0 || this.heardAtMs !== heardAtMs) return;
      this.lose(connectionError('CONNECTION_CLOSED'));
    };
    afterReading(stillNothing);
  }

  #forget(): void {
    this.#isLost = true;
    this.isReady = false;
    this.#connecting.cancel();
    if (this.#silence !== null) clearTimeout(this.#silence);
  }

  /** Asked for a second one, it has lost the first: whatever it wants to repeat is over. */
  #dial({ path, host, port }: Target): Promise<Socket> {
    if (this.#socket !== null || this.#isLost) {
      this.lose(connectionError('CONNECTION_CLOSED'));
      return new Promise(() => undefined);
    }
    const [name = 'localhost'] = host;
    const socket = path ? connect(path) : connect(port[0] ?? 5_432, name);
    this.#socket = socket;
    // Before postgres.js hears of it, so that nothing is run on it any more.
    socket.on('error', (error) => this.lose(error));
    socket.on('close', () => this.lose(connectionError('CONNECTION_CLOSED')));
    // The name is what a certificate is for.
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(Object.assign(socket, { host: name, port: port[0] })));
    });
  }
}
