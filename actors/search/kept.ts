// What a place keeps of results, packed, so that its size is known and nobody changes what others
// are told. The least recently used goes when the bytes are too many.
import { Packr } from 'msgpackr';
import type { SearchResult } from './contract.ts';

interface Kept {
  bytes: Buffer;
  madeAtMs: number;
}

/** What an entry weighs beside its bytes: the key and the objects. */
const entryBytes = 512;
const packr = new Packr({ useRecords: false, moreTypes: true, int64AsType: 'bigint' });

export class KeptResults {
  readonly #bytesMax: number;
  readonly #byKey = new Map<string, Kept>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** A result of at most this age; one that was made after now is of a clock that was set back. */
  take(key: string, ageMsMax: number, nowMs: number): SearchResult | null {
    const kept = this.#byKey.get(key);
    if (kept === undefined) return null;
    const ageMs = nowMs - kept.madeAtMs;
    if (ageMs < 0 || ageMs > ageMsMax) return null;
    this.#byKey.delete(key);
    this.#byKey.set(key, kept);
    return packr.unpack(kept.bytes) as SearchResult;
  }

  put(key: string, result: SearchResult): void {
    this.#drop(key);
    // A copy of its own size: what is packed is a part of a longer buffer.
    const packed = packr.pack(result);
    const bytes = Buffer.allocUnsafeSlow(packed.length);
    bytes.set(packed);
    if (bytes.length + entryBytes > this.#bytesMax) return;
    this.#byKey.set(key, { bytes, madeAtMs: result.madeAtMs });
    this.#bytes += bytes.length + entryBytes;
    for (const oldest of this.#byKey.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
  }

  /** Drops what is older than this. */
  sweep(ageMsMax: number, nowMs: number): void {
    for (const [key, { madeAtMs }] of this.#byKey) {
      if (nowMs - madeAtMs > ageMsMax) this.#drop(key);
    }
  }

  #drop(key: string): void {
    const kept = this.#byKey.get(key);
    if (kept === undefined) return;
    this.#byKey.delete(key);
    this.#bytes -= kept.bytes.length + entryBytes;
  }
}

/** Whether others may be told it: no failure, nothing that lacks a part. */
export function isKeepable({ state, answer }: SearchResult): boolean {
  return state === 'found' && answer !== null;
}
