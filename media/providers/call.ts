// Runs upstream calls of one thread through undici: a pool of connections per origin, deadlines
// from one coarse ticker. Reports leave in microtasks: the events of one socket read arrive
// together, and an error in a listener is not swallowed by undici.
import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { fixedLimits } from '../../runtime/limits.ts';
import { ownTurn } from '../../runtime/turns.ts';
import type { ModelEvent, UpstreamFailure } from '../model/events.ts';
import type {
  ProviderFamily,
  StreamReader,
  UpstreamCall,
  UpstreamDeadlines,
  UpstreamHandle,
  UpstreamListener,
} from './contract.ts';

/** How often deadlines are looked at: they are late by at most this much. */
const tickMs = 50;
/** How long a connection may take to end its body after the terminator, to be used again. */
const drainMs = 1000;
const errorBytesMax = 64 * 1024;
const pieceBytes = 256 * 1024;

export interface UpstreamClientOptions {
  /** Connections to one origin; further calls wait for one, under their connect deadline. */
  connectionsMax: number;
  /** An idle connection is closed after this long; shorter than any server's own limit. */
  keepAliveMs?: number;
}

export interface UpstreamClient {
  /**
   * Starts the call at once; the first report never comes before this has returned. A call that is
   * long to encode is given as a function, which gets a turn of the loop to itself.
   */
  start(
    family: ProviderFamily,
    call: UpstreamCall | (() => UpstreamCall),
    deadlines: UpstreamDeadlines,
    listener: UpstreamListener,
  ): UpstreamHandle;
  /** Calls whose connection slot is still taken or awaited. */
  readonly openCount: number;
  /** Aborts what runs, without a report, and closes every connection. */
  close(): Promise<void>;
}

/** One client per thread. */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  return new Client(options);
}

class Client implements UpstreamClient {
  /** Coarse clock of all calls: the time of the last tick or start. */
  nowMs = performance.now();
  readonly #agent: Agent;
  readonly #runs = new Set<Run>();
  #ticker: NodeJS.Timeout | null = null;

