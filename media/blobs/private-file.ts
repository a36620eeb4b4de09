// Files that only this service reads, in a folder of TOLLGATE_DATA: written under another name
// until they are whole, and removed by age. Nothing in a name comes from a client.
import { createReadStream, createWriteStream, type ReadStream, type WriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { timeOfId } from '../../runtime/ids.ts';

const partialEnding = '.part';

/** One file that is being written. Never throws: a full disk makes `finish` answer null. */
export interface PrivateWriter {
  /** False: write no more before `onDrain` is called. */
  write(bytes: Uint8Array): boolean;
  /** Its length once it is durable under its name; null: it could not be kept. */
  finish(): Promise<number | null>;
  discard(): void;
}

/** Writes `name` in the folder, which is there. */
export function writePrivateFile(folder: string, name: string, onDrain: () => void): PrivateWriter {
  const path = join(folder, name);
  const partial = path + partialEnding;
  let isLost = false;
  let bytesWritten = 0;
  const file: WriteStream = createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true });
  file.on('drain', onDrain);
  file.on('error', () => {
    isLost = true;
    onDrain();
  });
  const remove = () => rm(partial, { force: true }).catch(() => undefined);
  return {
    write(bytes) {
      if (isLost) return true;
      bytesWritten += bytes.length;
      return file.write(bytes);
    },
    async finish() {
      if (!isLost) {
        await new Promise<void>((resolve) => {
          file.on('close', resolve);
          file.end();
        });
      }
      if (isLost) {
        await remove();
        return null;
      }
      try {
        await rename(partial, path);
        return bytesWritten;
      } catch {
        await remove();
        return null;
      }
    },
    discard() {
      isLost = true;
      file.destroy();
      file.on('close', () => void remove());
    },
  };
}

/** A file as it lies there: who never reads it has nothing to close. */
export interface PrivateFile {
  bytes: number;
  read(): ReadStream;
}

/** Null: it is gone. */
export async function findPrivateFile(folder: string, name: string): Promise<PrivateFile | null> {
  const path = join(folder, name);
  try {
    const { size } = await stat(path);
    return { bytes: size, read: () => createReadStream(path) };
  } catch {
    return null;
  }
}

/** A scratch file that the disk did not take; why is its cause. */
export class ScratchFault extends Error {}

/** A file for a program to read, gone again when the work is done. @throws ScratchFault */
export async function withScratchFile<T>(
  folder: string,
  name: string,
  bytes: Uint8Array,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const path = join(folder, name);
  try {
    await writeFile(path, bytes, { mode: 0o600, flag: 'wx' }).catch((cause: unknown) => {
      throw new ScratchFault('no scratch file', { cause });
    });
    return await work(path);
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

/** Makes the folder, for its owner alone. */
export async function preparePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/**
 * Removes files that are older than `keptMs`, unfinished ones older than `unfinishedMs`. A file is
 * younger than the id that it has for a name: most need no look, of which 100,000 take 3 s of CPU.
 */
export async function sweepPrivateFolder(
  folder: string,
  { keptMs, unfinishedMs }: { keptMs: number; unfinishedMs: number },
): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const nowMs = Date.now();
  let removed = 0;
  for (const name of names) {
    const isPartial = name.endsWith(partialEnding);
    const mostMs = isPartial ? unfinishedMs : keptMs;
    // Not a number where the name is no id.
    const madeMs = timeOfId(isPartial ? name.slice(0, -partialEnding.length) : name);
    if (nowMs - madeMs <= mostMs) continue;
    const path = join(folder, name);
    const ageMs = nowMs - ((await stat(path).catch(() => null))?.mtimeMs ?? nowMs);
    if (ageMs <= mostMs) continue;
    await rm(path, { force: true }).catch(() => undefined);
    removed += 1;
  }
  return removed;
}
