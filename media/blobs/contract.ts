// The store of private objects: videos, and speech that is kept for the owner of a key. What it
// stores is encrypted, and what it gives is what was stored, or a fault.

/**
 * `missing`: there is no such object, or it was removed. `damaged`: its bytes are not those that
 * were stored. `locked`: it is wrapped under a master key that this process has not been given.
 * `full`: the disk is full, or the folder read-only. `unreachable`: any other fault of the store,
 * so the object may still be good. `too_large`: more than `bytesMax` came.
 */
export type BlobFaultReason =
  | 'missing'
  | 'damaged'
  | 'locked'
  | 'full'
  | 'unreachable'
  | 'too_large';

/** Every method of a store rejects with this. A message names no key and no content. */
export class BlobFault extends Error {
  readonly reason: BlobFaultReason;

  constructor(reason: BlobFaultReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BlobFault';
    this.reason = reason;
  }
}

export interface StoredBlob {
  id: string;
  /** The length of what was stored, and its SHA-256 as hex; neither knows of the encryption. */
  bytes: number;
  sha256: string;
}

/** As the object itself says it, authenticated. */
export interface BlobFacts extends StoredBlob {
  storedAtMs: number;
}

/** As the store lists it: nothing of the object was read. */
export interface ListedBlob {
  id: string;
  bytes: number;
  storedAtMs: number;
}

export interface PutBounds {
  bytesMax: number;
  /** Ends the put; it rejects with the reason of the signal. */
  signal: AbortSignal;
  /** An id of prefix `blob`, used once, where a row has to know it before; else one is made. */
  id?: string;
}

export interface BlobStore {
  /**
   * Stores what the stream yields. Once it resolves the object is durable under its id, before it
   * nobody can read it. An error of the stream is passed on as it is, and nothing is left behind.
   */
  put(stream: AsyncIterable<Uint8Array>, bounds: PutBounds): Promise<StoredBlob>;
  /**
   * Bytes `from` (inclusive) to `to` (exclusive) in order, in buffers of at most 64 KiB that belong
   * to the reader. Nothing is opened before the first `next`; `return` closes at any time, as
   * leaving a `for await` does. What is yielded was authenticated.
   */
  read(id: string, from: number, to: number): AsyncGenerator<Buffer, void, undefined>;
  stat(id: string): Promise<BlobFacts>;
  /** Its key first: nothing can be read from what a crash leaves. False: it was not there. */
  remove(id: string): Promise<boolean>;
  /** All objects in no order; with `storedBeforeMs` older ones alone. */
  list(options?: { storedBeforeMs?: number }): AsyncGenerator<ListedBlob, void, undefined>;
  /** Wraps its key under the present master key. False: it was. Its pieces stay as they are. */
  rewrap(id: string): Promise<boolean>;
  /** Removes what puts have left unfinished for longer than this. Returns how many. */
  dropUnfinished(ageMs: number): Promise<number>;
}
