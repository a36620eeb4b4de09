// Runs calls of speech and transcription: bytes as they come, each under the deadlines of a model
// call. Reports leave in microtasks: an error in a listener is none of the connection.
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { awakeMs, stoodStillMs } from '../../../runtime/awake.ts';
import type { UpstreamFailure } from '../../model/events.ts';
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
import { plainFailure } from '../../transport/refusal.ts';
import type { TimedHandle, UpstreamDeadlines } from '../generation/contract.ts';
import type { AudioCall, AudioFamily, AudioListener } from './contract.ts';

export interface AudioClient {
  /** Starts the call at once; the first report never comes before this has returned. */
  start(
    family: AudioFamily,
    call: AudioCall,
    deadlines: UpstreamDeadlines,
    listener: AudioListener,
  ): TimedHandle;
  /** Aborts what runs, without a report, and closes every connection. */
  close(): Promise<void>;
}

/** One client per thread. */
export function createAudioClient(options: CallPoolOptions): AudioClient {
  const pool = new CallPool<Run>(options);
  return {
    start(family, { url, headers, body }, deadlines, listener) {
      const run = new Run(pool, family, deadlines, listener);
      pool.add(run);
      const [only, ...others] = body;
      const isOne = only !== undefined && others.length === 0;
      const { origin, path } = addressOf(url);
      const content = isOne ? only : pieces(body);
      const request = { origin, path, method: 'POST' as const, headers, body: content };
      run.repeatable = isOne ? request : null;
      pool.dispatch(request, run);
      return run;
    },
    close: () => pool.close(),
  };
}

/** Without joining them: a recording is not copied for its call. */
function pieces(body: readonly Uint8Array[]): Readable {
  return Readable.from(body, { objectMode: false });
}

class Run implements TimedHandle, Dispatcher.DispatchHandler {
  /** May be sent once more, while nothing was answered. */
  repeatable: OpenCall | null = null;
  readonly #pool: CallPool<Run>;
  readonly #family: AudioFamily;
  readonly #deadlines: UpstreamDeadlines;
  readonly #listener: AudioListener;
  readonly #startedMs = awakeMs();
  readonly #stoodMs = stoodStillMs();
  #controller: Dispatcher.DispatchController | null = null;
  #refusal: RefusedReply | null = null;
  /** On their way to the listener in a microtask. */
  #chunks: Buffer[] = [];
  #lastBytesMs = this.#startedMs;
  #hasBegun = false;
  #paused = false;
  #over = false;

  constructor(
    pool: CallPool<Run>,
    family: AudioFamily,
    deadlines: UpstreamDeadlines,
    listener: AudioListener,
  ) {
    this.#pool = pool;
    this.#family = family;
    this.#deadlines = deadlines;
    this.#listener = listener;
  }

  get ownMs(): number {
    return stoodStillMs() - this.#stoodMs;
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#drop();
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#lastBytesMs = awakeMs();
    this.#controller?.resume();
  }

  checkDeadlines(nowMs: number): void {
    const stage = stageOf(this.#controller !== null, this.#hasBegun, this.#paused);
    const idleForMs = nowMs - this.#lastBytesMs;
    const detail = overdue(this.#deadlines, stage, nowMs - this.#startedMs, idleForMs);
    if (detail !== null) this.#end(plainFailure('timeout', detail));
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
    this.repeatable = null;
    this.#lastBytesMs = awakeMs();
    controller.rawHeaders = null;
    if (status >= 300) this.#refusal = new RefusedReply(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#lastBytesMs = awakeMs();
    if (this.#refusal === null) {
      this.#hasBegun = true;
      this.#chunks.push(chunk);
      if (this.#chunks.length === 1) queueMicrotask(() => this.#flush());
      return;
    }
    if (!this.#refusal.push(chunk)) this.#end(this.#refusal.read(this.#family));
  }

  onResponseEnd(): void {
    this.#end(this.#refusal?.read(this.#family) ?? null);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const request = this.repeatable;
    this.repeatable = null;
    if (request !== null && !this.#over) {
      this.#controller = null;
      if (this.#pool.dispatchAgain(request, this, error, this.#startedMs)) return;
    }
    if (this.#refusal !== null) this.#end(this.#refusal.read(this.#family));
    else if (this.#hasBegun) this.#end(plainFailure('cut', error.message));
    else this.#end(connectFailure(error));
  }

  /** One read may hold ten thousand chunks of HTTP, and no mailbox takes so many messages. */
  #flush(): void {
    const chunks = this.#chunks;
    this.#chunks = [];
    const [only] = chunks;
    if (this.#over || only === undefined) return;
    this.#listener.bytes(chunks.length === 1 ? only : Buffer.concat(chunks));
  }

  /** Once; the bytes before it are told before. */
  #end(failure: UpstreamFailure | null): void {
    if (this.#over) return;
    queueMicrotask(() => {
      if (this.#over) return;
      this.#over = true;
      this.#drop(failure !== null);
      this.#listener.ended(failure);
    });
  }

  #drop(cuts = true): void {
    this.#pool.release(this);
    if (!cuts) return;
    if (this.#paused) this.#controller?.resume();
    this.#controller?.abort(new Error('given up'));
  }
}
