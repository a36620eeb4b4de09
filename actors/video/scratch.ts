// The folder of videos that are looked at, under TOLLGATE_DATA: generated ones before they are
// stored, and sources of analyses.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { preparePrivateFolder } from '../../media/blobs/private-file.ts';

export function videoScratchFolder(dataDir: string): string {
  return join(dataDir, 'video', 'scratch');
}

/** At the start: what a crash left goes, where nobody else can be using it (`isAlone`). */
export async function prepareVideoScratch(dataDir: string, isAlone: boolean): Promise<void> {
  const folder = videoScratchFolder(dataDir);
  if (isAlone) await rm(folder, { recursive: true, force: true });
  await preparePrivateFolder(folder);
}

/** A folder of its own within it, which is there while `use` runs. */
export async function withScratch<T>(
  scratchFolder: string,
  name: string,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(scratchFolder, name);
  // Made with those above it, a read-only one would be told as missing.
  await mkdir(folder, { mode: 0o700 });
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
