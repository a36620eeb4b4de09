// A reply whose bytes come one after the other, such as audio that is passed through. The writer is
// told when to wait; a client that takes nothing for long is taken for gone.
import type { HttpResponse } from 'uWebSockets.js';
import { AwakeTimer } from '../awake.ts';
import { endPieces, sendKept, writePieces } from './pieces.ts';
import type { ByteStream, ByteStreamEnd } from './route.ts';

type CloseListener = (reason: ByteStreamEnd) => void;

/**
 * One open reply, in chunks. Outside the route handler every write stands in `cork`. A corked
 * write learns of backpressure at the next write only, so a writer may be one chunk ahead of it;
 * uWS drains its own rest in `onWritable` only if we cork again (uWebSockets.js#979).
 */
export class HttpByteStream implements ByteStream {
  closed = false;
  readonly #stalledMs: number;
  #response: HttpResponse | null = null;
  #queue: Uint8Array[] = [];
  #isBlocked = false;
  #isEnding = false;
  #stalled: AwakeTimer | null = null;
  #drainListener: (() => void) | null = null;
  #closeListener: CloseListener | null = null;
  #closeReason: ByteStreamEnd | null = null;

  constructor(stalledMs: number) {
    this.#stalledMs = stalledMs;
  }

  write(bytes: Uint8Array): boolean {
    if (this.closed || this.#isEnding) return false;
    if (this.#response === null || this.#isBlocked) {
      this.#queue.push(bytes);
      return this.#response === null;
    }
    this.#send(bytes);
    return !this.#isBlocked;
  }

  end(): void {
    if (this.closed || this.#isEnding) return;
    this.#isEnding = true;
    if (this.#response === null || this.#isBlocked) return;
    this.#finish();
  }

  fail(): void {
    const response = this.#response;
    this.#close('failed');
    response?.close();
  }

  onDrain(listener: () => void): void {
    this.#drainListener = listener;
  }

  onClose(listener: CloseListener): void {
    if (this.#closeReason !== null) {
      listener(this.#closeReason);
      return;
    }
    const earlier = this.#closeListener;
    this.#closeListener = (reason) => {
      earlier?.(reason);
      listener(reason);
    };
  }

  /** Binds the socket; called right behind the cork in which the headers were written. */
  open(response: HttpResponse): void {
    if (this.closed) {
      response.close();
      return;
    }
    this.#response = response;
    response.onWritable(() => {
      sendKept(response);
      this.#drain();
      return true;
    });
    this.#drain();
  }

  /** The client has gone, or the server closes. */
  abort(): void {
    this.#close('aborted');
  }

  #send(bytes: Uint8Array): void {
    if (this.#response === null || writePieces(this.#response, bytes)) return;
    this.#isBlocked = true;
    this.#stalled?.cancel();
    this.#stalled = new AwakeTimer(this.#stalledMs, () => this.fail());
  }

  #drain(): void {
    if (this.closed) return;
    this.#stalled?.cancel();
    this.#isBlocked = false;
    while (!this.#isBlocked) {
      const bytes = this.#queue.shift();
      if (bytes === undefined) break;
      this.#send(bytes);
    }
    if (this.#isBlocked) return;
    if (this.#isEnding) this.#finish();
    else this.#drainListener?.();
  }

  #finish(): void {
    const response = this.#response;
    if (response === null) return;
    // Before the last byte: who has the whole reply may ask again, and finds its permit free.
    endPieces(response, '', () => this.#close('ended'));
  }

  #close(reason: ByteStreamEnd): void {
    if (this.closed) return;
    this.closed = true;
    this.#closeReason = reason;
    this.#stalled?.cancel();
    this.#response = null;
    this.#queue = [];
    this.#closeListener?.(reason);
    this.#closeListener = null;
    this.#drainListener = null;
  }
}

/**
 * Pours pieces that are made or read one by one: each is asked for when the client has taken the
 * one before. A client that goes away ends the reading. Rejects with what a piece was refused with;
 * the stream is open then.
 */
export async function pourPieces(
  pieces: AsyncIterator<Uint8Array, unknown, undefined>,
  stream: ByteStream,
): Promise<void> {
  let isClosed = false;
  let wake = () => {};
  stream.onDrain(() => wake());
  stream.onClose(() => {
    isClosed = true;
    wake();
  });
  try {
    while (!isClosed) {
      const next = await pieces.next();
      if (next.done === true) break;
      if (isClosed || stream.write(next.value)) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (isClosed) resolve();
      });
    }
  } finally {
    await pieces.return?.();
  }
  if (!isClosed) stream.end();
}
