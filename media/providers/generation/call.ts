// Runs the calls of text models of one thread: streams of bytes become neutral events. Reports
// leave in microtasks: the events of one socket read arrive together, and an error in a listener
// is none of the connection.
import type { Dispatcher } from 'undici';
import { stoodStillMs } from '../../../runtime/awake.ts';
import { writeJson } from '../../../runtime/http/whole-numbers.ts';
import { afterOthers, ownTurn } from '../../../runtime/turns.ts';
import type { ModelEvent, UpstreamFailure } from '../../model/events.ts';
import {
  addressOf,
  CallPool,
  type CallPoolOptions,
  connectFailure,
  type OpenCall,
  overdue,
  RefusedReply,
  stageOf,
} from '../../transport/call-pool.ts';
import {
  inPieces,
  isLong,
  type LongCall,
  spent,
  type WrittenCall,
} from '../../transport/long-call.ts';
import { plainFailure } from '../../transport/refusal.ts';
import type {
  ProviderFamily,
  StreamReader,
  TimedHandle,
  UpstreamCall,
  UpstreamDeadlines,
  UpstreamListener,
} from './contract.ts';

/** How long a connection may take to end its body after the terminator, to be used again. */
const drainMs = 1000;
/** `queueMicrotask` makes an async resource for each task, at each read of each socket. */
const resolved = Promise.resolve();

export interface UpstreamClient {
  /**
   * Starts the call at once; the first report never comes before this has returned. A call that is
   * long to encode is given as a function, which gets a turn of the loop to itself; tenants take
   * turns there.
   */
  start(
    family: ProviderFamily,
    call: UpstreamCall | (() => UpstreamCall),
    deadlines: UpstreamDeadlines,
    listener: UpstreamListener,
    tenant?: string,
  ): TimedHandle;
  /** Calls whose connection slot is still taken or awaited. */
  readonly openCount: number;
  /** Aborts what runs, without a report, and closes every connection. */
  close(): Promise<void>;
}

/** One client per thread. */
export function createUpstreamClient(options: CallPoolOptions): UpstreamClient {
  return new Client(options);
}

class Client implements UpstreamClient {
  readonly #pool: CallPool<Run>;

  constructor(options: CallPoolOptions) {
    this.#pool = new CallPool(options);
  }

  get openCount(): number {
    return this.#pool.size;
  }

