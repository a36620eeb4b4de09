// One keep-alive client connection on a bare socket, one request at a time. All connections of a
// process read into the same buffer: node hands its bytes over before the next read.
import { connect, type Socket } from 'node:net';
import type { Target } from './job.ts';
import { ResponseReader } from './response.ts';

const sharedBuffer = Buffer.allocUnsafe(65_536);

export interface Outcome {
  ok: boolean;
  status: number;
  events: number;
  /** Why it failed: status and start of the body, or the socket's error. */
  detail: string;
  firstEventMs: number;
  totalMs: number;
}

export class Connection {
  readonly #target: Target;
  readonly #reader = new ResponseReader();
  readonly #gapsMs: number[] | null;
  #socket: Socket | null = null;
  #finish: ((outcome: Outcome) => void) | null = null;
  #onFirstEvent: (() => void) | null = null;
  #startedMs = 0;
  #firstEventMs = 0;
  #readMs = 0;

  /** `gapsMs` takes the time between two reads of a response; null: nobody wants to know. */
  constructor(target: Target, gapsMs: number[] | null = null) {
    this.#target = target;
    this.#gapsMs = gapsMs;
  }

  /** Sends one request; `finish` is called once, when the response is complete or has failed. */
  send(
    request: Buffer,
    finish: (outcome: Outcome) => void,
    onFirstEvent: (() => void) | null = null,
  ): void {
    this.#reader.reset();
    this.#finish = finish;
    this.#onFirstEvent = onFirstEvent;
    this.#firstEventMs = 0;
    this.#readMs = 0;
    this.#startedMs = performance.now();
    this.#socket ??= this.#open();
    this.#socket.write(request);
  }

  close(): void {
    this.#finish = null;
    this.#socket?.destroy();
    this.#socket = null;
  }

  #open(): Socket {
    const socket = connect({
      host: this.#target.host,
      port: this.#target.port,
      noDelay: true,
      onread: {
        buffer: sharedBuffer,
        callback: (length, buffer) => {
          this.#read(buffer, length);
          return true;
        },
      },
    });
    socket.once('error', (error) => this.#lost(socket, error.message));
    socket.once('close', () => this.#lost(socket, 'closed by the server'));
    return socket;
  }

  #read(bytes: Uint8Array, length: number): void {
    if (this.#finish === null) return;
    const reader = this.#reader;
    const done = reader.push(bytes, length);
    if (this.#gapsMs !== null) {
      const nowMs = performance.now();
      if (this.#readMs > 0) this.#gapsMs.push(nowMs - this.#readMs);
      this.#readMs = nowMs;
    }
    if (this.#firstEventMs === 0 && reader.bodyBytes > 0) {
      this.#firstEventMs = performance.now() - this.#startedMs;
      this.#onFirstEvent?.();
    }
    if (!done) return;
    if (!reader.keepAlive) {
      this.#socket?.destroy();
      this.#socket = null;
    }
    // A job that was accepted is as good as an answer.
    const ok = reader.status === 200 || reader.status === 202;
    this.#end(ok, ok ? '' : reader.bodyStart);
  }

  #lost(socket: Socket, detail: string): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    if (this.#finish === null) return;
    const byClose = this.#reader.state === 'close' && this.#reader.status === 200;
    this.#end(byClose, byClose ? '' : detail);
  }

  #end(ok: boolean, detail: string): void {
    const finish = this.#finish;
    this.#finish = null;
    finish?.({
      ok,
      status: this.#reader.status,
      events: this.#reader.events,
      detail,
      firstEventMs: this.#firstEventMs,
      totalMs: performance.now() - this.#startedMs,
    });
  }
}
