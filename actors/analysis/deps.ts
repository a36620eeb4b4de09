// What the work on an analysis needs of its shard.
import type { Sql } from '../../db/driver/sql.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { ExtractedFrames, ExtractFramesInput } from '../../media/video/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Outbound } from '../../runtime/outbound/contract.ts';
import type { Leases } from '../../runtime/work/leases.ts';
import type { GenerationServices } from '../generation/start.ts';
import type { AnalysisLimits } from './limits.ts';
import type { AnalysisMetrics } from './metrics.ts';

export interface AnalysisDeps {
  sql: Sql;
  outbound: Outbound;
  blobs: BlobStore;
  /** Null: the file could not be judged. */
  extract(
    input: ExtractFramesInput,
    accountId: string,
    timeoutMs: number,
  ): Promise<ExtractedFrames | null>;
  generations(): GenerationServices;
  /** Where each has a folder of its own for its source. */
  scratchFolder: string;
  leases: Leases;
  limits: AnalysisLimits;
  metrics: AnalysisMetrics;
  log: Logger;
}
