// What a speech or a transcription is started with, and what its kind is given by the shard.
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { SpeechRequest, TranscriptionRequest } from '../../media/model/audio.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { AudioClient } from '../../media/providers/speech/call.ts';
import type { AudioFamily } from '../../media/providers/speech/contract.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { TransientMap } from '../../runtime/transient.ts';
import type { RequestDeps, RequestSpec } from '../billed-request/spec.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { AudioProtocol } from './protocol.ts';
import type { AudioReplySink } from './reply-sink.ts';

export type AudioWork =
  | { kind: 'speech'; request: SpeechRequest; characters: number }
  /** `seconds`: as we decoded it. */
  | { kind: 'transcription'; request: TranscriptionRequest; seconds: number };

/** It stays on its shard, so it may hold functions and references. */
export interface AudioSpec extends RequestSpec {
  model: CatalogModel;
  /** In the order in which they are tried; never empty. */
  targets: readonly UpstreamTarget[];
  work: AudioWork;
  sink: AudioReplySink;
}

export interface AudioDeps extends RequestDeps {
  upstream: AudioClient;
  family(name: string): AudioFamily;
  /** Speech is kept there for the owners of idempotency keys. */
  blobs: BlobStore;
  /** Those that run on this node, so that a stop can end them. */
  running: TransientMap<string, ActorRef<AudioProtocol>>;
}

/**
 * What is stored of a finished one, to be told again. `file` is the id of an object; builds before
 * the blob store wrote the name of a plain file.
 */
export type StoredAudio =
  | { type: 'speech'; file: string; media_type: string; bytes: number }
  | { type: 'transcript'; text: string; seconds: number };
