// Server-sent events over uWebSockets.js. What all streams write in a turn of the event loop leaves
// at its end, each stream's in one syscall; past the socket's own buffer it queues up here; who is
// past our bound at a write is dropped.
import type { HttpResponse } from 'uWebSockets.js';
import { runEach } from '../turns.ts';
import { endPieces, pieceBytesMax, sendKept, writePieces } from './pieces.ts';
import type { EventStream } from './route.ts';
import type { Ticker, Ticking } from './ticker.ts';

export type StreamEnd = 'ended' | 'aborted' | 'slow';

/** What all streams of one server have in common. */
export interface StreamTable extends Ticking {
  readonly size: number;
  readonly clock: () => Ticker;
  readonly bufferBytesMax: number;
  add(stream: HttpEventStream): void;
  remove(stream: HttpEventStream): void;
}

/** Text of one turn that is handed to uWS without waiting for the end of the turn. */
const flushCharsMax = 64 * 1024;
/** What is longer does not fit into the cork of the headers, and follows it in this turn. */
const firstCharsMax = 4 * 1024;
/** Making a view of bytes costs more than it saves for less than this. */
const encodedCharsMin = 1_024;
/** Of the longest text that waits for the end of a turn; a character has three bytes at most. */
const scratch = Buffer.allocUnsafeSlow(3 * flushCharsMax);
/** Bounds the time one tick takes; the rest comes with the next tick. */
const keepAlivesPerTickMax = 512;

/** The open streams of a server, and their keep-alives. */
export function createStreamTable(clock: () => Ticker, bufferBytesMax: number): StreamTable {
  const streams: HttpEventStream[] = [];
  let cursor = 0;
  return {
    clock,
    bufferBytesMax,
    get size() {
      return streams.length;
    },
    add(stream) {
      stream.index = streams.length;
      streams.push(stream);
    },
    remove(stream) {
      const last = streams.pop();
      if (last === undefined || last === stream) return;
      streams[stream.index] = last;
      last.index = stream.index;
    },
    tick(now) {
      let sent = 0;
      for (let seen = streams.length; seen > 0 && sent < keepAlivesPerTickMax; seen -= 1) {
        cursor = cursor + 1 < streams.length ? cursor + 1 : 0;
        if (streams[cursor]?.keepAlive(now) === true) sent += 1;
      }
    },
  };
}

let dirty: HttpEventStream[] = [];

/**
 * Behind all that the turn reads, in its check phase. Sent one by one between the reads, each piece
 * would wake its reader anew: with 250 paced streams that was a sixth of the CPU time, and as much
 * in the readers. A flush may make streams dirty again: those are for the next turn.
 */
function flushDirty(): void {
  const streams = dirty;
  dirty = [];
  runEach(streams, flush);
}

const flush = (stream: HttpEventStream) => stream.flush();

/**
 * A long text as bytes that are good until the next call. uWS would measure a text before it copies
 * it, and give each a buffer of its own.
 */
function encoded(text: string): string | Uint8Array {
  if (text.length < encodedCharsMin || text.length * 3 > scratch.length) return text;
  return scratch.subarray(0, scratch.write(text));
}

type CloseListener = (reason: StreamEnd) => void;

/**
 * One open stream. The dispatcher opens it after the handler's callback has run.
 *
 * Corking: outside the route handler every write must stand in `cork`, else uWS sends the chunk's
 * length, its data and its end as separate syscalls. A corked write learns of backpressure only at
 * the next write; what it left over stays in uWS and goes out in `onWritable`, where uWS drains
 * its own rest only if we cork again, even with nothing to say (see also uWebSockets.js#979).
 * Longer texts are written in pieces (pieces.ts).
 */
export class HttpEventStream implements EventStream {
  /** Its place in the table. */
  index = -1;
  closed = false;
  readonly #table: StreamTable;
  readonly #keepAliveTicks: number;
  readonly #keepAliveText: string;
  #response: HttpResponse | null = null;
  #pending = '';
  #queue: string[] | null = null;
  #queuedBytes = 0;
  #lastWriteTick: number;
  #isBlocked = false;
  #isDirty = false;
  #isEnding = false;
  #drainListener: (() => void) | null = null;
  #closeListener: CloseListener | null = null;
  #closeReason: StreamEnd | null = null;

  constructor(table: StreamTable, keepAlive: { everyMs: number; text: string }) {
    this.#table = table;
    const clock = table.clock();
    this.#keepAliveTicks = clock.ticksOf(keepAlive.everyMs);
    this.#keepAliveText = keepAlive.text;
    this.#lastWriteTick = clock.now;
  }

