// The bounds of the blob store's upkeep, with the arithmetic behind them.
import type { Widened } from '../../runtime/limits.ts';

export const blobLimits = {
  /** A row names its object within minutes. Half an hour of a database that is away is no loss. */
  unnamedMs: 24 * 3_600_000,
  /** The longest put is a video's, of minutes. */
  unfinishedMs: 24 * 3_600_000,
  /** A look at 100,000 objects takes 5 s of CPU. */
  sweepMs: 30 * 60_000,
  /** Objects that the database is asked about in one query. */
  pageLength: 500,
} as const;

export type BlobLimits = Widened<typeof blobLimits>;