  constructor(options: UpstreamClientOptions) {
    this.#agent = new Agent({
      connections: options.connectionsMax,
      pipelining: 1,
      keepAliveTimeout: options.keepAliveMs ?? 4000,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  get openCount(): number {
    return this.#runs.size;
  }

  start(
    family: ProviderFamily,
    call: UpstreamCall | (() => UpstreamCall),
    deadlines: UpstreamDeadlines,
    listener: UpstreamListener,
  ): UpstreamHandle {
    this.nowMs = performance.now();
    const run = new Run(this, family, deadlines, listener);
    this.#runs.add(run);
    this.#ticker ??= setInterval(() => this.#tick(), tickMs);
    if (typeof call === 'function') void ownTurn().then(() => this.#encodeAndSend(call, run));
    else this.#send(call, run);
    return run;
  }

  #encodeAndSend(encode: () => UpstreamCall, run: Run): void {
    if (run.isOver) {
      this.release(run);
      return;
    }
    try {
      this.#send(encode(), run);
    } catch (error) {
      run.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #send({ url, method, headers, body }: UpstreamCall, run: Run): void {
    const pathStart = url.indexOf('/', url.indexOf('//') + 2);
    const target = { origin: url.slice(0, pathStart), path: url.slice(pathStart), method };
    if (body.length < fixedLimits.body.longBytesMin) {
      this.#agent.dispatch({ ...target, headers, body }, run);
      return;
    }
    const bytes = Buffer.from(body);
    const length = { 'content-length': String(bytes.length) };
    this.#agent.dispatch(
      { ...target, headers: { ...headers, ...length }, body: spent(bytes) },
      run,
    );
  }

  release(run: Run): void {
    this.#runs.delete(run);
    if (this.#runs.size > 0 || this.#ticker === null) return;
    clearInterval(this.#ticker);
    this.#ticker = null;
  }

  async close(): Promise<void> {
    for (const run of this.#runs) run.abort();
    await this.#agent.destroy();
  }

  #tick(): void {
    this.nowMs = performance.now();
    for (const run of this.#runs) run.checkDeadlines(this.nowMs);
  }
}

class Run implements UpstreamHandle, Dispatcher.DispatchHandler {
  readonly #client: Client;
  readonly #family: ProviderFamily;
  readonly #deadlines: UpstreamDeadlines;
  readonly #listener: UpstreamListener;
  readonly #startedMs: number;
  #controller: Dispatcher.DispatchController | null = null;
  #reader: StreamReader | null = null;
  #error: {
    status: number;
    headers: Record<string, string>;
    body: Buffer[];
    bytes: number;
  } | null = null;
  #lastBytesMs: number;
  #paused = false;
  #eventSeen = false;
  /** The outcome is known; a connection may still be reading its last bytes. */
  #over = false;
  #silent = false;
  /** Events and outcome on their way to the listener in a microtask. */
  #events: ModelEvent[] | null = null;
  #outcome: { failure: UpstreamFailure | null } | null = null;
  #flushing = false;

  constructor(
    client: Client,
    family: ProviderFamily,
    deadlines: UpstreamDeadlines,
    listener: UpstreamListener,
  ) {
    this.#client = client;
    this.#family = family;
    this.#deadlines = deadlines;
    this.#listener = listener;
    this.#startedMs = client.nowMs;
    this.#lastBytesMs = client.nowMs;
  }

  get isOver(): boolean {
    return this.#over;
  }

  abort(): void {
    this.#silent = true;
    this.#over = true;
    this.#drop();
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#lastBytesMs = this.#client.nowMs;
    this.#controller?.resume();
  }

  checkDeadlines(nowMs: number): void {
    const { connectMs, firstEventMs, idleMs, totalMs } = this.#deadlines;
    const ageMs = nowMs - this.#startedMs;
    const idleForMs = nowMs - this.#lastBytesMs;
    if (this.#over) {
      if (idleForMs > drainMs) this.#drop();
    } else if (this.#controller === null && ageMs > connectMs) {
      this.#fail(failureOf('timeout', `no connection within ${connectMs} ms`));
    } else if (!this.#eventSeen && ageMs > firstEventMs) {
      this.#fail(failureOf('timeout', `no event within ${firstEventMs} ms`));
    } else if (!this.#paused && this.#eventSeen && idleForMs > idleMs) {
      this.#fail(failureOf('timeout', `silent for ${idleMs} ms`));
    } else if (ageMs > totalMs) {
      this.#fail(failureOf('timeout', `not done within ${totalMs} ms`));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error('given up'));
    else if (this.#paused) controller.pause();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#lastBytesMs = this.#client.nowMs;
    // They are slices of the first read, and would keep all of it for as long as the stream lasts.
    controller.rawHeaders = null;
    if (status < 300) this.#reader = this.#family.createReader();
    else this.#error = { status, headers: singleHeaders(headers), body: [], bytes: 0 };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#lastBytesMs = this.#client.nowMs;
    if (this.#over) return;
    if (this.#reader !== null) {
      this.#take(this.#reader.push(chunk));
      if (!this.#over && this.#reader.finished) this.#end(null);
      return;
    }
    const error = this.#error;
    if (error === null) return;
    error.body.push(Buffer.from(chunk));
    error.bytes += chunk.length;
    if (error.bytes >= errorBytesMax) this.#fail(this.#readError());
  }

  onResponseEnd(): void {
    this.#client.release(this);
    if (this.#over) return;
    if (this.#reader === null) {
      this.#end(this.#readError());
      return;
    }
    this.#take(this.#reader.end());
    if (this.#over) return;
    this.#end(this.#reader.finished ? null : failureOf('cut', 'the body ended early'));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#client.release(this);
    if (this.#over) return;
    if (this.#error !== null) this.#end(this.#readError());
    else if (this.#reader !== null) this.#end(failureOf('cut', error.message));
    else if (codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT')
      this.#end(failureOf('timeout', error.message));
    else this.#end(failureOf('connect', error.message));
  }

  /** Queues events; a failure among them is the outcome, and nothing is read after it. */
  #take(events: ModelEvent[]): void {
    const last = events.at(-1);
    if (last === undefined) return;
    this.#eventSeen = true;
    if (last.type === 'failure') {
      events.pop();
      this.#queue(events);
      this.#fail(last.failure);
      return;
    }
    this.#queue(events);
  }

  #queue(events: ModelEvent[]): void {
    if (events.length === 0) return;
    if (this.#events === null) this.#events = events;
    else for (const event of events) this.#events.push(event);
    this.#flushSoon();
  }

  #fail(failure: UpstreamFailure): void {
    this.#end(failure);
    this.#drop();
  }

  #end(failure: UpstreamFailure | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#outcome = { failure };
    if (this.#paused) this.#controller?.resume();
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#flushing = false;
    const events = this.#events;
    this.#events = null;
    if (events !== null && !this.#silent) this.#listener.events(events);
    const outcome = this.#outcome;
    if (outcome === null) return;
    this.#outcome = null;
    if (!this.#silent) this.#listener.ended(outcome.failure);
  }

  /** Closes the socket. Before there is one, the connection is given up as soon as it is made. */
  #drop(): void {
    if (this.#paused) this.#controller?.resume();
    this.#controller?.abort(new Error('given up'));
  }

  #readError(): UpstreamFailure {
    const error = this.#error;
    if (error === null) return failureOf('connect', 'no response');
    const body = Buffer.concat(error.body).subarray(0, errorBytesMax).toString();
    return this.#family.readFailure(error.status, error.headers, body);
  }
}

/** A long body that is gone once it is sent: undici keeps what it is given to the call's end. */
function spent(bytes: Buffer): Readable {
  let left: Buffer | null = bytes;
  let position = 0;
  return new Readable({
    highWaterMark: pieceBytes,
    read() {
      if (left === null) return;
      const piece = left.subarray(position, position + pieceBytes);
      position += piece.length;
      this.push(piece);
      if (position < left.length) return;
      left = null;
      this.push(null);
    },
  });
}

function failureOf(kind: UpstreamFailure['kind'], detail: string): UpstreamFailure {
  return { kind, status: null, retryAfterMs: null, detail };
}

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined;
}

function singleHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const single: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) single[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return single;
}
