// Reads a request body under three bounds: bytes of this body, bytes of all bodies that are being
// read, and time. A body that arrives in one piece is never copied: it is lent for one call.
import type { HttpResponse } from 'uWebSockets.js';
import { Problem } from '../problem.ts';
import type { Ticker, Ticking } from './ticker.ts';

export interface BodyLimits {
  /** From the first byte to the last; past it the connection is closed. */
  bodyDeadlineMs: number;
  /** Of all bodies of this thread that are only partly there. */
  bodyBytesTotalMax: number;
}

/** What becomes of one body. Exactly one of these is called, unless the client goes away first. */
export interface BodySink {
  /** `isLent`: the bytes are gone when the call returns. */
  complete(bytes: Buffer, isLent: boolean): void;
  /** Too large, or no room; nothing more will be kept. */
  refuse(problem: Problem): void;
  /** The deadline has passed. */
  expire(): void;
}

export interface BodyRead {
  /** Forgets the bytes and the deadline; safe to repeat. */
  stop(): void;
}

export interface BodyReader extends Ticking {
  read(
    response: HttpResponse,
    announcedBytes: number | null,
    bytesMax: number,
    sink: BodySink,
  ): BodyRead;
  readonly waiting: number;
}

const smallestBufferBytes = 16 * 1024;
const noBytes = Buffer.alloc(0);

/** A 413 for a route's limit in bytes. */
export function tooLarge(bytesMax: number): Problem {
  return new Problem('request_too_large', {
    message: `The request body is larger than ${bytesMax} bytes.`,
    details: { bytes_max: bytesMax },
  });
}

/** One reader per server: it owns the budget and the list of bodies that have a deadline. */
export function createBodyReader(limits: BodyLimits, clock: () => Ticker): BodyReader {
  const waiting = new Set<PartialBody>();
  const budget = { bytesLeft: limits.bodyBytesTotalMax };
  return {
    get waiting() {
      return waiting.size;
    },
    read(response, announcedBytes, bytesMax, sink) {
      const deadlineTick = clock().now + clock().ticksOf(limits.bodyDeadlineMs);
      const body = new PartialBody(sink, bytesMax, announcedBytes, deadlineTick, waiting, budget);
      waiting.add(body);
      response.onData((chunk, isLast) => body.receive(chunk, isLast));
      return body;
    },
    tick(now) {
      // In the order of their deadlines, since all deadlines are equally long.
      for (const body of waiting) {
        if (body.deadlineTick > now) return;
        body.expire();
      }
    },
  };
}

class PartialBody implements BodyRead {
  readonly deadlineTick: number;
  /** Let go at the end: its closures hold the whole call, and a stream outlives its body. */
  #sink: BodySink | null;
  readonly #bytesMax: number;
  readonly #announcedBytes: number | null;
  readonly #waiting: Set<PartialBody>;
  readonly #budget: { bytesLeft: number };
  #buffer = noBytes;
  #length = 0;

  constructor(
    sink: BodySink,
    bytesMax: number,
    announcedBytes: number | null,
    deadlineTick: number,
    waiting: Set<PartialBody>,
    budget: { bytesLeft: number },
  ) {
    this.#sink = sink;
    this.#bytesMax = bytesMax;
    this.#announcedBytes = announcedBytes;
    this.deadlineTick = deadlineTick;
    this.#waiting = waiting;
    this.#budget = budget;
  }

  receive(chunk: ArrayBuffer, isLast: boolean): void {
    const sink = this.#sink;
    if (sink === null) return;
    if (this.#length + chunk.byteLength > this.#bytesMax) {
      this.stop();
      sink.refuse(tooLarge(this.#bytesMax));
      return;
    }
    if (isLast && this.#length === 0) {
      this.stop();
      sink.complete(Buffer.from(chunk), true);
      return;
    }
    if (!this.#append(chunk)) {
      this.stop();
      sink.refuse(new Problem('overloaded', { headers: { 'retry-after': '1' } }));
      return;
    }
    if (!isLast) return;
    const bytes = this.#buffer.subarray(0, this.#length);
    this.stop();
    sink.complete(bytes, false);
  }

  expire(): void {
    const sink = this.#sink;
    this.stop();
    sink?.expire();
  }

  stop(): void {
    if (this.#sink === null) return;
    this.#sink = null;
    this.#waiting.delete(this);
    this.#budget.bytesLeft += this.#buffer.length;
    this.#buffer = noBytes;
  }

  /** False when all bodies together have no room for it. */
  #append(chunk: ArrayBuffer): boolean {
    const needed = this.#length + chunk.byteLength;
    if (needed > this.#buffer.length && !this.#grow(needed)) return false;
    this.#buffer.set(new Uint8Array(chunk), this.#length);
    this.#length = needed;
    return true;
  }

  #grow(needed: number): boolean {
    const announced = this.#announcedBytes ?? this.#bytesMax;
    const doubled = Math.max(smallestBufferBytes, 2 * this.#buffer.length, needed);
    const capacity = Math.max(needed, Math.min(doubled, announced));
    const added = capacity - this.#buffer.length;
    if (added > this.#budget.bytesLeft) return false;
    this.#budget.bytesLeft -= added;
    const grown = Buffer.allocUnsafeSlow(capacity);
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
    return true;
  }
}
