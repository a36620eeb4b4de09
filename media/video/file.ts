// The first look at a video file, without any program, and its hash.
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { faultOfBoxes, type ReadAt } from './boxes.ts';
import { signatureBytes, type VideoContainer, videoContainerOf } from './container.ts';
import type { VideoFault } from './faults.ts';
import type { VideoSource } from './ffmpeg.ts';

const hashedBytesAtOnce = 256 * 1_024;

/** The file with its kind, or what is wrong with it. It blocks its thread for each read. */
export function lookAtFile(
  path: string,
  isTaken: (container: VideoContainer) => boolean,
): VideoSource | VideoFault {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size === 0) return 'empty';
    const read: ReadAt = (at, bytes) => {
      const into = Buffer.alloc(Math.min(bytes, Math.max(0, size - at)));
      return into.subarray(0, readSync(file, into, 0, into.length, at));
    };
    const container = videoContainerOf(read(0, signatureBytes));
    if (container === null || !isTaken(container)) return 'not_video';
    const fault = container.demuxer === 'mov' ? faultOfBoxes(read, size) : null;
    return fault ?? { path, container };
  } finally {
    closeSync(file);
  }
}

/** Reads the whole file, piece by piece. */
export async function hashFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: hashedBytesAtOnce })) {
    const piece = chunk as Buffer;
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
