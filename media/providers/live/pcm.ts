// Audio as text: base64 ↔ pcm_s16le. A piece with an odd number of bytes cuts a sample in two: its
// second half comes with the next piece of the same item.
import type { LiveEvent } from './contract.ts';
import { asBuffer } from './message.ts';

/** Bytes of one millisecond of 24 kHz mono. */
const bytesPerMs = 48;
/** 80 ms: shorter pieces are gathered by the playout's ring. */
const ownBytesMin = 3_840;

/** Null: this is not base64. Both alphabets; padding is optional (RFC 4648, 4 and 5). */
export function decodeBase64(text: string): Buffer | null {
  let length = text.length;
  while (length > 0 && text.charCodeAt(length - 1) === 0x3d) length -= 1;
  if (length % 4 === 1) return null;
  const byteLength = (length * 3) >> 2;
  // What shares no memory with others the playout keeps as it is, else it would be copied.
  const isOwn = byteLength >= ownBytesMin;
  const bytes = isOwn ? Buffer.allocUnsafeSlow(byteLength) : Buffer.allocUnsafe(byteLength);
  // Node skips what is not of the alphabet: too few bytes come out.
  return bytes.write(text, 'base64') === bytes.length ? bytes : null;
}

export function encodeBase64(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('base64');
}

export function unheard(pcm: Uint8Array): LiveEvent[] {
  return [{ type: 'unheard', durationMs: pcm.length / bytesPerMs }];
}

/** The audio of one item as far as it came. */
export class ItemAudio {
  bytes = 0;
  /** First half of a sample whose second half has not come, or null. */
  #half: number | null = null;

  /** Whole milliseconds. */
  get lengthMs(): number {
    return Math.floor(this.bytes / bytesPerMs);
  }

  /** Whole samples; they may be none. */
  add(piece: Buffer): Buffer {
    let whole = piece;
    if (this.#half !== null || piece.length % 2 !== 0) whole = this.#join(piece);
    this.bytes += whole.length;
    return whole;
  }

  #join(piece: Buffer): Buffer {
    const joined = this.#half === null ? piece : Buffer.concat([Buffer.of(this.#half), piece]);
    const isOdd = joined.length % 2 !== 0;
    this.#half = isOdd ? (joined.at(-1) ?? null) : null;
    return isOdd ? joined.subarray(0, -1) : joined;
  }
}
