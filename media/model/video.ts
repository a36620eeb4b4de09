// A request for a video without any provider's form, and what a model of the catalog can make.

export const videoResolutions = ['720p', '1080p'] as const;
export type VideoResolution = (typeof videoResolutions)[number];

/** `adaptive`: the model chooses. */
export const videoRatios = ['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16', '21:9'] as const;
export type VideoRatio = (typeof videoRatios)[number];

/** Everything that is asked of a model, with the defaults filled in. */
export interface VideoSettings {
  prompt: string;
  durationSeconds: number;
  aspectRatio: VideoRatio;
  resolution: VideoResolution;
  generateAudio: boolean;
  /** From 0 to 4294967295; null: none was given. */
  seed: number | null;
}

/** Whole seconds: each that is listed, or all of a range. */
export type VideoDurations = readonly number[] | { min: number; max: number };

/** What a model can make. */
export interface VideoAbilities {
  durations: VideoDurations;
  /** Each that it makes; `durations` narrows the model's own. */
  resolutions: Partial<Record<VideoResolution, { durations?: VideoDurations }>>;
  aspectRatios: readonly VideoRatio[];
  audio: 'always' | 'optional' | 'never';
  /** A seed is sent to it. */
  seed: boolean;
  /** Minutes that its provider may take for one video. */
  minutesMax: number;
}

/** Members of a request that a model may be unable to fulfil, by their names there. */
export type VideoMember = 'duration_seconds' | 'resolution' | 'aspect_ratio' | 'generate_audio';

/**
 * The first member that the model cannot fulfil; null: it can make the video. A seed excludes
 * nothing, and sound that a model always makes can be taken away.
 */
export function unableTo(settings: VideoSettings, abilities: VideoAbilities): VideoMember | null {
  const resolution = abilities.resolutions[settings.resolution];
  if (resolution === undefined) return 'resolution';
  if (!makesLength(abilities.durations, settings.durationSeconds)) return 'duration_seconds';
  if (!makesLength(resolution.durations ?? abilities.durations, settings.durationSeconds)) {
    return 'duration_seconds';
  }
  const { aspectRatio } = settings;
  if (aspectRatio !== 'adaptive' && !abilities.aspectRatios.includes(aspectRatio)) {
    return 'aspect_ratio';
  }
  return settings.generateAudio && abilities.audio === 'never' ? 'generate_audio' : null;
}

/** Whether a model of these durations makes this one. */
export function makesLength(durations: VideoDurations, seconds: number): boolean {
  if ('min' in durations) return seconds >= durations.min && seconds <= durations.max;
  return durations.includes(seconds);
}
