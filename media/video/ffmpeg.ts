// How ffmpeg and ffprobe are run on video files of strangers. They get one local file, the demuxer
// that its first bytes name, and one thread; memory, output and time are bounded.
import { Writable } from 'node:stream';
import ffmpeg, { type FfmpegCommand } from 'fluent-ffmpeg';
import { hasJudged } from '../tools/judgement.ts';
import type { MediaTools } from '../tools/tools.ts';
import { streamsMax } from './boxes.ts';
import type { VideoContainer } from './container.ts';

/** A plane of 16 megapixels with 16 bits each takes half of it. */
const allocationBytesMax = 64 * 1_024 * 1_024;
/** 4,096 × 4,096: a file that announces more is refused before a frame of it is decoded. */
export const pixelsMax = 4_096 * 4_096;
/** Every decoder that may be opened, by its name in old and new versions. */
const decoders = 'h264,hevc,vp9,libvpx-vp9,vp8,libvpx,av1,libdav1d,libaom-av1,mpeg4';

export interface VideoSource {
  /** Absolute. */
  path: string;
  container: VideoContainer;
}

/** A program that had too few turns on a busy machine, which says nothing of the file. */
export class LateProgram extends Error {}

/** Options of both programs for their input. */
export function inputBounds({ container }: VideoSource): string[] {
  const references = container.demuxer === 'mov' ? ['-enable_drefs', '0'] : [];
  return [
    ...['-max_alloc', String(allocationBytesMax), '-max_pixels', String(pixelsMax)],
    ...['-max_streams', String(streamsMax), '-protocol_whitelist', 'file'],
    ...['-threads', '1', '-f', container.demuxer, ...references],
  ];
}

export function inputOf({ path }: VideoSource): string {
  return `file:${path}`;
}

/** One input for `runFfmpeg`. */
export interface VideoInput {
  source: VideoSource;
  /** Before the input, besides the bounds. */
  options: readonly string[];
}

export interface RunOptions {
  tools: MediaTools;
  inputs: readonly VideoInput[];
  /** What is done with them: options of the output. */
  options: readonly string[];
  /** Where to; null: to the caller. */
  outputPath: string | null;
  /** Past it the program is ended. */
  bytesMax: number;
  timeoutMs: number;
}

export interface ProgramEnd {
  /** What it put out, at most `bytesMax`. */
  output: Buffer;
  /** It met nothing that ended it. */
  isWell: boolean;
  /** What it said of its failure, for us to search in: it has words of the file. */
  complaint: string;
}

/** Rejects where the program could not judge the file. @throws LateProgram */
export function runFfmpeg(run: RunOptions): Promise<ProgramEnd> {
  const command = commandOf(run);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => {
      reject(new LateProgram(`ffmpeg had too few turns in ${run.timeoutMs} ms`));
      command.kill('SIGKILL');
    }, run.timeoutMs);
    const done = (isWell: boolean, complaint: string) => {
      clearTimeout(timer);
      resolve({ output: Buffer.concat(chunks), isWell, complaint });
    };
    command.on('error', (error: Error) => {
      if (!hasJudged.test(error.message)) reject(error);
      done(false, error.message);
    });
    if (run.outputPath !== null) {
      command.on('end', () => done(true, ''));
      command.output(`file:${run.outputPath}`).run();
      return;
    }
    const taking = new Writable({
      // fluent-ffmpeg takes a program for failed that has not ended 20 ms after this closed.
      emitClose: false,
      write(chunk: Buffer, _encoding, taken) {
        const room = run.bytesMax - bytes;
        if (room > 0) chunks.push(chunk.subarray(0, room));
        bytes += chunk.length;
        if (bytes > run.bytesMax) command.kill('SIGKILL');
        taken();
      },
    });
    const drained = new Promise<void>((drain) => taking.on('finish', drain));
    // The program may be gone before its last bytes are read.
    command.on('end', () => void drained.then(() => done(true, '')));
    command.pipe(taking);
  });
}

function commandOf({ tools, inputs, options }: RunOptions): FfmpegCommand {
  const command = ffmpeg({ stdoutLines: 20 }).setFfmpegPath(tools.ffmpegPath);
  for (const { source, options } of inputs) {
    const bounds = [...inputBounds(source), '-codec_whitelist', decoders];
    command.input(inputOf(source)).inputOptions([...bounds, ...options]);
  }
  command.outputOptions(['-v', 'error', '-nostdin', '-y', '-filter_complex_threads', '1']);
  return command.outputOptions(['-map_metadata', '-1', ...options, '-threads', '1']);
}
