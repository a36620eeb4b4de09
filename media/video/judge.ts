// Whether what a file says it has is what is taken. The rules of generated videos and of sources
// differ in codecs and in what was asked for.
import type { VideoCodec, VideoExpectation, VideoShape } from './contract.ts';
import type { VideoFault } from './faults.ts';
import { pixelsMax } from './ffmpeg.ts';
import type { ProbedStream, ProbedVideo } from './probe.ts';

/** Codecs of generated videos, which browsers play. */
export const servedCodecs: readonly VideoCodec[] = ['h264', 'hevc', 'av1', 'vp9'];
/** Codecs of sources, which are only looked at. */
export const readCodecs: readonly VideoCodec[] = [...servedCodecs, 'vp8', 'mpeg4'];

/** Wider or higher than this nothing is decoded, however small the other side is. */
const sideMax = 8_192;
/** A pixel farther from a square than this is a lie. */
const pixelAspectMax = 8;
const lengthToleranceMs = 500;
const lengthToleranceShare = 0.1;
const shortSideShare = 0.9;

export interface JudgedVideo {
  shape: VideoShape;
  stream: ProbedStream;
}

/** One video stream, at most one of sound, of a length and a size that are decoded. */
export function judgeStreams(
  { streams, seconds }: ProbedVideo,
  codecs: readonly VideoCodec[],
): JudgedVideo | VideoFault {
  const ofType = (type: string) =>
    streams.filter((stream) => stream.type === type && !stream.isAttachedPicture);
  const [stream, ...others] = ofType('video');
  if (stream === undefined) return 'no_video_stream';
  if (others.length > 0) return 'several_video_streams';
  const sounds = ofType('audio').length;
  if (sounds > 1) return 'several_audio_streams';
  const videoCodec = codecs.find((codec) => codec === stream.codec);
  if (videoCodec === undefined) return 'codec';
  if (stream.width === 0 || stream.height === 0) return 'unreadable';
  const isTooWide = Math.max(stream.width, stream.height) > sideMax;
  if (isTooWide || stream.width * stream.height > pixelsMax) return 'picture_too_large';
  const length = stream.seconds || seconds;
  if (length === 0) return 'no_length';
  const shape: VideoShape = {
    durationMs: Math.round(length * 1_000),
    ...shownSize(stream),
    hasAudio: sounds === 1,
    videoCodec,
  };
  return { shape, stream };
}

/** What was measured against what was asked for; null: it fits. */
export function faultOfMeasures(
  { durationMs, width, height }: VideoShape,
  containerSeconds: number,
  { seconds, resolution }: Pick<VideoExpectation, 'seconds' | 'resolution'>,
): VideoFault | null {
  const askedMs = seconds * 1_000;
  const toleranceMs = Math.max(lengthToleranceMs, askedMs * lengthToleranceShare);
  // A player goes on to the end of the longest stream.
  const lengthsMs = [durationMs, Math.round(containerSeconds * 1_000) || askedMs];
  if (lengthsMs.some((lengthMs) => Math.abs(lengthMs - askedMs) > toleranceMs)) {
    return 'wrong_length';
  }
  const asked = Number.parseInt(resolution, 10);
  return Math.min(width, height) < asked * shortSideShare ? 'wrong_size' : null;
}

/** With square pixels and the right way up. */
function shownSize({ width, height, pixelAspect, isTurned }: ProbedStream) {
  const isBelievable = pixelAspect <= pixelAspectMax && pixelAspect >= 1 / pixelAspectMax;
  const wide = Math.round(width * (isBelievable ? pixelAspect : 1));
  return isTurned ? { width: height, height: wide } : { width: wide, height };
}
