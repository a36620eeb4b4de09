// Frames of a source for a model that sees: which moments, by sampling.ts, and their pictures, by
// one process. A picture is what is on the screen at its second, however seldom it changes.
import type { ExtractedFrames, ExtractFramesInput, VideoFrame } from './contract.ts';
import { runFfmpeg, type VideoSource } from './ffmpeg.ts';
import { hashFile, lookAtFile } from './file.ts';
import { refusedVideo } from './inspect.ts';
import { splitJpegs } from './jpegs.ts';
import { type JudgedVideo, judgeStreams, readCodecs } from './judge.ts';
import { probeVideo } from './probe.ts';
import {
  type FramesPlan,
  type Group,
  momentsOf,
  type Part,
  planOf,
  ticksPerSecond,
} from './sampling.ts';
import { scanKeyFrames } from './scan.ts';
import type { VideoTools } from './video-tools.ts';

/** 600 s, and what a last frame and rounding add. */
const secondsMax = 600.5;
/** The longer side. */
const pictureSide = 768;
/** 64 pictures of a noise that no codec would deliver have as much. */
const picturesBytesMax = 16 * 1_024 * 1_024;
/** Decoders beside that of H.264; old ones for AV1 are the slowest. */
const dearness = { h264: 1, mpeg4: 1, vp8: 1, vp9: 1.5, hevc: 2, av1: 4 } as const;

/** Rejects where the file could not be judged. */
export async function extractFrames(
  { path, startSeconds, endSeconds, framesMax }: ExtractFramesInput,
  tools: VideoTools,
): Promise<ExtractedFrames> {
  const source = lookAtFile(path, () => true);
  if (typeof source === 'string') return refusedVideo(source);
  const probed = await probeVideo(source, tools.quick, tools.timeoutMs);
  if (typeof probed === 'string') return refusedVideo(probed);
  const judged = judgeStreams(probed, readCodecs);
  if (typeof judged === 'string') return refusedVideo(judged);
  const seconds = judged.shape.durationMs / 1_000;
  if (Math.max(seconds, probed.seconds) > secondsMax) return refusedVideo('too_long');
  const part: Part = {
    startSeconds: startSeconds ?? 0,
    endSeconds: Math.min(endSeconds ?? seconds, seconds),
  };
  if (part.startSeconds >= part.endSeconds) return refusedVideo('part_outside');
  const keys = await scanKeyFrames(source, part, tools);
  // No more than there are places on the grid.
  const places = Math.ceil((part.endSeconds - part.startSeconds) * ticksPerSecond);
  const moments = momentsOf(part, Math.min(framesMax, places), keys);
  const { stream, shape } = judged;
  const plan = planOf(part, moments, keys, {
    pixels: stream.width * stream.height,
    framesPerSecond: stream.framesPerSecond,
    dearness: dearness[shape.videoCodec],
  });
  const frames = await readFrames(source, plan, judged, tools);
  if (frames.length === 0) return refusedVideo('undecodable');
  return { ok: true, facts: { ...shape, ...(await hashFile(path)) }, frames };
}

async function readFrames(
  source: VideoSource,
  { groups, isOfKeys }: FramesPlan,
  { shape }: JudgedVideo,
  tools: VideoTools,
): Promise<VideoFrame[]> {
  const skipping = isOfKeys ? ['-skip_frame', 'nokey'] : [];
  const { output } = await runFfmpeg({
    tools: tools.patient,
    inputs: groups.map(({ seekSeconds }) => ({
      source,
      options: [...skipping, '-noaccurate_seek', '-ss', seekSeconds.toFixed(3)],
    })),
    options: [
      ...['-filter_complex', picturesFilter(groups, shape), '-map', '[out]', '-vsync', '0'],
      ...['-c:v', 'mjpeg', '-q:v', '4', '-f', 'image2pipe'],
    ],
    outputPath: null,
    bytesMax: picturesBytesMax,
    timeoutMs: tools.timeoutMs,
  });
  const moments = groups.flatMap(({ seekSeconds, ticks }) =>
    ticks.map((tick) => seekSeconds + tick / ticksPerSecond),
  );
  // A program that was ended by its bounds has put out the first ones.
  const pictures = splitJpegs(output).slice(0, moments.length);
  return pictures.map((jpeg, index) => ({
    seconds: Math.round((moments[index] ?? 0) * 1_000) / 1_000,
    jpeg,
  }));
}

function picturesFilter(
  groups: readonly Group[],
  { width, height }: { width: number; height: number },
): string {
  const factor = Math.min(1, pictureSide / Math.max(width, height));
  const [wide, high] = [width, height].map((side) => Math.max(1, Math.round(side * factor)));
  const chains = groups.map(({ ticks }, index) => {
    // One tick more ends the group: without it the rest of the video would be decoded.
    const chosen = [...ticks, (ticks.at(-1) ?? 0) + 1].map((tick) => `eq(n,${tick})`).join('+');
    const steps = [
      `fps=${ticksPerSecond}:start_time=0`,
      `select='${chosen}'`,
      `trim=end_frame=${ticks.length}`,
      `scale=${wide}:${high}`,
      'setsar=1,format=yuvj420p',
    ];
    return `[${index}:V:0]${steps.join(',')}[g${index}]`;
  });
  const names = groups.map((_, index) => `[g${index}]`).join('');
  // Each its own time, or they would be taken for repetitions of one picture.
  const joined = `${names}concat=n=${groups.length},settb=1/25,setpts=N[out]`;
  return [...chains, joined].join(';');
}
