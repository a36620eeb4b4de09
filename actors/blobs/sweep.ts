// The upkeep of the blob store. What no row names goes after a day, and so does what puts have left
// unfinished. After a rotation every key is wrapped anew.
import { findNamedBlobs } from '../../db/blobs.ts';
import type { Queryable } from '../../db/driver/sql.ts';
import { BlobFault, type BlobStore } from '../../media/blobs/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import type { BlobLimits } from './limits.ts';

export interface BlobUpkeep {
  sql: Queryable;
  blobs: BlobStore;
  clock(): number;
  limits: Pick<BlobLimits, 'unnamedMs' | 'unfinishedMs' | 'pageLength'>;
  log: Pick<Logger, 'warn'>;
}

export interface SweptBlobs {
  /** Objects that no row named. */
  removed: number;
  unfinished: number;
  /** What could not be removed: it is looked at again in the next round. */
  failed: number;
}

/** The database is asked before anything goes: without its answer nothing does. */
export async function sweepBlobs(upkeep: BlobUpkeep): Promise<SweptBlobs> {
  const { blobs, clock, limits } = upkeep;
  const swept = { removed: 0, unfinished: 0, failed: 0 };
  let page: string[] = [];
  const sweepPage = async () => {
    const named = await findNamedBlobs(upkeep.sql, page);
    for (const id of page) {
      if (named.has(id)) continue;
      const isRemoved = await tried(upkeep, id, () => blobs.remove(id));
      if (isRemoved === null) swept.failed += 1;
      else if (isRemoved) swept.removed += 1;
    }
    page = [];
  };
  for await (const { id } of blobs.list({ storedBeforeMs: clock() - limits.unnamedMs })) {
    page.push(id);
    if (page.length === limits.pageLength) await sweepPage();
  }
  await sweepPage();
  swept.unfinished = await blobs.dropUnfinished(limits.unfinishedMs);
  return swept;
}

/** While the master key before is declared: so that it is needed by no object any more. */
export async function rewrapBlobs(
  upkeep: Pick<BlobUpkeep, 'blobs' | 'log'>,
): Promise<{ rewrapped: number; failed: number }> {
  const { blobs } = upkeep;
  const done = { rewrapped: 0, failed: 0 };
  for await (const { id } of blobs.list()) {
    const isRewrapped = await tried(upkeep, id, () => blobs.rewrap(id));
    if (isRewrapped === null) done.failed += 1;
    else if (isRewrapped) done.rewrapped += 1;
  }
  return done;
}

/** One that is broken keeps no other from its turn. Null: it is, and false: it has gone. */
async function tried(
  { log }: Pick<BlobUpkeep, 'log'>,
  id: string,
  work: () => Promise<boolean>,
): Promise<boolean | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BlobFault)) throw error;
    if (error.reason === 'missing') return false;
    log.warn({ err: error, blob: id }, 'an object of the blob store cannot be kept up');
    return null;
  }
}
