// What a video file says it has, by ffprobe. Its own words are never printed: a line break in a tag
// would be read as further lines of the report.
import ffmpeg, { type FfprobeData } from 'fluent-ffmpeg';
import { hasJudged } from '../tools/judgement.ts';
import type { MediaTools } from '../tools/tools.ts';
import type { VideoFault } from './faults.ts';
import { inputBounds, inputOf, LateProgram, type VideoSource } from './ffmpeg.ts';

const shownEntries = [
  'stream=codec_type,codec_name,width,height,sample_aspect_ratio,avg_frame_rate,duration',
  'stream_disposition=attached_pic',
  'stream_tags=-',
  'stream_side_data=rotation',
  'format=duration',
  'format_tags=-',
].join(':');

/** What one stream says of itself; 0: nothing that is known. */
export interface ProbedStream {
  type: string;
  codec: string;
  isAttachedPicture: boolean;
  /** As coded. */
  width: number;
  height: number;
  /** How wide a pixel is for its height. */
  pixelAspect: number;
  /** It is turned by a quarter, and so shown with its sides exchanged. */
  isTurned: boolean;
  framesPerSecond: number;
  seconds: number;
}

export interface ProbedVideo {
  streams: ProbedStream[];
  /** As long as the longest stream. */
  seconds: number;
}

/** Rejects where the program could not judge the file. @throws LateProgram */
export async function probeVideo(
  source: VideoSource,
  tools: MediaTools,
  timeoutMs: number,
): Promise<ProbedVideo | VideoFault> {
  const command = ffmpeg(inputOf(source)).setFfprobePath(tools.ffprobePath);
  const options = ['-v', 'error', ...inputBounds(source), '-show_entries', shownEntries];
  const data = await new Promise<FfprobeData | VideoFault>((resolve, reject) => {
    // fluent-ffmpeg cannot end it: left alone it ends by its bound of CPU time.
    const timer = setTimeout(() => {
      reject(new LateProgram(`ffprobe had too few turns in ${timeoutMs} ms`));
    }, timeoutMs);
    command.ffprobe(options, (error: Error | null | undefined, found: FfprobeData) => {
      clearTimeout(timer);
      if (error === null || error === undefined) resolve(found);
      else if (!hasJudged.test(error.message)) reject(error);
      else resolve(faultOfComplaint(error.message));
    });
  });
  if (typeof data === 'string') return data;
  const streams = data.streams.map(streamOf);
  return { streams, seconds: positive(data.format.duration) };
}

/** What the program says where a bound of ours ended it. The file's words can at most name one. */
function faultOfComplaint(complaint: string): VideoFault {
  if (complaint.includes('max_streams')) return 'too_many_streams';
  return /Picture size \d+x\d+ is invalid/.test(complaint) ? 'picture_too_large' : 'unreadable';
}

function streamOf(stream: FfprobeData['streams'][number]): ProbedStream {
  return {
    type: stream.codec_type ?? '',
    codec: stream.codec_name ?? '',
    isAttachedPicture: Number(stream.disposition?.attached_pic ?? 0) === 1,
    width: positive(stream.width),
    height: positive(stream.height),
    pixelAspect: quotient(stream.sample_aspect_ratio) || 1,
    isTurned: Math.abs(Math.round(Number(stream.rotation ?? 0) / 90)) % 2 === 1,
    framesPerSecond: quotient(stream.avg_frame_rate),
    seconds: positive(stream.duration),
  };
}

function positive(value: unknown): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : 0;
}

/** `16:9` and `30/1`; 0: it is none. */
function quotient(value: string | undefined): number {
  const [above, below] = (value ?? '').split(/[:/]/).map(Number);
  return positive((above ?? 0) / (below ?? 0));
}
