// The one kind of WAV that is written and read without ffmpeg: 16-bit PCM, mono.

const headerBytes = 44;

/** `dataBytes` null: not known, as streamed WAV says it. */
export function wavHeader(rateHz: number, dataBytes: number | null): Buffer {
  const header = Buffer.alloc(headerBytes);
  const unknown = 0xffff_ffff;
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(dataBytes === null ? unknown : dataBytes + headerBytes - 8, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rateHz, 24);
  header.writeUInt32LE(rateHz * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes ?? unknown, 40);
  return header;
}

/** Null: not a file of this kind; ffmpeg may still know it. */
export function readWav(bytes: Buffer): { rateHz: number; pcm: Buffer } | null {
  if (bytes.length < headerBytes || bytes.toString('latin1', 0, 4) !== 'RIFF') return null;
  if (bytes.toString('latin1', 8, 16) !== 'WAVEfmt ') return null;
  const [format, channels] = [bytes.readUInt16LE(20), bytes.readUInt16LE(22)];
  if (format !== 1 || channels !== 1 || bytes.readUInt16LE(34) !== 16) return null;
  let at = 20 + bytes.readUInt32LE(16);
  while (at + 8 <= bytes.length) {
    const length = bytes.readUInt32LE(at + 4);
    if (bytes.toString('latin1', at, at + 4) === 'data') {
      // Not known when it began: other writers of streams say so.
      if (length === 0) return null;
      const end = Math.min(bytes.length, at + 8 + length);
      return { rateHz: bytes.readUInt32LE(24), pcm: bytes.subarray(at + 8, end) };
    }
    at += 8 + length + (length % 2);
  }
  return null;
}
