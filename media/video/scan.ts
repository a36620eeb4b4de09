// Looks at the key frames of a part alone, small and fast: where they are, and how much each
// differs from the one before it. Encoders put one behind most cuts.
import { runFfmpeg, type VideoSource } from './ffmpeg.ts';
import type { KeyFrame, Part } from './sampling.ts';
import type { VideoTools } from './video-tools.ts';

/** 80 bytes for each of 600 s with 60 key frames a second. */
const reportBytesMax = 4 * 1_024 * 1_024;
const measured = 'lavfi.signalstats.YDIF';
const reported = /^frame:\d+ +pts:\S+ +pts_time:(-?[\d.e+-]+)\s*\n[\w.]+=([\d.]+)/gm;
/** Brightness has 256 steps: pictures that have nothing in common differ by 60. */
const greatestDifference = 100;

/** None where it took too long: the video is then read without knowing them. */
export async function scanKeyFrames(
  source: VideoSource,
  part: Part,
  tools: VideoTools,
): Promise<KeyFrame[]> {
  const seek = part.startSeconds.toFixed(3);
  const length = (part.endSeconds - part.startSeconds).toFixed(3);
  const { output, isWell } = await runFfmpeg({
    tools: tools.quick,
    // From the key frame before the part on. Demuxers that leave the others out tell wrong times.
    inputs: [{ source, options: ['-skip_frame', 'nokey', '-noaccurate_seek', '-ss', seek] }],
    options: [
      ...['-map', '0:V:0', '-vf'],
      `trim=end=${length},scale=64:36,format=yuv420p,signalstats,` +
        `metadata=print:key=${measured}:file=-`,
      ...['-f', 'null'],
    ],
    outputPath: null,
    bytesMax: reportBytesMax,
    timeoutMs: tools.timeoutMs,
  });
  if (!isWell) return [];
  return Array.from(output.toString('latin1').matchAll(reported), ([, seconds, difference]) => ({
    seconds: Math.max(0, part.startSeconds + Number(seconds)),
    difference: Math.min(1, Number(difference) / greatestDifference),
  }));
}
