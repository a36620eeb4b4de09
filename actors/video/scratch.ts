// The folder of videos that are looked at before they are stored, under TOLLGATE_DATA.
import { rm } from 'node:fs/promises';
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
