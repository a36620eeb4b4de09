// The size in pixels that a ratio and a resolution stand for: the format knows nothing else.
import type { VideoRatio, VideoSettings } from '../../../model/video.ts';

const shortSides = { '720p': 720, '1080p': 1080 } as const;
const ratios: Readonly<Record<VideoRatio, readonly [wide: number, high: number] | null>> = {
  adaptive: null,
  '16:9': [16, 9],
  '4:3': [4, 3],
  '1:1': [1, 1],
  '3:4': [3, 4],
  '9:16': [9, 16],
  '21:9': [21, 9],
};

/** `1280x720`; null: the server chooses. */
export function sizeOf({
  aspectRatio,
  resolution,
}: Pick<VideoSettings, 'aspectRatio' | 'resolution'>): string | null {
  const ratio = ratios[aspectRatio];
  if (ratio === null) return null;
  const unit = shortSides[resolution] / Math.min(...ratio);
  return `${ratio[0] * unit}x${ratio[1] * unit}`;
}
