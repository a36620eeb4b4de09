// Frames between nodes as MessagePack bytes. Record structures are sent once and then named, so the
// two ends of a link must see the same bytes in the same order; after a failure both start anew.
import { addExtension, Packr } from 'msgpackr';
import type { AskFailure } from '../actor/contract.ts';
import { MovedBytes } from './moved.ts';

/** What a frame is; its place 0. */
export const frameType = { tell: 0, ask: 1, reply: 2, failure: 3 } as const;

export type TellFrame = [type: 0, kind: string, id: string, message: string, payload: unknown];
export type AskFrame = [
  type: 1,
  kind: string,
  id: string,
  message: string,
  payload: unknown,
  key: number,
];
export type ReplyFrame = [type: 2, key: number, value: unknown];
export type FailureFrame = [type: 3, key: number, reason: AskFailure];
export type Frame = TellFrame | AskFrame | ReplyFrame | FailureFrame;

/** Buffers that travel beside the batch that is written or read: it has only their places. */
let beside: ArrayBuffer[] = [];

addExtension({
  Class: MovedBytes,
  type: 0x4d,
  write: ({ bytes }: MovedBytes) => beside.push(bytes.buffer) - 1,
  read: (place: number) => new MovedBytes(new Uint8Array(beside[place] ?? new ArrayBuffer(0))),
});

// bigint travels as (u)int64, or as an extension beyond it, and always comes back as bigint.
// Bytes come back as a view of the batch that carried them, without a copy.
function createPackr(): Packr {
  // A fresh object each time: the constructor keeps the table of structures in its options.
  return new Packr({
    sequential: true,
    useRecords: true,
    moreTypes: true,
    int64AsType: 'bigint',
    copyBuffers: false,
  });
}

/** A batch as it goes through a port: small ones as Latin-1 text, one character a byte. */
export type Batch = string | Uint8Array<ArrayBuffer> | LoadedBatch;

/** A batch and the buffers that move with it. */
export interface LoadedBatch {
  bytes: Uint8Array<ArrayBuffer>;
  moved: ArrayBuffer[];
  /** Of all of them. */
  length: number;
}

/** What a port is to transfer instead of copying. */
export function transferOf(batch: Batch): ArrayBuffer[] {
  if (typeof batch === 'string') return [];
  return 'moved' in batch ? [batch.bytes.buffer, ...batch.moved] : [batch.buffer];
}

// A port takes text 2 µs faster than bytes, which need a buffer object on either side (measured:
// round trip 7.2 against 9.5 µs with both loops awake); beyond this the copies cost more.
const textBytesMax = 4_096;

export class FrameEncoder {
  #packr = createPackr();

  /** One batch; its `length` is its size in bytes. Throws on values that are no plain data. */
  encode(frames: Frame[]): Batch {
    beside = [];
    const packed = this.#packr.pack(frames);
    if (beside.length > 0) return loaded(new Uint8Array(packed), beside);
    if (packed.length <= textBytesMax) return packed.toString('latin1');
    return new Uint8Array(packed);
  }

  /** Forgets the structures; the decoder must be reset at the same place of the stream. */
  reset(): void {
    this.#packr = createPackr();
  }
}

function loaded(bytes: Uint8Array<ArrayBuffer>, moved: ArrayBuffer[]): LoadedBatch {
  const length = moved.reduce((sum, { byteLength }) => sum + byteLength, bytes.length);
  return { bytes, moved, length };
}

export class FrameDecoder {
  #packr = createPackr();

  decode(batch: Batch): Frame[] {
    const isLoaded = typeof batch !== 'string' && 'moved' in batch;
    beside = isLoaded ? batch.moved : [];
    const plain = isLoaded ? batch.bytes : batch;
    // As a Buffer in either case, since strings decode faster from one.
    const bytes =
      typeof plain === 'string' ? Buffer.from(plain, 'latin1') : Buffer.from(plain.buffer);
    return this.#packr.unpack(bytes);
  }

  reset(): void {
    this.#packr = createPackr();
  }
}
