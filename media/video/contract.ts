// What is asked of a video file and what is found out about it. All of it is plain data, which
// crosses threads. A file that could not be judged is no answer: those functions reject.
import type { VideoFault } from './faults.ts';
import type { ListedRatio } from './ratio.ts';

/** What a provider was asked for. */
export interface VideoExpectation {
  seconds: number;
  resolution: '720p' | '1080p';
  /** Null: adaptive. */
  ratio: ListedRatio | null;
  /** False: its track is taken away. */
  hasSound: boolean;
}

export type VideoCodec = 'h264' | 'hevc' | 'av1' | 'vp9' | 'vp8' | 'mpeg4';

/** What every file tells of itself. */
export interface VideoShape {
  durationMs: number;
  /** As it is shown: turned as the file says. */
  width: number;
  height: number;
  hasAudio: boolean;
  videoCodec: VideoCodec;
}

/** A file as it will be served. */
export interface VideoFacts extends VideoShape {
  mime: 'video/mp4' | 'video/quicktime';
  bytes: number;
  /** In hex. */
  sha256: string;
  /** Over 5 % off what was asked for: worth a line in the log. */
  isRatioOff: boolean;
  /** The listed one that is nearest to what was measured. */
  nearestRatio: ListedRatio;
}

/** `reason` is a sentence of ours without anything of the file's own words, 200 characters. */
export type RefusedVideo = { ok: false; fault: VideoFault; reason: string };

/** What `media/tasks/inspect-video.ts` is given. */
export interface InspectVideoInput {
  /** Absolute. */
  path: string;
  /** Absolute: where the file without its sound goes, if that is taken away. */
  silentPath: string;
  expectation: VideoExpectation;
}

/** `path`: the file that the facts are of, one of the two that were named. */
export type InspectedVideo = { ok: true; path: string; facts: VideoFacts } | RefusedVideo;

/** What `media/tasks/extract-frames.ts` is given. */
export interface ExtractFramesInput {
  /** Absolute. */
  path: string;
  /** Null: from the first to the last moment. */
  startSeconds: number | null;
  endSeconds: number | null;
  /** From 1 to 64. */
  framesMax: number;
}

export interface VideoFrame {
  /** From the beginning of the file. */
  seconds: number;
  /** 768 pixels at most on the longer side. */
  jpeg: Uint8Array;
}

/** A source of an analysis, in the order of time. */
export type ExtractedFrames =
  | { ok: true; facts: VideoShape & { bytes: number; sha256: string }; frames: VideoFrame[] }
  | RefusedVideo;
