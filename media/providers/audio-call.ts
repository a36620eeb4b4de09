// Runs calls of speech and transcription through undici: bytes as they come, each under the
// deadlines of a model call. Reports leave in microtasks, so that an error in a listener is not
// swallowed by undici.
import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import type { UpstreamFailure } from '../model/events.ts';
import type { AudioCall, AudioFamily, AudioListener } from './audio-contract.ts';
import type { UpstreamDeadlines, UpstreamHandle } from './contract.ts';
import { plainFailure } from './refusal.ts';

/** How often deadlines are looked at: they are late by at most this much. */
const tickMs = 50;
const errorBytesMax = 64 * 1_024;
const keepAliveMs = 4_000;

export interface AudioClient {
  /** Starts the call at once; the first report never comes before this has returned. */
  start(
    family: AudioFamily,
    call: AudioCall,
    deadlines: UpstreamDeadlines,
    listener: AudioListener,
  ): UpstreamHandle;
  /** Aborts what runs, without a report, and closes every connection. */
  close(): Promise<void>;
}

/** One client per thread. `connectionsMax`: to one origin; further calls wait for one. */
export function createAudioClient({ connectionsMax }: { connectionsMax: number }): AudioClient {
  const agent = new Agent({
    connections: connectionsMax,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const runs = new Set<Run>();
  let ticker: NodeJS.Timeout | null = null;
  const release = (run: Run) => {
    runs.delete(run);
    if (runs.size > 0 || ticker === null) return;
    clearInterval(ticker);
    ticker = null;
  };
  return {
    start(family, { url, headers, body }, deadlines, listener) {
      const run = new Run(family, deadlines, listener, release);
      runs.add(run);
      ticker ??= setInterval(() => {
        const nowMs = performance.now();
        for (const each of runs) each.checkDeadlines(nowMs);
      }, tickMs);
      const pathStart = url.indexOf('/', url.indexOf('//') + 2);
      const target = { origin: url.slice(0, pathStart), path: url.slice(pathStart) };
      const [only, ...others] = body;
      const content = only !== undefined && others.length === 0 ? only : pieces(body);
      agent.dispatch({ ...target, method: 'POST', headers, body: content }, run);
      return run;
    },
    async close() {
      for (const run of [...runs]) run.abort();
      await agent.destroy();
    },
  };
}

/** Without joining them: a recording is not copied for its call. */
function pieces(body: readonly Uint8Array[]): Readable {
  return Readable.from(body, { objectMode: false });
}

class Run implements UpstreamHandle, Dispatcher.DispatchHandler {
  readonly #family: AudioFamily;
  readonly #deadlines: UpstreamDeadlines;
  readonly #listener: AudioListener;
  readonly #release: (run: Run) => void;
  readonly #startedMs = performance.now();
  #controller: Dispatcher.DispatchController | null = null;
  #refusal: { status: number; headers: Record<string, string>; body: Buffer[] } | null = null;
  #refusalBytes = 0;
  #lastBytesMs = this.#startedMs;
  #hasBegun = false;
  #paused = false;
  #over = false;

  constructor(
    family: AudioFamily,
    deadlines: UpstreamDeadlines,
    listener: AudioListener,
    release: (run: Run) => void,
  ) {
    this.#family = family;
    this.#deadlines = deadlines;
    this.#listener = listener;
    this.#release = release;
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
    this.#lastBytesMs = performance.now();
    this.#controller?.resume();
  }

  checkDeadlines(nowMs: number): void {
    const { connectMs, firstEventMs, idleMs, totalMs } = this.#deadlines;
    const ageMs = nowMs - this.#startedMs;
    const late = (detail: string) => this.#end(plainFailure('timeout', detail));
    if (this.#controller === null && ageMs > connectMs) late('no connection in time');
    else if (!this.#hasBegun && ageMs > firstEventMs) late('no first byte in time');
    else if (this.#hasBegun && !this.#paused && nowMs - this.#lastBytesMs > idleMs) late('silent');
    else if (ageMs > totalMs) late('not done in time');
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
    this.#lastBytesMs = performance.now();
    controller.rawHeaders = null;
    if (status < 300) return;
    const single = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    );
    this.#refusal = { status, headers: Object.fromEntries(single), body: [] };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#lastBytesMs = performance.now();
    if (this.#refusal === null) {
      this.#hasBegun = true;
      queueMicrotask(() => {
        if (!this.#over) this.#listener.bytes(chunk);
      });
      return;
    }
    this.#refusal.body.push(Buffer.from(chunk));
    this.#refusalBytes += chunk.length;
    if (this.#refusalBytes >= errorBytesMax) this.#end(this.#readRefusal());
  }

  onResponseEnd(): void {
    if (this.#refusal !== null) this.#end(this.#readRefusal());
    else this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#refusal !== null) this.#end(this.#readRefusal());
    else if (this.#hasBegun) this.#end(plainFailure('cut', error.message));
    else this.#end(plainFailure('connect', error.message));
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
    this.#release(this);
    if (!cuts) return;
    if (this.#paused) this.#controller?.resume();
    this.#controller?.abort(new Error('given up'));
  }

  #readRefusal(): UpstreamFailure {
    const { status, headers, body } = this.#refusal ?? { status: 502, headers: {}, body: [] };
    const text = Buffer.concat(body).subarray(0, errorBytesMax).toString();
    return this.#family.readFailure(status, headers, text);
  }
}
