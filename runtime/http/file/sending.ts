// A file on its way to one client. Pieces are read as the client takes them, so no more than one is
// in memory. The surprise: uWS closes after 10 s without room, and tells of room when a third of
// the socket's buffer is free. Who reads slowly is therefore given what fits every few seconds.
import type { HttpResponse } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { fixedLimits } from '../../limits.ts';
import { TransientSet } from '../../transient.ts';
import { atTurnEnd } from '../../turns.ts';
import { sendKept } from '../pieces.ts';
import type { Ticker, Ticking } from '../ticker.ts';

export interface FileLimits {
  /** A client that takes nothing for this long is cut. */
  fileStalledMs: number;
  /** A reader that brings no piece in this time has failed. */
  fileReadMs: number;
}

/** The files that one server is sending. */
export interface FileTable extends Ticking {
  readonly clock: () => Ticker;
  readonly limits: FileLimits;
  add(file: FileSending): void;
  remove(file: FileSending): void;
}

export interface FileSource {
  /** How many bytes are sent: neither more nor fewer, or the connection is cut. */
  bytes: number;
  /** Called once, when the sending begins. */
  read(): AsyncIterable<Uint8Array>;
  /** Writes status line and headers; called corked, with the first piece at hand. */
  begin(response: HttpResponse): void;
  /** Nothing was sent, and nothing will be. */
  refuse(error: unknown): void;
  /** Called corked with the last byte, before it leaves. */
  ended(): void;
  /** The connection is to be cut; null: the client took nothing. */
  failed(error: unknown): void;
}

const { pieceBytesMax, turnBytesMax } = fixedLimits.file;
/** Larger ones keep their last byte back, until the socket has taken the others. */
const wholeBytesMax = 2 * 1024;
/** A client is given what fits so many times before it is cut: each 3 s, of the 8 of uWS. */
const triesPerStall = 10;

export function createFileTable(clock: () => Ticker, limits: FileLimits): FileTable {
  const files = new TransientSet<FileSending>();
  return {
    clock,
    limits,
    add: (file) => files.add(file),
    remove: (file) => files.delete(file),
    tick(now) {
      for (const file of [...files]) file.tick(now);
    },
  };
}

export class FileSending {
  closed = false;
  readonly #table: FileTable;
  readonly #response: HttpResponse;
  readonly #source: FileSource;
  readonly #stalledTicks: number;
  readonly #readTicks: number;
  #pieces: AsyncIterator<Uint8Array> | null = null;
  #hasBegun = false;
  /** What was read, and what uWS has taken of it. */
  #readBytes = 0;
  #sentBytes = 0;
  #turnBytes = 0;
  #piece: Uint8Array | null = null;
  /** When the client last took a byte, or when the wait for a piece began. */
  #sinceTick: number;
  #wake: (() => void) | null = null;

  constructor(table: FileTable, response: HttpResponse, source: FileSource) {
    this.#table = table;
    this.#response = response;
    this.#source = source;
    const clock = table.clock();
    this.#stalledTicks = clock.ticksOf(table.limits.fileStalledMs);
    this.#readTicks = clock.ticksOf(table.limits.fileReadMs);
    this.#sinceTick = clock.now;
    table.add(this);
    response.onWritable(() => {
      this.#writable();
      return true;
    });
  }

  /** Sends all of it. Never rejects. */
  async run(): Promise<void> {
    try {
      const pieces = this.#source.read()[Symbol.asyncIterator]();
      this.#pieces = pieces;
      while (!this.closed) {
        const piece = await this.#read(pieces);
        if (this.closed) return;
        this.#piece = piece;
        this.#send();
        if (this.#piece !== null) await this.#taken();
        if (this.#turnBytes > turnBytesMax) await this.#nextTurn();
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The client has gone, or the server closes. */
  abort(): void {
    this.#close();
  }

  tick(now: number): void {
    const waitedTicks = now - this.#sinceTick;
    if (this.#piece === null) {
      if (waitedTicks > this.#readTicks) this.#fail(new Error('the reader of a file is late'));
      return;
    }
    const isTry = waitedTicks % Math.ceil(this.#stalledTicks / triesPerStall) === 0;
    if (isTry || waitedTicks > this.#stalledTicks) this.#writable();
    if (!this.closed && this.#piece !== null && now - this.#sinceTick > this.#stalledTicks) {
      this.#fail(null);
    }
  }

  async #read(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
    const { bytes } = this.#source;
    this.#sinceTick = this.#table.clock().now;
    const { done, value } = await pieces.next();
    if (done === true) throw new Error(`a file ended after ${this.#readBytes} of ${bytes} bytes`);
    assert(value.length <= pieceBytesMax, `a piece of ${value.length} bytes`);
    this.#readBytes += value.length;
    // A reader that finds at its end that something is wrong is heard before its last byte leaves.
    const isMore = this.#readBytes === bytes && (await pieces.next()).done !== true;
    assert(!isMore && this.#readBytes <= bytes, `more than ${bytes} bytes of a file`);
    return value;
  }

  /** Gives uWS the piece, or what it takes of it. */
  #send(): void {
    const response = this.#response;
    while (this.#piece !== null && !this.closed) {
      const piece = this.#piece;
      const leftBytes = this.#source.bytes - this.#sentBytes;
      const isKept = piece.length === leftBytes && piece.length > 1 && leftBytes > wholeBytesMax;
      const part = isKept ? piece.subarray(0, -1) : piece;
      let takenBytes = part.length;
      response.cork(() => {
        if (!this.#hasBegun) this.#source.begin(response);
        this.#hasBegun = true;
        const [isTaken] = response.tryEnd(part, this.#source.bytes);
        if (!isTaken) takenBytes = response.getWriteOffset() - this.#sentBytes;
        else if (part.length === leftBytes) this.#end();
      });
      if (this.closed) return;
      if (takenBytes > 0) this.#sinceTick = this.#table.clock().now;
      this.#sentBytes += takenBytes;
      this.#turnBytes += takenBytes;
      this.#piece = takenBytes === piece.length ? null : piece.subarray(takenBytes);
      if (takenBytes < part.length) return;
    }
  }

  #writable(): void {
    if (this.closed) return;
    if (this.#piece === null) sendKept(this.#response);
    else this.#send();
    if (this.#piece === null) this.#wakeUp();
  }

  #taken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** A reader that has all at hand must not keep the others of its thread waiting. */
  #nextTurn(): Promise<void> {
    this.#turnBytes = 0;
    return new Promise(atTurnEnd);
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = null;
  }

  #end(): void {
    this.#close();
    this.#source.ended();
  }

  #fail(error: unknown): void {
    if (this.closed) return;
    this.#close();
    if (this.#hasBegun) this.#source.failed(error);
    else this.#source.refuse(error);
  }

  #close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#piece = null;
    this.#table.remove(this);
    this.#wakeUp();
    // It frees what it holds. An error of that is no error of a reply that is over.
    this.#pieces?.return?.().catch(() => undefined);
  }
}