  get bufferedBytes(): number {
    return this.#queuedBytes;
  }

  write(text: string): boolean {
    if (this.closed || this.#isEnding) return false;
    this.#lastWriteTick = this.#table.clock().now;
    if (this.#isBlocked) return this.#enqueue(text);
    this.#pending += text;
    if (this.#response === null) return true;
    if (this.#pending.length > flushCharsMax) {
      this.flush();
      return !this.closed;
    }
    this.#schedule();
    return true;
  }

  end(text = ''): void {
    if (this.closed || this.#isEnding) return;
    if (text !== '' && !this.write(text)) return;
    this.#isEnding = true;
    if (this.#response !== null) this.#schedule();
  }

  onDrain(listener: () => void): void {
    const earlier = this.#drainListener;
    this.#drainListener = () => {
      earlier?.();
      listener();
    };
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

  /** Binds the socket; called corked, right after the headers were written. */
  open(response: HttpResponse): void {
    this.#response = response;
    this.#table.add(this);
    response.onWritable(() => {
      sendKept(response);
      this.#sendQueue();
      return true;
    });
    // uWS ends the header block with the first chunk only, so there must be one now.
    if (this.#pending === '' && !this.#isEnding) this.#pending = this.#keepAliveText;
    if (this.#pending.length > firstCharsMax) this.#schedule();
    else this.#sendPending();
  }

  /** True when a keep-alive was due and written. */
  keepAlive(now: number): boolean {
    if (now - this.#lastWriteTick < this.#keepAliveTicks || this.#isBlocked) return false;
    return this.write(this.#keepAliveText);
  }

  /** The client has gone, or the server closes. */
  abort(): void {
    this.#close('aborted');
  }

  flush(): void {
    this.#isDirty = false;
    if (this.closed) return;
    if (this.#isBlocked) return;
    this.#sendPending();
  }

  #sendPending(): void {
    if (this.closed || this.#response === null) return;
    if (this.#pending !== '') {
      const text = this.#pending;
      this.#pending = '';
      if (this.#isEnding) this.#finish(text);
      else if (!writePieces(this.#response, encoded(text))) this.#isBlocked = true;
    } else if (this.#isEnding) this.#finish('');
  }

  /**
   * Sends until the socket reports backpressure, then stops. What this turn has written may be
   * pending still: uWS also calls for a rest of its own that nobody knew of.
   */
  #sendQueue(): void {
    const response = this.#response;
    if (this.closed || response === null) return;
    this.#isBlocked = false;
    while (this.#queue !== null && !this.#isBlocked) {
      if (!writePieces(response, this.#takeQueued(this.#queue))) this.#isBlocked = true;
    }
    if (this.#isBlocked) return;
    if (this.#isEnding) this.#sendPending();
    else this.#drainListener?.();
  }

  #schedule(): void {
    if (this.#isDirty) return;
    this.#isDirty = true;
    dirty.push(this);
    if (dirty.length === 1) setImmediate(flushDirty);
  }

  /** Who has kept up gets one piece of any size: the last event of a format repeats the rest. */
  #enqueue(text: string): boolean {
    if (this.#queuedBytes > this.#table.bufferBytesMax) {
      const response = this.#response;
      this.#close('slow');
      response?.close();
      return false;
    }
    this.#queue ??= [];
    this.#queue.push(text);
    this.#queuedBytes += Buffer.byteLength(text);
    return true;
  }

  #takeQueued(queue: string[]): string {
    let count = 0;
    let text = '';
    for (const part of queue) {
      if (count > 0 && text.length + part.length > pieceBytesMax) break;
      text += part;
      count += 1;
      this.#queuedBytes -= Buffer.byteLength(part);
    }
    if (count === queue.length) this.#queue = null;
    else queue.splice(0, count);
    return text;
  }

  #finish(text: string): void {
    const response = this.#response;
    if (response === null) return;
    this.#response = null;
    // Before the last byte: who has the whole stream may ask again, and finds its place free.
    endPieces(response, text, () => this.#close('ended'));
  }

  #close(reason: StreamEnd): void {
    if (this.closed) return;
    this.closed = true;
    this.#closeReason = reason;
    this.#response = null;
    this.#pending = '';
    this.#queue = null;
    this.#queuedBytes = 0;
    if (this.index !== -1) this.#table.remove(this);
    this.#closeListener?.(reason);
    this.#drainListener = null;
    this.#closeListener = null;
  }
}
