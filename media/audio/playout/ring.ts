// Audio that waits to be sent, oldest first, by reference: a burst costs no copy. Small pieces are
// gathered into blocks: a view of 1 KB may hold a large buffer in memory that nobody counts.
import { strict as assert } from 'node:assert';

/** 160 ms at 24 kHz. */
const blockBytes = 7_680;
/** So many dead pieces at the front are no reason to move the others. */
const deadMax = 64;

interface Piece<T> {
  readonly owner: T;
  readonly bytes: Uint8Array;
  start: number;
  end: number;
}

/** A view that is most of its buffer is kept as it is. */
function isWorthKeeping(bytes: Uint8Array): boolean {
  return bytes.byteLength >= blockBytes / 2 && 2 * bytes.byteLength >= bytes.buffer.byteLength;
}

/** A queue of bytes; each byte belongs to an owner, here an item of a conversation. */
export class Ring<T> {
  #pieces: Piece<T>[] = [];
  #head = 0;
  /** Where small pieces are gathered, filled up to `#filled`. */
  #block: Uint8Array | null = null;
  #filled = 0;
  #byteLength = 0;

  get byteLength(): number {
    return this.#byteLength;
  }

  /** The owner of the next byte; null: the ring is empty. */
  get owner(): T | null {
    return this.#pieces[this.#head]?.owner ?? null;
  }

  /** Keeps `bytes`, which nobody may change from here on. */
  push(owner: T, bytes: Uint8Array): void {
    this.#byteLength += bytes.byteLength;
    if (isWorthKeeping(bytes)) {
      this.#pieces.push({ owner, bytes, start: 0, end: bytes.byteLength });
      return;
    }
    for (let taken = 0; taken < bytes.byteLength; ) {
      taken += this.#gather(owner, taken === 0 ? bytes : bytes.subarray(taken));
    }
  }

  /** Copies what fits into a block, and answers how much that is. */
  #gather(owner: T, bytes: Uint8Array): number {
    if (this.#block === null || this.#filled === blockBytes) {
      this.#block = new Uint8Array(blockBytes);
      this.#filled = 0;
    }
    const block = this.#block;
    const start = this.#filled;
    const length = Math.min(bytes.byteLength, blockBytes - start);
    block.set(length === bytes.byteLength ? bytes : bytes.subarray(0, length), start);
    this.#filled += length;
    const last = this.#pieces.at(-1);
    if (last !== undefined && last.bytes === block && last.owner === owner && last.end === start) {
      last.end += length;
    } else {
      this.#pieces.push({ owner, bytes: block, start, end: start + length });
    }
    return length;
  }

  /** Bytes of the owner of the next byte, up to the first one of another; `max` at most. */
  available(max: number): number {
    const { owner } = this;
    let bytes = 0;
    for (let index = this.#head; bytes < max; index++) {
      const piece = this.#pieces[index];
      if (piece === undefined || piece.owner !== owner) break;
      bytes += piece.end - piece.start;
    }
    return Math.min(bytes, max);
  }

  /** Whether bytes of another owner wait as well. */
  get hasNextOwner(): boolean {
    return this.owner !== (this.#pieces.at(-1)?.owner ?? null);
  }

  /** The next bytes, at most what is available. Within a piece: a view; over several: a copy. */
  take(length: number): Uint8Array {
    const first = this.#pieces[this.#head];
    assert(first !== undefined && length > 0, 'there is something to take');
    if (first.end - first.start >= length) {
      const { bytes, start } = first;
      this.#consume(first, length);
      return bytes.subarray(start, start + length);
    }
    const taken = new Uint8Array(length);
    for (let filled = 0; filled < length; ) {
      const piece = this.#pieces[this.#head];
      assert(piece !== undefined, 'no more is taken than there is');
      const part = Math.min(length - filled, piece.end - piece.start);
      taken.set(piece.bytes.subarray(piece.start, piece.start + part), filled);
      filled += part;
      this.#consume(piece, part);
    }
    return taken;
  }

  clear(): void {
    this.#pieces = [];
    this.#head = 0;
    this.#block = null;
    this.#byteLength = 0;
  }

  /** Moves the front of the first piece, and now and then frees the space of those before it. */
  #consume(first: Piece<T>, length: number): void {
    first.start += length;
    this.#byteLength -= length;
    if (first.start < first.end) return;
    this.#head += 1;
    if (this.#byteLength === 0) {
      this.clear();
    } else if (this.#head >= deadMax && 2 * this.#head >= this.#pieces.length) {
      this.#pieces = this.#pieces.slice(this.#head);
      this.#head = 0;
    }
  }
}
