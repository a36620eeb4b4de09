// What a speech or a transcription is started with, and what its kind is given by the shard.
import type { SpeechRequest, TranscriptionRequest } from '../../media/model/audio.ts';
import type { AudioClient } from '../../media/providers/audio-call.ts';
import type { AudioFamily } from '../../media/providers/audio-contract.ts';
import type { UpstreamTarget } from '../../media/providers/contract.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { Limiter } from '../../runtime/limiter.ts';
import type { Limits } from '../../runtime/limits.ts';
import type { Logger } from '../../runtime/log.ts';
import type { CatalogModel } from '../catalog/snapshot.ts';
import type { Foresight } from '../generation/foresight.ts';
import type { RouteHealth } from '../generation/health.ts';
import type { GenerationMetrics } from '../generation/spec.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import type { AudioDesk } from './desk.ts';
import type { AudioProtocol } from './protocol.ts';

export type AudioWork =
  | { kind: 'speech'; request: SpeechRequest; characters: number }
  /** `seconds`: as we decoded it. */
  | { kind: 'transcription'; request: TranscriptionRequest; seconds: number };

/** It stays on its shard, so it may hold functions and references. */
export interface AudioSpec {
  id: string;
  /** Name of the exchange that started it, for the log. */
  exchangeId: string;
  accountId: string;
  walletId: string;
  apiKeyId: string | null;
  /** Canonical path of the route. */
  route: string;
  idempotencyKey: string | null;
  fingerprint: string;
  createdAtMs: number;
  model: CatalogModel;
  /** In the order in which they are tried; never empty. */
  targets: readonly UpstreamTarget[];
  work: AudioWork;
  desk: AudioDesk;
  /** Gives the key's place back; called once, when it is over. */
  releasePlace: () => void;
}

export interface AudioDeps {
  instanceId: string;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  upstream: AudioClient;
  family(name: string): AudioFamily;
  health: RouteHealth;
  foresight: Foresight;
  limiter: Limiter;
  limits: Limits;
  metrics: GenerationMetrics;
  log: Logger;
  /** Where audio is kept for the owners of idempotency keys. */
  keptFolder: string;
  /** Those that run on this node, so that a stop can end them. */
  running: Map<string, ActorRef<AudioProtocol>>;
}

/** What is stored of a finished one, to be told again. */
export type StoredAudio =
  | { type: 'speech'; file: string; media_type: string; bytes: number }
  | { type: 'transcript'; text: string; seconds: number };
