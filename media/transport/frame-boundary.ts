// Where the frames end that a WebSocket server sends (RFC 6455, section 5.2). A message that came
// in one piece needs no parser then.

const finalText = 0x81;
const finalBinary = 0x82;
const finalBit = 0x80;
const controlOpcodes = 0x08;
const maskBit = 0x80;
const length16 = 126;
const length64 = 127;
const headBytesMax = 14;

/** Bytes of a frame's head as its second byte says. */
function headBytes(second: number): number {
  const length = second & ~maskBit;
  const extended = length === length16 ? 2 : length === length64 ? 8 : 0;
  return 2 + extended + (second & maskBit ? 4 : 0);
}

/** What follows a whole head. */
function payloadBytes(head: Buffer): number {
  const length = (head[1] ?? 0) & ~maskBit;
  if (length === length16) return head.readUInt16BE(2);
  return length === length64 ? Number(head.readBigUInt64BE(2)) : length;
}

/** Follows a stream of frames from its first byte on. */
export class FrameBoundary {
  /** Of the frame that is being passed. */
  #left = 0;
  /** As far as it came; empty: none is on its way. */
  #head = Buffer.alloc(0);
  /** A message in fragments has begun. */
  #isFragmented = false;

  /** The next byte is the first one of a message, or of a control frame. */
  get isReached(): boolean {
    return this.#left === 0 && this.#head.length === 0 && !this.#isFragmented;
  }

  /** Follows bytes that somebody else reads. */
  pass(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left === 0) at += this.#passHead(bytes.subarray(at));
      const step = Math.min(this.#left, bytes.length - at);
      this.#left -= step;
      at += step;
    }
  }

  /** Returns how many of the bytes belong to the head. */
  #passHead(bytes: Buffer): number {
    const before = this.#head.length;
    const known = Buffer.concat([this.#head, bytes.subarray(0, headBytesMax)]);
    const first = known[0] ?? 0;
    const second = known[1];
    const wanted = second === undefined ? Number.POSITIVE_INFINITY : headBytes(second);
    if (known.length < wanted) {
      this.#head = known;
      return bytes.length;
    }
    this.#head = Buffer.alloc(0);
    this.#left = payloadBytes(known.subarray(0, wanted));
    if ((first & controlOpcodes) === 0) this.#isFragmented = (first & finalBit) === 0;
    return wanted - before;
  }
}

/**
 * The message with which the bytes begin, a view: one frame, neither masked nor compressed, and all
 * of it is there. Null: they begin with anything else. Only at a border.
 */
export function wholeMessage(bytes: Buffer): { message: Buffer; frameBytes: number } | null {
  const first = bytes[0];
  const second = bytes[1] ?? maskBit;
  if ((first !== finalText && first !== finalBinary) || (second & maskBit) !== 0) return null;
  const start = headBytes(second);
  if (bytes.length < start) return null;
  const frameBytes = start + payloadBytes(bytes);
  if (bytes.length < frameBytes) return null;
  return { message: bytes.subarray(start, frameBytes), frameBytes };
}
