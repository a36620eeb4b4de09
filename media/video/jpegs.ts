// Takes a stream of JPEGs apart (ITU-T T.81, annex B).

const marker = 0xff;
const startOfImage = 0xd8;
const endOfImage = Buffer.from([marker, 0xd9]);
const startOfScan = 0xda;
const lengthBytes = 2;

/** Every whole picture; what follows the last one is dropped. */
export function splitJpegs(bytes: Buffer): Buffer[] {
  const pictures: Buffer[] = [];
  for (let at = 0; bytes[at] === marker && bytes[at + 1] === startOfImage; ) {
    const end = endOf(bytes, at + 2);
    if (end === null) break;
    // A copy of its own: a view would keep all of them in memory, and take them along.
    pictures.push(Buffer.from(bytes.subarray(at, end)));
    at = end;
  }
  return pictures;
}

/** Where the picture ends of which a segment begins there; null: it is not whole. */
function endOf(bytes: Buffer, first: number): number | null {
  let at = first;
  while (at + 2 + lengthBytes <= bytes.length && bytes[at] === marker) {
    const isScan = bytes[at + 1] === startOfScan;
    at += 2 + bytes.readUInt16BE(at + 2);
    if (!isScan) continue;
    // In the scan itself every 255 is followed by a zero or a restart.
    const end = bytes.indexOf(endOfImage, at);
    return end === -1 ? null : end + endOfImage.length;
  }
  return null;
}
