// Recordings that say of nearly all their sound that it is padding, packet by packet, so that
// players leave it out: Ogg pages that each end the stream early, Matroska blocks to be discarded.

const crcTable = Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ (value < 0 ? 0x04c11db7 : 0);
  return value;
});

/** RFC 3533, section 6: of a page whose own field for it is zero. */
function crcOf(page: Buffer): number {
  let crc = 0;
  for (const byte of page) crc = (crc << 8) ^ (crcTable[((crc >>> 24) ^ byte) & 255] ?? 0);
  return crc >>> 0;
}

/** Each page with sound is marked as the last one, and says that the stream is one sample long. */
export function trimmedOgg(whole: Buffer): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(whole);
  let pages = 0;
  for (let at = 0; at < bytes.length; pages += 1) {
    const segments = bytes.readUInt8(at + 26);
    const lengths = bytes.subarray(at + 27, at + 27 + segments);
    const end = at + 27 + segments + lengths.reduce((sum, length) => sum + length, 0);
    // The first two have the heads of the format.
    if (pages >= 2) {
      bytes.writeUInt8(bytes.readUInt8(at + 5) | 4, at + 5);
      bytes.writeBigInt64LE(1n, at + 6);
    }
    bytes.writeUInt32LE(0, at + 22);
    bytes.writeUInt32LE(crcOf(bytes.subarray(at, end)), at + 22);
    at = end;
  }
  return bytes;
}

const ids = {
  segment: '18538067',
  cluster: '1f43b675',
  simpleBlock: 'a3',
  /** What points at places in the file, and would not any more. */
  places: ['114d9b74', '1c53bb6b', 'ec'],
};

/** An EBML number of one to eight bytes (RFC 8794, section 4): its bytes, and its value. */
function numberAt(bytes: Buffer, at: number): { raw: Buffer; value: number } {
  const first = bytes.readUInt8(at);
  const length = Math.clz32(first) - 23;
  const raw = bytes.subarray(at, at + length);
  const marker = 0x100 >> length;
  const value = raw.subarray(1).reduce((sum, byte) => sum * 256 + byte, first - marker);
  return { raw, value };
}

function* elementsOf(bytes: Buffer): Generator<{ id: string; body: Buffer }> {
  for (let at = 0; at < bytes.length; ) {
    const id = numberAt(bytes, at).raw;
    const { raw, value } = numberAt(bytes, at + id.length);
    const start = at + id.length + raw.length;
    yield { id: id.toString('hex'), body: bytes.subarray(start, start + value) };
    at = start + value;
  }
}

function element(id: string, body: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE((1n << 56n) | BigInt(body.length));
  return Buffer.concat([Buffer.from(id, 'hex'), length, body]);
}

/** Each block says that its 20 ms are to be discarded (RFC 9559, DiscardPadding). */
export function trimmedWebm(whole: Buffer): Buffer<ArrayBuffer> {
  const nanoseconds = Buffer.alloc(8);
  nanoseconds.writeBigInt64BE(20_000_000n);
  const parts: Buffer[] = [];
  for (const { id, body } of elementsOf(whole)) {
    if (ids.places.includes(id)) continue;
    if (id === ids.segment || id === ids.cluster) parts.push(element(id, trimmedWebm(body)));
    else if (id !== ids.simpleBlock) parts.push(element(id, body));
    else {
      const group = Buffer.concat([element('a1', body), element('75a2', nanoseconds)]);
      parts.push(element('a0', group));
    }
  }
  return Buffer.concat(parts);
}
