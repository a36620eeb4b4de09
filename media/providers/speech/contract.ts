// What a family of speech and transcription is: how a request becomes a call, and what its reply
// says. Audio itself is passed through as bytes.
import type { SpeechRequest, Transcript, TranscriptionRequest } from '../../model/audio.ts';
import type { UpstreamFailure } from '../../model/events.ts';
import type { UpstreamTarget } from '../generation/contract.ts';

export interface AudioCall {
  /** Absolute. */
  url: string;
  headers: Record<string, string>;
  /** One after the other. */
  body: readonly Uint8Array[];
}

export interface AudioFamily {
  readonly name: string;
  /** `voice` is the upstream's name. */
  encodeSpeech(request: SpeechRequest, voice: string, target: UpstreamTarget): AudioCall;
  encodeTranscription(request: TranscriptionRequest, target: UpstreamTarget): AudioCall;
  /** From a whole 2xx body; null: not what was expected. */
  readTranscript(body: string): Transcript | null;
  /** Classifies a reply that is not 2xx. `body` is at most 64 KiB of it. */
  readFailure(status: number, headers: Record<string, string>, body: string): UpstreamFailure;
}

/** What a call reports, in order: bytes any number of times, then `ended` exactly once. */
export interface AudioListener {
  bytes(bytes: Uint8Array): void;
  /** `failure` null: the whole body was read. */
  ended(failure: UpstreamFailure | null): void;
}
