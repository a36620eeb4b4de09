// What files say of their own length, and how a program is told not to believe it. Who cuts a file
// by its header has the whole of it sent to a provider all the same.
import type { Container } from './container.ts';

const chunkHeaderBytes = 8;
const firstChunkAt = 12;
/** Data chunks of a stream, whose length was not known when it began: all that follows is sound. */
const unknownLengths = [0, 0xffff_ffff];

/** Options of the programs that let them find all the sound that is in a file. */
export function readOptionsOf(container: Container, bytes: Buffer): string[] {
  // An edit list may show any part of what is there, and also leaves out the encoder's delay.
  if (container === 'mp4') return ['-ignore_editlist', '1'];
  // Ogg pages and Matroska blocks may call any of their sound padding.
  if (container === 'ogg' || container === 'webm') return ['-flags2', '+skip_manual'];
  if (container === 'wav' && hasStrayBytes(bytes)) return ['-ignore_length', '1'];
  return [];
}

/** Of Matroska: the first sound of a WebM stands in one. */
const clusterId = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);

/**
 * Whether a file that no program can read is a recording that was stopped before it began: its
 * head, as browsers and encoders write it, and no place in it that could have sound.
 */
export function holdsNothing(container: Container, bytes: Buffer): boolean {
  switch (container) {
    case 'webm':
      return bytes.subarray(0, 64).includes('webm') && !bytes.includes(clusterId);
    case 'ogg':
      return bytes.includes('OpusTags') && bytes.indexOf('OggS', bytes.indexOf('OpusTags')) === -1;
    case 'mp4':
      return bytes.includes('moov') && !bytes.includes('trak') && !bytes.includes('moof');
    case 'mp3':
      return countsNoFrames(bytes);
    default:
      return false;
  }
}

/** The frame that encoders put before the first one says how many follow: none. */
function countsNoFrames(bytes: Buffer): boolean {
  const at = Math.max(bytes.indexOf('Info'), bytes.indexOf('Xing'));
  const hasCount = at !== -1 && at + 12 <= bytes.length && (bytes.readUInt32BE(at + 4) & 1) === 1;
  return hasCount && bytes.readUInt32BE(at + 8) === 0;
}

/** Programs differ in which of several data chunks is the sound of a WAV: it must have one. */
export function isAmbiguous(container: Container, bytes: Buffer): boolean {
  if (container !== 'wav') return false;
  let hasData = false;
  for (const { id, length } of chunksOf(bytes)) {
    if (id !== 'data') continue;
    if (hasData) return true;
    hasData = true;
    if (unknownLengths.includes(length)) return false;
  }
  return false;
}

/** Whether a WAV goes on after its data with something that is no chunk, so more of the sound. */
function hasStrayBytes(bytes: Buffer): boolean {
  let hasData = false;
  for (const { id, length, end } of chunksOf(bytes)) {
    const isData = id === 'data';
    if (isData && (unknownLengths.includes(length) || end >= bytes.length)) return false;
    if (hasData && (end > bytes.length || !/^[ -~]{4}$/.test(id))) return true;
    hasData ||= isData;
  }
  return false;
}

/** What can be read as chunks, whether it is meant as such or not. */
function* chunksOf(bytes: Buffer): Generator<{ id: string; length: number; end: number }> {
  let at = firstChunkAt;
  while (at + chunkHeaderBytes <= bytes.length) {
    const id = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const end = at + chunkHeaderBytes + length;
    yield { id, length, end };
    // Chunks begin at even places (RIFF).
    at = end + (end % 2);
  }
}
