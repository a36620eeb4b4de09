// The simulator's models for video, under the specification's own names, with what those of the
// field make and cost a second. Their names at the simulator are others: so have upstreams.
import type { VideoAbilities, VideoRatio, VideoResolution } from '../model/video.ts';

type NamedRatio = Exclude<VideoRatio, 'adaptive'>;

export interface SimulatedVideoModel {
  alias: string;
  displayName: string;
  upstreamModel: string;
  kind: 'video';
  /** US dollars as decimal strings. */
  price: {
    per_second_of_video: string;
    video_rates?: { resolution: VideoResolution; audio?: boolean; per_second_of_video: string }[];
  };
  contextWindow: number;
  /** As a record has it. */
  video: {
    durations: number[] | { min: number; max: number };
    resolutions: Partial<Record<VideoResolution, { durations?: number[] }>>;
    aspect_ratios: NamedRatio[];
    audio: VideoAbilities['audio'];
    seed: boolean;
    minutes_max: number;
  };
}

export interface SimulatedVideoProvider {
  name: string;
  family: string;
  basePath: string;
  quirks: Record<string, never>;
  models: readonly SimulatedVideoModel[];
}

/** A prompt has 32,000 characters at most. */
const contextWindow = 32_000;
const minutes_max = 30;

const landscapeOrPortrait: NamedRatio[] = ['16:9', '9:16'];
const usualRatios: NamedRatio[] = ['16:9', '4:3', '1:1', '3:4', '9:16'];

function priceOf(hd: string, fullHd?: string): SimulatedVideoModel['price'] {
  if (fullHd === undefined) return { per_second_of_video: hd };
  const rate = { resolution: '1080p' as const, per_second_of_video: fullHd };
  return { per_second_of_video: hd, video_rates: [rate] };
}

/** Lengths that the specification names; it always makes sound. */
function film(
  alias: string,
  displayName: string,
  upstreamModel: string,
  price: SimulatedVideoModel['price'],
): SimulatedVideoModel {
  const video: SimulatedVideoModel['video'] = {
    durations: [4, 6, 8],
    resolutions: { '720p': {}, '1080p': { durations: [8] } },
    aspect_ratios: landscapeOrPortrait,
    audio: 'always',
    seed: false,
    minutes_max,
  };
  return { alias, displayName, upstreamModel, kind: 'video', price, contextWindow, video };
}

/** Any length up to 15 s. */
function clip(
  alias: string,
  displayName: string,
  upstreamModel: string,
  price: SimulatedVideoModel['price'],
): SimulatedVideoModel {
  const hasFullHd = price.video_rates !== undefined;
  const video: SimulatedVideoModel['video'] = {
    durations: { min: 4, max: 15 },
    resolutions: { '720p': {}, ...(hasFullHd ? { '1080p': {} } : {}) },
    aspect_ratios: usualRatios,
    audio: 'optional',
    seed: false,
    minutes_max,
  };
  return { alias, displayName, upstreamModel, kind: 'video', price, contextWindow, video };
}

export const simulatedVideoProviders: readonly SimulatedVideoProvider[] = [
  {
    name: 'simulator-imagine',
    family: 'xai-imagine',
    basePath: '/v1',
    quirks: {},
    models: [
      clip('vendorA-imagine-video', 'Simulated clips', 'sim-imagine-2026', priceOf('0.07')),
      clip(
        'vendorA-imagine-video-1.5',
        'Simulated larger clips',
        'sim-imagine-2026-high',
        priceOf('0.14', '0.25'),
      ),
    ],
  },
  {
    name: 'simulator-veo',
    family: 'google-veo',
    basePath: '/v1beta',
    quirks: {},
    models: [
      film(
        'vendorB-3.1-generate-preview',
        'Simulated films',
        'sim-veo-2026-preview',
        priceOf('0.40'),
      ),
      film(
        'vendorB-3.1-fast-generate-preview',
        'Simulated fast films',
        'sim-veo-2026-fast-preview',
        priceOf('0.10', '0.12'),
      ),
      film(
        'vendorB-3.1-lite-generate-preview',
        'Simulated light films',
        'sim-veo-2026-lite-preview',
        priceOf('0.05', '0.08'),
      ),
    ],
  },
  {
    name: 'simulator-videos',
    family: 'openai-videos',
    basePath: '/v1',
    quirks: {},
    models: [
      {
        // It makes all that can be asked for, and has a price by sound.
        alias: 'svc-sim-video',
        displayName: 'Simulated videos',
        upstreamModel: 'sim-videos-2026',
        kind: 'video',
        price: {
          per_second_of_video: '0.10',
          video_rates: [
            { resolution: '720p', audio: false, per_second_of_video: '0.08' },
            { resolution: '1080p', per_second_of_video: '0.30' },
            { resolution: '1080p', audio: false, per_second_of_video: '0.24' },
          ],
        },
        contextWindow,
        video: {
          durations: { min: 4, max: 30 },
          resolutions: { '720p': {}, '1080p': {} },
          aspect_ratios: [...usualRatios, '21:9'],
          audio: 'optional',
          seed: true,
          minutes_max,
        },
      },
    ],
  },
];
