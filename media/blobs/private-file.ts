// Plain files that only this service reads, in a folder of TOLLGATE_DATA. Programs read them while
// a request lasts, and what is left over goes by age. Nothing in a name comes from a client.
import { createReadStream, type ReadStream } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { timeOfId } from '../../runtime/ids.ts';

/** A file that is not whole yet ends so. */
export const partialEnding = '.part';

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
