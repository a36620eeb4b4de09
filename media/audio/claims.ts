// What files say of their own length, and how a program is told not to believe it. Who cuts a file
// by its header has the whole of it sent to a provider all the same.
import type { Container } from './container.ts';

const chunkHeaderBytes = 8;
const firstChunkAt = 12;
/** Data chunks of a stream, whose length was not known when it began: all that follows is sound. */
const unknownLengths = [0, 0xffff_ffff];

/** Options of the demuxer that let it find all the sound that is in a file. */
export function readOptionsOf(container: Container, bytes: Buffer): string[] {
  // An edit list may show any part of what is there, and also leaves out the encoder's delay.
  if (container === 'mp4') return ['-ignore_editlist', '1'];
  if (container === 'wav' && hasStrayBytes(bytes)) return ['-ignore_length', '1'];
  return [];
}

/** Whether a WAV goes on after its data with something that is no chunk, so more of the sound. */
function hasStrayBytes(bytes: Buffer): boolean {
  let hasData = false;
  let at = firstChunkAt;
  while (at + chunkHeaderBytes <= bytes.length) {
    const id = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const end = at + chunkHeaderBytes + length;
    const isData = id === 'data';
    if (isData && (unknownLengths.includes(length) || end >= bytes.length)) return false;
    if (hasData && (end > bytes.length || !/^[ -~]{4}$/.test(id))) return true;
    hasData ||= isData;
    // Chunks begin at even places (RIFF).
    at = end + (end % 2);
  }
  return false;
}
