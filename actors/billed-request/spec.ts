// What a billed request is started with, whatever it asks for, and what its kind is given by the
// shard. Generations, speech and transcription are such requests.
import type { Doubt } from '../../media/model/usage.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { Limiter } from '../../runtime/limiter.ts';
import type { Logger } from '../../runtime/log.ts';
import type { TransientMap } from '../../runtime/transient.ts';
import type { Limits } from '../limits.ts';
import type { RouteHealth } from '../provider-health/health.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import type { FundsEstimate } from './funds-estimate.ts';

/** What every request that has a row of generations is started with, whatever it asks for. */
export interface RequestSpec {
  id: string;
  /** Name of the exchange that started it, for the log. */
  exchangeId: string;
  accountId: string;
  walletId: string;
  /** Who pays where that wallet refuses the first hold; left out or null: nobody. */
  fallbackWalletId?: string | null | undefined;
  apiKeyId: string | null;
  /** Canonical path of the route. */
  route: string;
  idempotencyKey: string | null;
  fingerprint: string;
  createdAtMs: number;
  /** Gives the key's permit back, when it is over; calling it again is harmless. */
  releasePermit: () => void;
}

export interface GenerationMetrics {
  /** Input tokens that a provider was sent for nothing, by the alias of its model. */
  givenAway(model: string, tokens: number): void;
  firstEvent(seconds: number): void;
  ended(status: string): void;
  detached(by: 1 | -1): void;
  /** A usage was settled of which this was not believed. */
  doubted(part: Doubt): void;
  /** A part of an answer of this family was of a kind that nobody here can read. */
  unread(family: string): void;
}

/** What every kind of such requests is given by its shard. */
export interface RequestDeps {
  instanceId: string;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  health: RouteHealth;
  fundsEstimate: FundsEstimate;
  limiter: Limiter;
  limits: Limits;
  metrics: GenerationMetrics;
  log: Logger;
  /** Requests that run on this node. */
  running: Pick<TransientMap<string, unknown>, 'delete'>;
}