  start(
    family: ProviderFamily,
    call: UpstreamCall | (() => UpstreamCall),
    deadlines: UpstreamDeadlines,
    listener: UpstreamListener,
    tenant = '',
  ): TimedHandle {
    this.#pool.readClock();
    const run = new Run(this.#pool, family, deadlines, listener);
    this.#pool.add(run);
    if (typeof call === 'function') {
      void afterOthers(tenant, () => this.#encodeAndSend(call, run));
      return run;
    }
    const { url, method, headers, body } = call;
    const written = { url, method, headers, body: writeJson(body) ?? '' };
    if (isLong(written)) void afterOthers(tenant, () => this.#encodeAndSend(() => written, run));
    else this.#send(written, run);
    return run;
  }

  async #encodeAndSend(encode: () => UpstreamCall | WrittenCall, run: Run): Promise<void> {
    await ownTurn();
    try {
      if (run.isOver) {
        this.#pool.release(run);
        return;
      }
      const call = await inPieces(encode());
      this.#pool.readClock();
      this.#send(call, run);
    } catch (error) {
      run.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #send({ url, method, headers, body }: WrittenCall | LongCall, run: Run): void {
    if (run.isOver) {
      this.#pool.release(run);
      return;
    }
    const { origin, path } = addressOf(url);
    if (typeof body === 'string') {
      const request = { origin, path, method, headers, body };
      run.sent(request);
      this.#pool.dispatch(request, run);
      return;
    }
    run.sent(null);
    this.#pool.dispatch({ origin, path, method, headers, body: spent(body) }, run);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

class Run implements TimedHandle, Dispatcher.DispatchHandler {
  readonly #pool: CallPool<Run>;
  readonly #family: ProviderFamily;
  readonly #deadlines: UpstreamDeadlines;
  readonly #listener: UpstreamListener;
  readonly #startedMs: number;
  readonly #stoodMs = stoodStillMs();
  /** Null: it waits for its encoding. */
  #sentMs: number | null = null;
  /** May be sent once more, while nothing was answered. */
  #repeatable: OpenCall | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #reader: StreamReader | null = null;
  #refusal: RefusedReply | null = null;
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
    pool: CallPool<Run>,
    family: ProviderFamily,
    deadlines: UpstreamDeadlines,
    listener: UpstreamListener,
  ) {
    this.#pool = pool;
    this.#family = family;
    this.#deadlines = deadlines;
    this.#listener = listener;
    this.#startedMs = pool.nowMs;
    this.#lastBytesMs = pool.nowMs;
  }

  get isOver(): boolean {
    return this.#over;
  }

  get ownMs(): number {
    return this.#queuedMs + stoodStillMs() - this.#stoodMs;
  }

  get #queuedMs(): number {
    return (this.#sentMs ?? this.#pool.nowMs) - this.#startedMs;
  }

  /** From here on the time is the provider's. */
  sent(repeatable: OpenCall | null): void {
    this.#repeatable = repeatable;
    this.#sentMs = this.#pool.nowMs;
    this.#lastBytesMs = this.#sentMs;
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
    this.#lastBytesMs = this.#pool.nowMs;
    this.#controller?.resume();
  }

  checkDeadlines(nowMs: number): void {
    const idleForMs = nowMs - this.#lastBytesMs;
    if (this.#over) {
      if (idleForMs > drainMs) this.#drop();
      return;
    }
    if (this.#sentMs === null) {
      const { queueMs } = this.#deadlines;
      if (this.#queuedMs > queueMs) {
        this.#fail(plainFailure('overloaded', `not sent within ${queueMs} ms`));
      }
      return;
    }
    const stage = stageOf(this.#controller !== null, this.#eventSeen, this.#paused);
    const detail = overdue(this.#deadlines, stage, nowMs - this.#sentMs, idleForMs);
    if (detail === null) return;
    this.#endBroken(plainFailure('timeout', detail));
    this.#drop();
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
    this.#repeatable = null;
    this.#lastBytesMs = this.#pool.nowMs;
    // They are slices of the first read, and would keep all of it for as long as the stream lasts.
    controller.rawHeaders = null;
    if (status < 300) this.#reader = this.#createReader();
    else this.#refusal = new RefusedReply(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#lastBytesMs = this.#pool.nowMs;
    if (this.#over) return;
    if (this.#reader !== null) {
      this.#take(this.#reader.push(chunk));
      if (!this.#over && this.#reader.finished) this.#end(null);
      return;
    }
    if (this.#refusal?.push(chunk) === false) this.#fail(this.#readRefusal());
  }

  onResponseEnd(): void {
    this.#pool.release(this);
    if (this.#over) return;
    if (this.#reader === null) {
      this.#end(this.#readRefusal());
      return;
    }
    this.#take(this.#reader.end());
    if (this.#over) return;
    this.#end(this.#reader.finished ? null : plainFailure('cut', 'the body ended early'));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#sendAgain(error)) return;
    this.#pool.release(this);
    if (this.#over) return;
    if (this.#refusal !== null) this.#end(this.#readRefusal());
    else if (this.#reader !== null) this.#endBroken(plainFailure('cut', error.message));
    else this.#end(connectFailure(error));
  }

  #sendAgain(error: Error): boolean {
    const request = this.#repeatable;
    this.#repeatable = null;
    if (request === null || this.#sentMs === null || this.#over) return false;
    this.#controller = null;
    return this.#pool.dispatchAgain(request, this, error, this.#sentMs);
  }

  #createReader(): StreamReader {
    const { clientFormat, server } = this.#listener;
    return this.#family.createReader(clientFormat, server);
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

  /**
   * The body broke off, or nothing more came. An answer that had told its end is as whole as if
   * the body had ended there: some formats have no terminator, and some servers leave it out.
   */
  #endBroken(failure: UpstreamFailure): void {
    const last = this.#reader?.end() ?? [];
    const isWhole = this.#reader?.finished === true;
    if (isWhole) this.#take(last);
    if (!this.#over) this.#end(isWhole ? null : failure);
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
    void resolved.then(this.#flush);
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    const events = this.#events;
    this.#events = null;
    if (events !== null && !this.#silent) this.#listener.events(events);
    const outcome = this.#outcome;
    if (outcome === null) return;
    this.#outcome = null;
    if (!this.#silent) this.#listener.ended(outcome.failure);
  };

  /** Closes the socket. Before there is one, the connection is given up as soon as it is made. */
  #drop(): void {
    if (this.#paused) this.#controller?.resume();
    this.#controller?.abort(new Error('given up'));
  }

  #readRefusal(): UpstreamFailure {
    return this.#refusal?.read(this.#family) ?? plainFailure('connect', 'no response');
  }
}
