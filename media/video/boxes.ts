// The outermost boxes of ISO media (ISO/IEC 14496-12, 4.2). A file that was cut, has no index or
// has thousands of streams is known by them before a program spends anything on it.
import type { VideoFault } from './faults.ts';

/** A generated minute has 100 KB of index, ten minutes of a hundred frames a second 2 MB. */
const indexBytesMax = 16 * 1_024 * 1_024;
/** Ten minutes with a fragment for each frame. */
const boxesMax = 100_000;
/** Also what the programs are told. */
export const streamsMax = 16;
const shortHeaderBytes = 8;
const longHeaderBytes = 16;

/** Reads at most so many bytes from there: fewer at the end of the file. */
export type ReadAt = (at: number, bytes: number) => Buffer;

interface Box {
  type: string;
  headerBytes: number;
  /** With its header. */
  bytes: number;
}

/** What is wrong with a file of so many bytes; null: nothing that its boxes tell. */
export function faultOfBoxes(read: ReadAt, fileBytes: number): VideoFault | null {
  let hasIndex = false;
  let at = 0;
  for (let boxes = 0; at + shortHeaderBytes <= fileBytes; boxes++) {
    if (boxes === boxesMax) return 'index_too_large';
    const box = boxAt(read(at, longHeaderBytes), 0, fileBytes - at);
    if (box === null) return 'unreadable';
    if (box.bytes > fileBytes - at) return 'cut';
    if (box.type === 'moov') {
      if (box.bytes > indexBytesMax) return 'index_too_large';
      if (tracksIn(read(at, box.bytes), box.headerBytes) > streamsMax) return 'too_many_streams';
      hasIndex = true;
    }
    at += box.bytes;
  }
  return hasIndex ? null : 'no_index';
}

/** `rest`: how many bytes there are from its first on. Null: it is no box. */
function boxAt(bytes: Buffer, at: number, rest: number): Box | null {
  if (bytes.length - at < shortHeaderBytes) return null;
  const announced = bytes.readUInt32BE(at);
  const type = bytes.toString('latin1', at + 4, at + 8);
  // To the end of the file.
  if (announced === 0) return { type, headerBytes: shortHeaderBytes, bytes: rest };
  const isLong = announced === 1;
  if (isLong && bytes.length - at < longHeaderBytes) return null;
  const headerBytes = isLong ? longHeaderBytes : shortHeaderBytes;
  const length = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : announced;
  return length < headerBytes ? null : { type, headerBytes, bytes: length };
}

function tracksIn(index: Buffer, from: number): number {
  let tracks = 0;
  for (let at = from; at + shortHeaderBytes <= index.length; ) {
    const box = boxAt(index, at, index.length - at);
    if (box === null) break;
    if (box.type === 'trak') tracks += 1;
    at += box.bytes;
  }
  return tracks;
}
