// Runs the short calls of video providers: submissions, polls, lists. A submission (POST) has a
// connection of its own and is written once: what may have been read is never sent again.
import type { Dispatcher } from 'undici';
import { awakeMs } from '../../../runtime/awake.ts';
import {
  addressOf,
  CallPool,
  type CallPoolOptions,
  connectFailure,
  singleHeaders,
} from '../../transport/call-pool.ts';
import { ConnectionError, type TextCall } from '../../transport/connection.ts';
import { detailCharactersMax } from '../../transport/refusal.ts';
import type { VideoCall, VideoReply } from './contract.ts';

/** Each counts from the start of the call. */
export interface VideoDeadlines {
  connectMs: number;
  headersMs: number;
  totalMs: number;
}

export interface VideoCallOptions {
  deadlines: VideoDeadlines;
  /** Ends the call; what had been written is told as after any other failure. */
  signal: AbortSignal;
}

/** `unsent`: no byte of it was written. `sent`: it may have been read. `detail` is for the log. */
export type VideoResult = { reply: VideoReply } | { failed: 'unsent' | 'sent'; detail: string };

export interface VideoClient {
  /** Never rejects. A GET may be sent twice, where a kept connection proved closed. */
  run(call: VideoCall, options: VideoCallOptions): Promise<VideoResult>;
  /** Ends what runs, and closes every connection. */
  close(): Promise<void>;
}

const bodyBytesMax = 256 * 1_024;

/** One client per thread. */
export function createVideoClient(options: CallPoolOptions): VideoClient {
  const pool = new CallPool<Run>(options);
  return {
    run: (call, { deadlines, signal }) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve({ failed: 'unsent', detail: 'given up before it began' });
        else new Run(pool, call, deadlines, signal, resolve).start();
      }),
    close: () => pool.close(),
  };
}

class Run implements Dispatcher.DispatchHandler {
  readonly #pool: CallPool<Run>;
  readonly #call: TextCall;
  readonly #deadlines: VideoDeadlines;
  readonly #signal: AbortSignal;
  readonly #resolve: (result: VideoResult) => void;
  readonly #startedMs = awakeMs();
  readonly #giveUp = () => this.#fail('given up');
  /** Gives up a connection that is not made yet. */
  #leave: (() => void) | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #isRepeatable: boolean;
  #isSent = false;
  #status = 0;
  #headers: Record<string, string> = {};
  #body: Buffer[] = [];
  #bytes = 0;
  #over = false;

  constructor(
    pool: CallPool<Run>,
    { method, url, headers, body }: VideoCall,
    deadlines: VideoDeadlines,
    signal: AbortSignal,
    resolve: (result: VideoResult) => void,
  ) {
    this.#pool = pool;
    this.#call = { ...addressOf(url), method, headers, body };
    this.#deadlines = deadlines;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#isRepeatable = method === 'GET';
  }

  start(): void {
    this.#pool.add(this);
    this.#signal.addEventListener('abort', this.#giveUp, { once: true });
    try {
      if (this.#isRepeatable) this.#pool.dispatch(this.#call, this);
      else this.#leave = this.#pool.dispatchAlone(this.#call, this);
    } catch (error) {
      this.#fail((error as Error).message);
    }
  }

  /** Called by the pool when it closes. */
  abort(): void {
    this.#giveUp();
  }

  checkDeadlines(nowMs: number): void {
    const ageMs = nowMs - this.#startedMs;
    const { connectMs, headersMs, totalMs } = this.#deadlines;
    if (this.#controller === null && ageMs > connectMs) {
      this.#fail(`no connection within ${connectMs} ms`);
    } else if (this.#status === 0 && ageMs > headersMs) {
      this.#fail(`no reply within ${headersMs} ms`);
    } else if (ageMs > totalMs) this.#fail(`not done within ${totalMs} ms`);
  }

  /** The next that the connection does is to write the whole request. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error('given up'));
    else this.#isSent = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#isRepeatable = false;
    controller.rawHeaders = null;
    this.#status = status;
    this.#headers = singleHeaders(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    // The chunk is a view of what the connection reads into.
    this.#body.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes < bodyBytesMax) return;
    this.#reply();
    this.#drop();
  }

  onResponseEnd(): void {
    this.#reply();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#over) return;
    if (error instanceof ConnectionError && error.code === 'unsendable') this.#isSent = false;
    if (this.#isRepeatable) {
      this.#isRepeatable = false;
      this.#controller = null;
      if (this.#pool.dispatchAgain(this.#call, this, error, this.#startedMs)) return;
    }
    this.#fail(connectFailure(error).detail);
  }

  /** What came of a refusal is told: its status says more than that its text was cut. */
  #fail(detail: string): void {
    if (this.#over) return;
    if (this.#status >= 300) this.#reply();
    else {
      const failed = this.#isSent ? 'sent' : 'unsent';
      this.#end({ failed, detail: detail.slice(0, detailCharactersMax) });
    }
    this.#drop();
  }

  #reply(): void {
    const body = Buffer.concat(this.#body).subarray(0, bodyBytesMax).toString();
    this.#end({ reply: { status: this.#status, headers: this.#headers, body } });
  }

  #end(result: VideoResult): void {
    if (this.#over) return;
    this.#over = true;
    this.#pool.release(this);
    this.#signal.removeEventListener('abort', this.#giveUp);
    this.#resolve(result);
  }

  #drop(): void {
    if (this.#controller === null) this.#leave?.();
    else this.#controller.abort(new Error('given up'));
  }
}
