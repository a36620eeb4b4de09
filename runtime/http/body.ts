// Reads a request body under three bounds: its own bytes, those of all bodies until their values
// replace them, and time. A body that arrives in one piece is not copied: it is lent for one call.
import type { HttpResponse } from 'uWebSockets.js';
import { Budget } from '../limiter/budget.ts';
import { fixedLimits } from '../limits.ts';
import { Problem } from '../problem.ts';
import { TransientSet } from '../transient.ts';
import type { Ticker, Ticking } from './ticker.ts';
import type { UnreadBody } from './unread.ts';

export interface BodyLimits {
  /** From the first byte to the last; past it the connection is closed. */
  bodyDeadlineMs: number;
  /** Of all bodies of this thread that come or wait to be parsed; half of it for one tenant. */
  bodyBytesTotalMax: number;
}

/** What becomes of one body. Exactly one of these is called, unless the client goes away first. */
export interface BodySink {
  /** The bytes may be gone when the call returns: see `keep`. */
  complete(body: BodyRead): void;
  /** Nothing more will be kept. `isLost`: nor is the rest of the connection of any use. */
  refuse(problem: Problem, isLost: boolean): void;
  /** The deadline has passed. */
  expire(): void;
}

export interface BodyRead {
  /** All of a complete body; empty after `stop`. */
  readonly bytes: Buffer;
  /** Makes the bytes last until `stop`. False: there is no room for them. */
  keep(): boolean;
  /** Forgets the bytes and the deadline; safe to repeat. */
  stop(): void;
}

export interface BodyReader extends Ticking {
  read(
    response: Pick<HttpResponse, 'onData'> | UnreadBody,
    announcedBytes: number | null,
    bytesMax: number,
    tenant: string,
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

/** A 400 for chunks that cost more to hand over than to send: nobody else has a turn meanwhile. */
function tooShortChunks(): Problem {
  return new Problem('invalid_request', {
    message: 'The request body comes in too many short chunks.',
  });
}

/** A 400 for chunks that uWS has misread: it takes an extension for more digits of the length. */
function misreadChunks(): Problem {
  return new Problem('invalid_request', {
    message: 'The chunked request body cannot be read: chunk extensions are not understood.',
  });
}

/** Ends a chunked body. In its data it shows that a length was misread. */
const terminator = Buffer.from('0\r\n\r\n');

/** A 503 where all bodies together have no room for another one. */
export function noRoom(): Problem {
  return new Problem('overloaded', { headers: { 'retry-after': '1' } });
}

/** One reader per server: it owns the budget and the list of bodies that have a deadline. */
export function createBodyReader(limits: BodyLimits, clock: () => Ticker): BodyReader {
  const waiting = new TransientSet<PartialBody>();
  const room: Room = { waiting, budget: new Budget(limits.bodyBytesTotalMax) };
  return {
    get waiting() {
      return waiting.size;
    },
    read(response, announcedBytes, bytesMax, tenant, sink) {
      const deadlineTick = clock().now + clock().ticksOf(limits.bodyDeadlineMs);
      const body = new PartialBody(sink, bytesMax, announcedBytes, deadlineTick, room, tenant);
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

/** What all bodies share. */
interface Room {
  waiting: TransientSet<PartialBody>;
  budget: Budget;
}

class PartialBody implements BodyRead {
  readonly deadlineTick: number;
  /** Let go at the end: its closures hold the whole call, and a stream outlives its body. */
  #sink: BodySink | null;
  readonly #bytesMax: number;
  readonly #announcedBytes: number | null;
  readonly #room: Room;
  readonly #tenant: string;
  /** Paid for out of the budget. */
  #buffer = noBytes;
  #length = 0;
  #chunks = 0;
  /** A body in one piece, until the call that it is lent for returns. */
  #lent: Buffer | null = null;
  /** Runs while its data end as a chunked body does, and nothing follows. */
  #misread: NodeJS.Timeout | null = null;

  constructor(
    sink: BodySink,
    bytesMax: number,
    announcedBytes: number | null,
    deadlineTick: number,
    room: Room,
    tenant: string,
  ) {
    this.#sink = sink;
    this.#bytesMax = bytesMax;
    this.#announcedBytes = announcedBytes;
    this.deadlineTick = deadlineTick;
    this.#room = room;
    this.#tenant = tenant;
  }

  get bytes(): Buffer {
    return this.#lent ?? this.#buffer.subarray(0, this.#length);
  }

  keep(): boolean {
    if (this.#lent === null) return true;
    if (!this.#room.budget.take(this.#tenant, this.#lent.length)) return false;
    this.#buffer = Buffer.from(this.#lent);
    this.#length = this.#buffer.length;
    this.#lent = null;
    return true;
  }

  receive(chunk: ArrayBuffer, isLast: boolean): void {
    const sink = this.#sink;
    if (sink === null) return;
    this.#forgetMisread();
    if (this.#length + chunk.byteLength > this.#bytesMax) {
      this.stop();
      sink.refuse(tooLarge(this.#bytesMax), false);
      return;
    }
    if (isLast && this.#length === 0) {
      this.#leave();
      this.#lent = Buffer.from(chunk);
      sink.complete(this);
      this.#lent = null;
      return;
    }
    this.#chunks += 1;
    const { chunksMax, chunkBytesMin } = fixedLimits.body;
    if (this.#chunks > chunksMax && this.#length < this.#chunks * chunkBytesMin) {
      this.stop();
      sink.refuse(tooShortChunks(), true);
      return;
    }
    if (!this.#append(chunk)) {
      this.stop();
      sink.refuse(noRoom(), false);
      return;
    }
    if (!isLast) {
      if (this.#announcedBytes === null) this.#watchMisread();
      return;
    }
    this.#leave();
    sink.complete(this);
  }

  expire(): void {
    const sink = this.#sink;
    this.stop();
    if (this.#announcedBytes === null) sink?.refuse(misreadChunks(), true);
    else sink?.expire();
  }

  /** Where the client has ended its body and uWS still waits, nothing else would ever come. */
  #watchMisread(): void {
    const end = this.#buffer.subarray(this.#length - terminator.length, this.#length);
    if (this.#length < terminator.length || !terminator.equals(end)) return;
    this.#misread = setTimeout(() => {
      const sink = this.#sink;
      this.stop();
      sink?.refuse(misreadChunks(), true);
    }, fixedLimits.body.silenceMs);
  }

  #forgetMisread(): void {
    if (this.#misread !== null) clearTimeout(this.#misread);
    this.#misread = null;
  }

  stop(): void {
    this.#leave();
    this.#room.budget.give(this.#tenant, this.#buffer.length);
    this.#buffer = noBytes;
    this.#length = 0;
    this.#lent = null;
  }

  /** Nothing more of it is waited for. */
  #leave(): void {
    if (this.#sink === null) return;
    this.#sink = null;
    this.#forgetMisread();
    this.#room.waiting.delete(this);
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
    if (!this.#room.budget.take(this.#tenant, added)) return false;
    const grown = Buffer.allocUnsafeSlow(capacity);
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
    return true;
  }
}
