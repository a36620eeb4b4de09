// Which blob store this process has, by its configuration. Each thread opens it for itself: it
// holds nothing but keys.
import { join } from 'node:path';
import type { BlobStore } from '../../media/blobs/contract.ts';
import { createFileBlobStore } from '../../media/blobs/file-store.ts';
import { preparePrivateFolder } from '../../media/blobs/private-file.ts';
import type { Config } from '../../runtime/config.ts';
import { createSealer } from '../../runtime/seal.ts';

export interface BlobStoreOptions {
  config: Pick<Config, 'dataDir' | 'previousSecret'>;
  /** 32 bytes as base64url. */
  masterKey: string;
  node: number;
}

export function blobFolder(dataDir: string): string {
  return join(dataDir, 'blobs');
}

export function openBlobStore({ config, masterKey, node }: BlobStoreOptions): BlobStore {
  const { dataDir, previousSecret } = config;
  const previous = previousSecret === null ? [] : [createSealer(previousSecret)];
  const sealers = [createSealer(masterKey), ...previous] as const;
  return createFileBlobStore({ folder: blobFolder(dataDir), sealers, node });
}

/**
 * At the start, before anything is served. Where nobody else can be writing (`isAlone`), what is
 * unfinished stays so, and goes.
 */
export async function prepareBlobStore(
  dataDir: string,
  blobs: BlobStore,
  isAlone: boolean,
): Promise<void> {
  await preparePrivateFolder(blobFolder(dataDir));
  if (isAlone) await blobs.dropUnfinished(-1);
}
