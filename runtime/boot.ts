// What the main thread gives each shard thread, and how it tells them of changes.
import type { Config } from './config.ts';
import type { FailureBuffers } from './failure-limiter.ts';
import type { AnswerBuffers } from './limiter/answers.ts';
import type { GiveawayBuffers } from './limiter/giveaways.ts';
import type { LimiterBuffers } from './limiter.ts';

/** Plain data; holds secrets. */
export interface ShardBoot {
  config: Config;
  databaseUrl: string;
  /** Origin of the simulator, in dev mode only. */
  simulatorUrl: string | null;
  instanceId: string;
  limiter: LimiterBuffers;
  failures: FailureBuffers;
  giveaways: GiveawayBuffers;
  answers: AnswerBuffers;
  /** 32 bytes as base64url. */
  masterKey: string;
  /** They count the memory for sound that waits. */
  soundCounters: SharedArrayBuffer;
  version: string;
}

/** Bus topic: the payload is the new catalog with its sequence. */
export const catalogTopic = 'catalog-changed';
