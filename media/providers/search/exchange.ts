// One HTTP exchange with a search provider: bounded in time and size, ended by a signal, never
// redirected. What a connection says of its failure goes no further: it may name the key.
import type { Dispatcher } from 'undici';
import { awakeMs } from '../../../runtime/awake.ts';
import { addressOf, type CallPool, singleHeaders } from '../../transport/call-pool.ts';
import type { TextCall } from '../../transport/connection.ts';
import type { EncodedSearch } from './family.ts';

/** `body`: null where it is longer than we take. */
export type ExchangeResult =
  | { status: number; headers: Record<string, string>; body: Buffer | null }
  | { failed: 'failed' | 'timeout' | 'aborted' };

export interface ExchangeOptions {
  deadlineMs: number;
  signal: AbortSignal;
}

export type ExchangePool = CallPool<Exchange>;

const bodyBytesMax = 2 * 1_024 * 1_024;
/** A refusal has few words. */
const refusalBytesMax = 64 * 1_024;
const ok = 200;

/** Never rejects. A call may be sent twice, where a kept connection proved closed. */
export function exchange(
  pool: ExchangePool,
  call: EncodedSearch,
  { deadlineMs, signal }: ExchangeOptions,
): Promise<ExchangeResult> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve({ failed: 'aborted' });
    else new Exchange(pool, call, deadlineMs, signal, resolve).start();
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #pool: ExchangePool;
  readonly #call: TextCall;
  readonly #untilMs: number;
  readonly #signal: AbortSignal;
  readonly #resolve: (result: ExchangeResult) => void;
  readonly #giveUp = () => this.abort();
  #controller: Dispatcher.DispatchController | null = null;
  #sentMs = 0;
  #isSentAgain = false;
  #status = 0;
  #headers: Record<string, string> = {};
  #body: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(
    pool: ExchangePool,
    { method, url, headers, body }: EncodedSearch,
    deadlineMs: number,
    signal: AbortSignal,
    resolve: (result: ExchangeResult) => void,
  ) {
    this.#pool = pool;
    this.#call = { ...addressOf(url), method, headers: { ...headers }, body: body ?? '' };
    this.#untilMs = awakeMs() + deadlineMs;
    this.#signal = signal;
    this.#resolve = resolve;
  }

  start(): void {
    this.#pool.add(this);
    this.#signal.addEventListener('abort', this.#giveUp, { once: true });
    try {
      this.#pool.dispatch(this.#call, this);
    } catch {
      this.#end({ failed: 'failed' });
    }
  }

  abort(): void {
    this.#drop({ failed: 'aborted' });
  }

  checkDeadlines(nowMs: number): void {
    if (nowMs < this.#untilMs) return;
    // The status of a refusal says more than that its words were late.
    this.#drop(this.#isRefused ? this.#reply() : { failed: 'timeout' });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#sentMs = awakeMs();
    if (this.#isOver) controller.abort(new Error('given up'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#headers = singleHeaders(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.length;
    if (this.#bytes > (this.#isRefused ? refusalBytesMax : bodyBytesMax)) {
      this.#drop({ status: this.#status, headers: this.#headers, body: null });
      return;
    }
    // The chunk is a view of what the connection reads into.
    this.#body.push(Buffer.from(chunk));
  }

  onResponseEnd(): void {
    this.#end(this.#reply());
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isOver) return;
    if (this.#status === 0 && !this.#isSentAgain) {
      this.#isSentAgain = true;
      this.#controller = null;
      if (this.#pool.dispatchAgain(this.#call, this, error, this.#sentMs)) return;
    }
    this.#end(this.#isRefused ? this.#reply() : { failed: 'failed' });
  }

  get #isRefused(): boolean {
    return this.#status !== 0 && this.#status !== ok;
  }

  #reply(): ExchangeResult {
    return { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#body) };
  }

  #end(result: ExchangeResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pool.release(this);
    this.#signal.removeEventListener('abort', this.#giveUp);
    this.#resolve(result);
  }

  /** Ends it, and what still comes of it is not read. */
  #drop(result: ExchangeResult): void {
    this.#end(result);
    this.#controller?.abort(new Error('given up'));
  }
}
