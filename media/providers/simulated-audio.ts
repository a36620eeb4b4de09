// The simulator's models for voice, speech and transcription, under the specification's own names,
// at prices like those of the field. Its voices have other names than ours: so have upstreams.
import { speechVoices } from '../model/audio.ts';

/** US dollars as decimal strings, as a price card has them. */
export type SimulatedUnitPrice = Partial<
  Record<
    | 'audio_input'
    | 'text_input'
    | 'audio_output'
    | 'text_output'
    | 'per_1k_characters'
    | 'per_audio_minute',
    string
  >
>;

export interface SimulatedAudioModel {
  alias: string;
  displayName: string;
  upstreamModel: string;
  kind: 'voice' | 'speech' | 'transcription';
  price: SimulatedUnitPrice;
  contextWindow: number;
  /** The upstream's names by ours. */
  voices?: Readonly<Record<string, string>>;
  /** The most that a second of a session may use. */
  tokensPerSecondMax?: Readonly<
    Record<'audio_input' | 'text_input' | 'audio_output' | 'text_output', number>
  >;
}

export interface SimulatedAudioProvider {
  name: string;
  family: string;
  basePath: string;
  quirks: Record<string, never>;
  models: readonly SimulatedAudioModel[];
}

const sameNames = (names: readonly string[]) => Object.fromEntries(names.map((id) => [id, id]));

/** What realtime models take: not all voices of speech. */
const realtimeVoices = speechVoices.filter((id) => !['fable', 'nova', 'onyx'].includes(id));
const liveVoices = { puck: 'Puck', charon: 'Charon', kore: 'Kore', fenrir: 'Fenrir' };

const voicePrice = {
  audio_input: '32.00',
  text_input: '4.00',
  audio_output: '64.00',
  text_output: '16.00',
};
/**
 * The simulator reports 10 audio tokens a second each way, and transcripts of a few words. A hold
 * is 62 credits: the development wallet has room for more sessions than a shard takes.
 */
const tokensPerSecondMax = { audio_input: 12, text_input: 8, audio_output: 12, text_output: 8 };

const speech = (alias: string, displayName: string, upstreamModel: string, price: string) => ({
  alias,
  displayName,
  upstreamModel,
  kind: 'speech' as const,
  price: { per_1k_characters: price },
  contextWindow: 4_096,
  voices: sameNames(speechVoices),
});

const transcription = (alias: string, displayName: string, model: string, price: string) => ({
  alias,
  displayName,
  upstreamModel: model,
  kind: 'transcription' as const,
  price: { per_audio_minute: price },
  contextWindow: 16_000,
});

export const simulatedAudioProviders: readonly SimulatedAudioProvider[] = [
  {
    name: 'simulator-realtime',
    family: 'openai-realtime',
    basePath: '/v1',
    quirks: {},
    models: [
      {
        alias: 'svc-voice-1',
        displayName: 'Simulated voice',
        upstreamModel: 'sim-realtime-2026',
        kind: 'voice',
        price: voicePrice,
        contextWindow: 32_000,
        voices: sameNames(realtimeVoices),
        tokensPerSecondMax,
      },
    ],
  },
  {
    name: 'simulator-live',
    family: 'gemini-live',
    basePath: '/v1beta',
    quirks: {},
    models: [
      {
        alias: 'svc-voice-live',
        displayName: 'Simulated live voice',
        upstreamModel: 'sim-live-2026-native-audio',
        kind: 'voice',
        price: voicePrice,
        contextWindow: 128_000,
        voices: liveVoices,
        tokensPerSecondMax,
      },
    ],
  },
  {
    name: 'simulator-audio',
    family: 'openai-audio',
    basePath: '/v1',
    quirks: {},
    models: [
      speech('svc-tts', 'Simulated speech', 'sim-tts-hd-2026', '0.015'),
      speech('vendorA-mini-tts', 'Simulated small speech', 'sim-tts-2026', '0.006'),
      transcription('svc-transcribe', 'Simulated transcription', 'sim-transcribe-2026', '0.006'),
      transcription(
        'vendorA-mini-transcribe',
        'Simulated small transcription',
        'sim-transcribe-mini-2026',
        '0.003',
      ),
      transcription(
        'vendorA-transcribe-1',
        'Simulated first transcription',
        'sim-transcribe-first-2026',
        '0.006',
      ),
    ],
  },
];
