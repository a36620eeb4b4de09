// What the work on a job needs of its shard.
import type { Sql } from '../../db/driver/sql.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { VideoClient } from '../../media/providers/video/call.ts';
import type { VideoFamily, VideoTarget } from '../../media/providers/video/contract.ts';
import type { InspectedVideo, InspectVideoInput } from '../../media/video/contract.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Outbound } from '../../runtime/outbound/contract.ts';
import type { Leases } from '../../runtime/work/leases.ts';
import type { RouteHealth } from '../provider-health/health.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import type { Durations } from './durations.ts';
import type { VideoLimits } from './limits.ts';
import type { VideoMetrics } from './metrics.ts';
import type { Slots } from './slots.ts';

export interface VideoDeps {
  instanceId: string;
  sql: Sql;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  client: VideoClient;
  family(name: string): VideoFamily;
  outbound: Outbound;
  blobs: BlobStore;
  /** `null`: the file could not be judged. */
  inspect(input: InspectVideoInput, accountId: string): Promise<InspectedVideo | null>;
  /** A folder of its own for one download. */
  scratchFolder: string;
  /** The target as the catalog has it now; `enabled`: new jobs may go there. */
  target(routeId: string): { target: VideoTarget; enabled: boolean } | null;
  health: RouteHealth;
  durations: Durations;
  leases: Leases;
  slots: Slots;
  limits: VideoLimits;
  ledger: { askTimeoutMs: number };
  metrics: VideoMetrics;
  log: Logger;
}
