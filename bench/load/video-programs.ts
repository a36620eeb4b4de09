// Calls of ffprobe and ffmpeg alone, one after the other, in a process that does nothing else. What
// they cost is that of the programs; the gateway's is measured with all that is around them.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type MediaTools, prepareTools } from '../../media/tools/tools.ts';
import { extractFrames } from '../../media/video/frames.ts';
import { inspectVideo } from '../../media/video/inspect.ts';
import type { VideoTools } from '../../media/video/video-tools.ts';
import { cpuMicrosOf, cpuWithProgramsMicrosOf } from '../proc.ts';
import { answerParent } from './asked.ts';
import {
  FRAMES,
  FRAMES_SECONDS,
  type FramesBy,
  type ProgramsCost,
  type ProgramsJob,
} from './video-programs-job.ts';

const OUTPUT_BYTES_MAX = 64 * 1_024 * 1_024;
const run = promisify(execFile);
let tools: VideoTools | null = null;
let alone: MediaTools | null = null;

function prepared(): VideoTools {
  if (tools === null) throw new Error('the programs were not prepared');
  return tools;
}

async function prepare(folder: string): Promise<void> {
  const options = { ffmpegPath: null, ffprobePath: null, memoryBytesMax: 2 ** 30 };
  const quick = await prepareTools({ ...options, folder: join(folder, 'q'), cpuSecondsMax: 10 });
  const patient = await prepareTools({ ...options, folder: join(folder, 'p'), cpuSecondsMax: 40 });
  tools = { quick, patient, timeoutMs: 60_000 };
  // A decoder for each picture takes more memory than the product's programs may have.
  const free = { ...options, memoryBytesMax: 2 ** 33 };
  alone = await prepareTools({ ...free, folder: join(folder, 'a'), cpuSecondsMax: 40 });
}

async function inspectOnce(path: string): Promise<number> {
  const expectation = { seconds: 8, resolution: '720p', ratio: '16:9', hasSound: false } as const;
  const inspected = await inspectVideo({ path, silentPath: `${path}.s`, expectation }, prepared());
  if (!inspected.ok) throw new Error(inspected.reason);
  return 0;
}

async function framesOnce(path: string, by: FramesBy): Promise<number> {
  if (by !== 'gateway') return jpegsIn(await framesAlone(path, by));
  const range = { startSeconds: null, endSeconds: null };
  const extracted = await extractFrames({ path, ...range, framesMax: FRAMES }, prepared());
  if (!extracted.ok) throw new Error(extracted.reason);
  return extracted.frames.length;
}

async function framesAlone(path: string, by: 'pass' | 'seeks'): Promise<Buffer> {
  const every = FRAMES_SECONDS / FRAMES;
  const moments = Array.from({ length: FRAMES }, (_, index) => (index + 0.5) * every);
  const inputs = by === 'pass' ? [['-i', path]] : moments.map((at) => ['-ss', `${at}`, '-i', path]);
  const scale = 'scale=768:432,setsar=1,format=yuvj420p';
  const chains = moments.map(
    (_, index) => `[${index}:v]fps=25:start_time=0,trim=end_frame=1,${scale}[f${index}]`,
  );
  const names = moments.map((_, index) => `[f${index}]`).join('');
  const joined = `${names}concat=n=${FRAMES},settb=1/25,setpts=N[out]`;
  const filter =
    by === 'pass' ? `[0:v]fps=1/${every},${scale}[out]` : [...chains, joined].join(';');
  const output = [
    '-map',
    '[out]',
    ...(by === 'pass' ? ['-frames:v', String(FRAMES)] : ['-vsync', '0']),
  ];
  const { stdout } = await run(
    alone?.ffmpegPath ?? '',
    [
      ...['-v', 'error', '-nostdin', ...inputs.flatMap((each) => ['-threads', '1', ...each])],
      ...['-filter_complex_threads', '1', '-filter_complex', filter, ...output],
      ...['-c:v', 'mjpeg', '-q:v', '4', '-f', 'image2pipe', '-threads', '1', '-'],
    ],
    { encoding: 'buffer', maxBuffer: OUTPUT_BYTES_MAX },
  );
  return stdout;
}

/** Each begins with the mark of its start (ITU-T T.81, B.1.1.3). */
function jpegsIn(bytes: Buffer): number {
  const start = Buffer.from([0xff, 0xd8, 0xff]);
  let count = 0;
  for (let at = bytes.indexOf(start); at !== -1; at = bytes.indexOf(start, at + 1)) count += 1;
  return count;
}

async function costOf(times: number, once: () => Promise<number>): Promise<ProgramsCost> {
  const cost = () => [cpuWithProgramsMicrosOf([process.pid]), cpuMicrosOf([process.pid])] as const;
  const [allBefore, ownBefore] = cost();
  let frames = 0;
  for (let index = 0; index < times; index++) frames += await once();
  const [all, own] = cost();
  const allMicros = (all - allBefore) / times;
  const ownMicros = (own - ownBefore) / times;
  return { programMicros: allMicros - ownMicros, allMicros, frames: frames / times };
}

answerParent<ProgramsJob>(async (job) => {
  switch (job.kind) {
    case 'prepare':
      return prepare(job.folder);
    case 'inspect':
      return costOf(job.times, () => inspectOnce(job.path));
    case 'frames':
      return costOf(job.times, () => framesOnce(job.path, job.by));
  }
});
