// What an error of the file system means for an object.
import type { FileHandle } from 'node:fs/promises';
import { BlobFault } from './contract.ts';

/** Whoever runs the service has to make room, or to mend the folder's rights. */
const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EFBIG']);

/** The disk is full, or the folder cannot be written. */
export function isFull(error: unknown): boolean {
  return fullCodes.has(codeOf(error));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | null)?.code ?? 'unknown';
}

export function isAbsent(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

/** @throws BlobFault full, unreachable */
export async function writing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof BlobFault) throw cause;
    if (!isFull(cause)) throw unreachable(cause);
    const message = `the disk is full or the folder read-only (${codeOf(cause)})`;
    throw new BlobFault('full', message, { cause });
  }
}

/** @throws BlobFault missing, unreachable */
export async function reading<T>(work: () => Promise<T>, id: string): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw isAbsent(cause) ? new BlobFault('missing', `${id} is not there`) : unreachable(cause);
  }
}

function unreachable(cause: unknown): BlobFault {
  return new BlobFault('unreachable', `the store cannot be reached (${codeOf(cause)})`, { cause });
}

/** A file that was read, or is thrown away, has nothing to lose. */
export async function closeQuietly(handle: FileHandle): Promise<void> {
  await handle.close().catch(() => undefined);
}

/**
 * Fills the buffer from a place in the file.
 * @throws BlobFault damaged where the file ends before, unreachable
 */
export async function readExactly(
  handle: FileHandle,
  buffer: Buffer,
  position: number,
  id: string,
): Promise<void> {
  let filled = 0;
  while (filled < buffer.length) {
    const left = buffer.length - filled;
    const read = () => handle.read(buffer, filled, left, position + filled);
    const { bytesRead } = await reading(read, id);
    if (bytesRead === 0) throw new BlobFault('damaged', `${id} has been cut`);
    filled += bytesRead;
  }
}

/** Writes all of the buffers to a place in the file. */
export async function writeExactly(
  handle: FileHandle,
  buffers: readonly Buffer[],
  position: number,
): Promise<void> {
  let at = position;
  for (const buffer of buffers) {
    let written = 0;
    while (written < buffer.length) {
      const { bytesWritten } = await handle.write(buffer, written, buffer.length - written, at);
      written += bytesWritten;
      at += bytesWritten;
    }
  }
}
