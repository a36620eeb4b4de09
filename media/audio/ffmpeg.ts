// Recordings are read by ffmpeg and ffprobe here alone. Both get one local file, the demuxer that
// its signature names, no protocol but the one for files and pipes, one thread and bounded memory.
// So a playlist, a reference or a codec that loops reaches nothing and ends by itself.
import { Writable } from 'node:stream';
import ffmpeg, { type FfprobeData } from 'fluent-ffmpeg';
import { hasJudged } from '../tools/judgement.ts';
import type { MediaTools } from '../tools/tools.ts';

const allocationBytesMax = 64 * 1_024 * 1_024;
/**
 * Nothing else may be printed: tags are the stranger's own words, and a line break in one would be
 * read as further lines of the report, with a codec of his choice.
 */
const shownEntries = [
  'stream=codec_type,codec_name,profile,sample_rate,channels',
  'stream_disposition=attached_pic',
  'stream_tags=-',
  'stream_side_data=-',
  'format=format_name',
  'format_tags=-',
].join(':');
const bytesPerSample = 4;
const fullScale = 2 ** 31;

export interface ReadOptions {
  tools: MediaTools;
  /** Absolute path of the file. */
  path: string;
  demuxer: string;
  /** Of the demuxer. */
  readOptions: readonly string[];
}

export interface ProbedStream {
  type: string;
  codec: string;
  /** Of an AAC: it has a core at half its rate, whose delays are twice as long. */
  isHighEfficiency: boolean;
  isAttachedPicture: boolean;
  /** 0: it has none. */
  rateHz: number;
  channels: number;
}

/**
 * The streams that the file says it has; null: it is not what its signature says. Rejects where
 * the program could not judge it.
 */
export async function probeAudio(options: ReadOptions): Promise<ProbedStream[] | null> {
  const { tools, path } = options;
  const command = ffmpeg(`file:${path}`).setFfprobePath(tools.ffprobePath);
  const bounds = ['-v', 'error', ...inputOptions(options), '-show_entries', shownEntries];
  const data = await new Promise<FfprobeData | null>((resolve, reject) => {
    command.ffprobe(bounds, (error: Error | null | undefined, found: FfprobeData) => {
      if (error === null || error === undefined) resolve(found);
      else if (hasJudged.test(error.message)) resolve(null);
      else reject(error);
    });
  });
  if (data === null || data.streams.length === 0) return null;
  return data.streams.map((stream) => ({
    type: stream.codec_type ?? '',
    codec: stream.codec_name ?? '',
    isHighEfficiency: String(stream.profile ?? '').startsWith('HE-AAC'),
    isAttachedPicture: Number(stream.disposition?.attached_pic ?? 0) === 1,
    rateHz: Number(stream.sample_rate) || 0,
    channels: Number(stream.channels) || 0,
  }));
}

export interface DecodedAudio {
  /** What was decoded, at most `secondsMax` and a little. */
  seconds: number;
  /** Of any sample of any channel, 0 to 1. */
  peak: number;
  /** The program met no error that ended it. */
  isWhole: boolean;
  /** It was ended after `timeoutMs`, which says nothing of the file. */
  isLate: boolean;
}

export interface DecodeOptions extends ReadOptions {
  /** The stream's own: mixed or resampled, loud sound may cancel itself out. */
  rateHz: number;
  channels: number;
  /** Past it decoding stops. */
  secondsMax: number;
  timeoutMs: number;
}

/**
 * Decodes the first audio stream, and keeps nothing of it but these figures. Rejects where the
 * program could not judge it.
 */
export function decodeAudio(options: DecodeOptions): Promise<DecodedAudio> {
  const { tools, path, rateHz, channels, secondsMax, timeoutMs } = options;
  const command = ffmpeg(`file:${path}`, { stdoutLines: 20 })
    .setFfmpegPath(tools.ffmpegPath)
    .inputOptions(['-v', 'error', '-nostdin', ...inputOptions(options), '-threads', '1'])
    .outputOptions(['-map', '0:a:0', '-vn', '-sn', '-dn', '-map_metadata', '-1'])
    .outputOptions(['-ac', String(channels), '-ar', String(rateHz), '-threads', '1'])
    .format('s32le');
  const bytesPerSecond = rateHz * channels * bytesPerSample;
  const bytesMax = secondsMax * bytesPerSecond;
  return new Promise((resolve, reject) => {
    const meter = createMeter();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      command.kill('SIGKILL');
    }, timeoutMs);
    const done = (isWhole: boolean) => {
      clearTimeout(timer);
      resolve({ seconds: meter.bytes() / bytesPerSecond, peak: meter.peak(), isWhole, isLate });
    };
    const samples = new Writable({
      // fluent-ffmpeg takes a program for failed that has not ended 20 ms after this closed: on a
      // busy machine, a sound recording.
      emitClose: false,
      write(chunk: Buffer, _encoding, taken) {
        meter.take(chunk);
        // Counted here: the program's own bound would go by the times that the file says.
        if (meter.bytes() > bytesMax) command.kill('SIGKILL');
        taken();
      },
    });
    const drained = new Promise<void>((drain) => samples.on('finish', drain));
    command.on('error', (error: Error) => {
      if (!isLate && !hasJudged.test(error.message)) reject(error);
      done(false);
    });
    // The program may be gone before its last samples are read.
    command.on('end', () => void drained.then(() => done(true)));
    command.pipe(samples);
  });
}

function inputOptions({ demuxer, readOptions }: ReadOptions): string[] {
  return [
    ...['-max_alloc', String(allocationBytesMax)],
    ...['-protocol_whitelist', 'file,pipe'],
    ...['-f', demuxer, ...readOptions],
  ];
}

/** Length and peak of s32le that comes in pieces of any length. */
function createMeter() {
  let bytes = 0;
  let peak = 0;
  let rest: Buffer = Buffer.alloc(0);
  return {
    take(chunk: Buffer): void {
      bytes += chunk.length;
      const samples = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = samples.length - (samples.length % bytesPerSample);
      for (let offset = 0; offset < end; offset += bytesPerSample) {
        const sample = samples.readInt32LE(offset);
        const size = sample < 0 ? -sample : sample;
        if (size > peak) peak = size;
      }
      rest = samples.subarray(end);
    },
    bytes: () => bytes,
    peak: () => peak / fullScale,
  };
}
