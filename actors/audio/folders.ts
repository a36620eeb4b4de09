// The private folders of audio under TOLLGATE_DATA. They hold recordings while programs read them,
// the programs' own files, and speech that a build without a blob store kept, for its last day.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { preparePrivateFolder, sweepPrivateFolder } from '../../media/blobs/private-file.ts';

export interface AudioFolders {
  scratch: string;
  kept: string;
  tools: string;
}

export function audioFolders(dataDir: string): AudioFolders {
  const folder = join(dataDir, 'audio');
  return {
    scratch: join(folder, 'scratch'),
    kept: join(folder, 'kept'),
    tools: join(folder, 'tools'),
  };
}

/**
 * At the start, before anything is served: what a crash left of requests goes. It goes at once
 * where nobody else can be using it (`isAlone`), else when it is old.
 */
export async function prepareAudioFolders(dataDir: string, isAlone: boolean): Promise<void> {
  const { scratch, kept } = audioFolders(dataDir);
  if (isAlone) await rm(scratch, { recursive: true, force: true });
  await preparePrivateFolder(scratch);
  if (!isAlone) return;
  // Nothing is being written: what is unfinished stays so.
  await sweepPrivateFolder(kept, { keptMs: Number.POSITIVE_INFINITY, unfinishedMs: -1 });
}

/** Now and then: audio whose time is over, and what a lost shard left. */
export async function sweepAudioFolders(
  dataDir: string,
  { keptMs, leftoverMs }: { keptMs: number; leftoverMs: number },
): Promise<number> {
  const { scratch, kept } = audioFolders(dataDir);
  const swept = await Promise.all([
    sweepPrivateFolder(scratch, { keptMs: leftoverMs, unfinishedMs: leftoverMs }),
    sweepPrivateFolder(kept, { keptMs, unfinishedMs: leftoverMs }),
  ]);
  return swept.reduce((sum, count) => sum + count, 0);
}
