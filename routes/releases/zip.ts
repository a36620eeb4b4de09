// Whether bytes are a ZIP that programs can open: its end, its directory and the head of each file
// (APPNOTE 6.3.10, 4.3). Nothing is unpacked. Pure.

const endSignature = 0x06054b50;
const directorySignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const commentMax = 65_535;
const directoryBytes = 46;
const filesMax = 10_000;

/** Null: it is one. Otherwise what is wrong with it. */
export function zipFault(bytes: Uint8Array): string | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endOf(view);
  if (end === null) return 'It has no end of a ZIP.';
  const count = view.readUInt16LE(end + 10);
  const size = view.readUInt32LE(end + 12);
  const begin = view.readUInt32LE(end + 16);
  if (view.readUInt16LE(end + 4) !== 0 || view.readUInt16LE(end + 8) !== count) {
    return 'It is a part of several.';
  }
  if (count === 0) return 'It has no file.';
  if (count > filesMax) return `It has more than ${filesMax} files.`;
  if (begin + size > end) return 'Its directory is not within it.';
  return directoryFault(view, { at: begin, end: begin + size, count });
}

/** Behind it is a comment at most. */
function endOf(view: Buffer): number | null {
  const last = view.length - endBytes;
  for (let at = last; at >= Math.max(0, last - commentMax); at -= 1) {
    if (view.readUInt32LE(at) !== endSignature) continue;
    if (at + endBytes + view.readUInt16LE(at + 20) === view.length) return at;
  }
  return null;
}

function directoryFault(
  view: Buffer,
  directory: { at: number; end: number; count: number },
): string | null {
  let { at } = directory;
  for (let index = 0; index < directory.count; index += 1) {
    if (at + directoryBytes > directory.end || view.readUInt32LE(at) !== directorySignature) {
      return 'Its directory is damaged.';
    }
    const packedBytes = view.readUInt32LE(at + 20);
    const local = view.readUInt32LE(at + 42);
    const nameLength = view.readUInt16LE(at + 28);
    const name = view.toString('utf8', at + directoryBytes, at + directoryBytes + nameLength);
    if (/^[\\/]|(?:^|[\\/])\.\.(?:[\\/]|$)|^[A-Za-z]:/.test(name)) {
      return 'A file of it would be unpacked elsewhere.';
    }
    const isThere = local + 30 + packedBytes <= directory.at && local + 4 <= view.length;
    if (!isThere || view.readUInt32LE(local) !== localSignature)
      return 'A file of it is not there.';
    const moreLength = view.readUInt16LE(at + 30) + view.readUInt16LE(at + 32);
    at += directoryBytes + nameLength + moreLength;
  }
  return null;
}
