// Each process looks after the folder of blobs that it has, which may be its own.
import type { BlobLimits } from '../../actors/blobs/limits.ts';
import { rewrapBlobs, sweepBlobs } from '../../actors/blobs/sweep.ts';
import type { Sql } from '../../db/driver/sql.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { repeat } from '../work/repeat.ts';

interface BlobUpkeep {
  sql: Sql;
  blobs: BlobStore;
  config: Pick<Config, 'previousSecret'>;
  limits: BlobLimits;
  log: Logger;
}

/** Returns what ends it. */
export function startBlobUpkeep({ config, log, ...given }: BlobUpkeep): () => void {
  const upkeep = { ...given, clock: Date.now, log };
  const keepUp = async () => {
    if (config.previousSecret !== null) {
      const rotated = await rewrapBlobs(upkeep);
      if (rotated.rewrapped > 0) log.info({ ...rotated }, 'the blob store has the new master key');
    }
    log.debug({ ...(await sweepBlobs(upkeep)) }, 'swept the blob store');
  };
  return repeat('blobs', given.limits.sweepMs, keepUp, log);
}
