// Speech and transcription as the product understands them, whatever a provider calls things.
import type { Container } from '../audio/container.ts';

export type SpeechFormat = 'mp3' | 'wav';

export const speechMediaTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
};

/** As callers name them: specification 2.2, in its order. */
export const speechVoices = [
  'alloy',
  'ash',
  'ballad',
  'coral',
  'echo',
  'fable',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
  'marin',
  'cedar',
] as const;

export interface SpeechRequest {
  input: string;
  /** As callers name it; the model's catalog entry has the upstream's name. */
  voice: string;
  instructions: string | null;
  format: SpeechFormat;
  /** 0.25 to 4; null: the provider's own. */
  speed: number | null;
}

export interface TranscriptionRequest {
  bytes: Uint8Array;
  container: Container;
  /** ISO 639-1. */
  language: string | null;
}

export interface Transcript {
  text: string;
  /** What the provider says it heard; null: it says nothing of it. */
  seconds: number | null;
}

/** Whether bytes begin as audio of the format does; few enough bytes are no proof against it. */
export function beginsAs(format: SpeechFormat, bytes: Uint8Array): boolean {
  if (format === 'wav') return Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF';
  const [first = 0, second = 0] = bytes;
  const isTagged = Buffer.from(bytes.subarray(0, 3)).toString('latin1') === 'ID3';
  return isTagged || (first === 0xff && (second & 0xe0) === 0xe0);
}
