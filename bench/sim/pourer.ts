// Pours bytes onto one response: with a length or without an end, as fast as they are taken or at a
// pace. What ends before its announced length is cut.
import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { TimerWheel, WheelEntry } from './wheel.ts';

export interface Poured {
  status: number;
  headers: Record<string, string>;
  /** The announced length; null: none is, and the body is chunked. */
  length: number | null;
  /** What comes at this place; null: nothing any more; `stall`: nothing, and it goes on. */
  piece(offset: number): Buffer | null | 'stall';
  /** Kilobits a second; null: as fast as it is taken. */
  kbps: number | null;
}

/** A body that is there as a whole. */
export function pouredBytes(bytes: Buffer): Pick<Poured, 'length' | 'piece' | 'kbps'> {
  return {
    length: bytes.length,
    piece: (offset) => (offset < bytes.length ? bytes.subarray(offset) : null),
    kbps: null,
  };
}

const stepMs = 50;
const pieceBytesMax = 64 * 1_024;

export class Pourer implements WheelEntry {
  dueTick = 0;
  cancelled = false;
  readonly #res: HttpResponse;
  readonly #poured: Poured;
  readonly #wheel: TimerWheel;
  readonly #onEnd: () => void;
  #offset = 0;
  #hasBegun = false;

  constructor(res: HttpResponse, poured: Poured, wheel: TimerWheel, onEnd: () => void) {
    this.#res = res;
    this.#poured = poured;
    this.#wheel = wheel;
    this.#onEnd = onEnd;
  }

  start(): void {
    this.#res.onWritable((offset) => {
      if (this.cancelled) return true;
      if (this.#poured.length !== null) this.#offset = offset;
      // A paced one waits for its turn of the wheel.
      if (this.#poured.kbps === null) this.fire();
      return true;
    });
    this.fire();
  }

  /** The client is gone: nothing may touch the response any more. */
  stop(): void {
    this.cancelled = true;
  }

  fire(): void {
    if (this.cancelled) return;
    this.#res.cork(() => this.#run());
    if (this.cancelled) this.#onEnd();
  }

  #run(): void {
    this.#begin();
    const { kbps } = this.#poured;
    const stepBytes = kbps === null ? pieceBytesMax : Math.max(1, Math.round((kbps * stepMs) / 8));
    for (;;) {
      const piece = this.#poured.piece(this.#offset);
      if (piece === 'stall') return;
      if (piece === null) {
        this.#finish();
        return;
      }
      if (!this.#write(piece.subarray(0, stepBytes)) || this.cancelled) return;
      if (kbps === null) continue;
      this.#wheel.schedule(this, performance.now() + stepMs);
      return;
    }
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { status, headers } = this.#poured;
    this.#res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Status'}`);
    for (const name of Object.keys(headers)) this.#res.writeHeader(name, headers[name] ?? '');
  }

  /** False: there is no room for more. */
  #write(piece: Buffer): boolean {
    const { length, kbps } = this.#poured;
    if (length === null) {
      this.#offset += piece.length;
      return this.#res.write(piece) || kbps !== null;
    }
    const [hasRoom, isOver] = this.#res.tryEnd(piece, length);
    if (isOver) this.cancelled = true;
    else if (hasRoom) this.#offset += piece.length;
    // What was not taken is offered again at its next turn.
    else this.#offset = this.#res.getWriteOffset();
    return hasRoom || kbps !== null;
  }

  #finish(): void {
    const { length } = this.#poured;
    if (length === null || length === 0) {
      this.cancelled = true;
      this.#res.end();
      return;
    }
    // Closing inside a cork would drop what was written before.
    setImmediate(() => {
      if (this.cancelled) return;
      this.cancelled = true;
      this.#onEnd();
      this.#res.close();
    });
  }
}
