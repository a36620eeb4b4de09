// Twelve frames of a source, with the probe, the scan and the hash that an analysis needs. ffmpeg
// that makes the pictures alone is measured beside it.
import {
  FRAMES,
  FRAMES_SECONDS,
  type FramesBy,
  type ProgramsCost,
} from '../load/video-programs-job.ts';
import type { Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, figureOf, interleave } from './bench.ts';
import { longClip } from './video-clips.ts';
import { withPrograms } from './video-programs-stage.ts';

const TIMES = 3;
const TIMEOUT_MS = 60_000;
const lanes: readonly { name: string; by: FramesBy }[] = [
  { name: 'ffmpeg alone, one pass', by: 'pass' },
  { name: 'ffmpeg alone, sought', by: 'seeks' },
  { name: 'gateway', by: 'gateway' },
];

type Key = 'cpu' | 'programs' | 'frames';

async function run(options: BenchOptions): Promise<Report> {
  const clip = await longClip();
  const figures = await withPrograms(clip, ({ path, programs }) =>
    interleave<Key, (typeof lanes)[number]>(lanes, options.runs, async ({ by }) => {
      const job = { kind: 'frames', path, by, times: TIMES } as const;
      const cost = await programs.ask<ProgramsCost>(job, TIMEOUT_MS);
      if (cost.frames !== FRAMES) throw new Error(`${by}: ${cost.frames} frames`);
      const [cpu, programsMs] = [cost.allMicros / 1_000, cost.programMicros / 1_000];
      return { cpu, programs: programsMs, frames: cost.frames };
    }),
  );
  const [pass, sought, gateway] = lanes.map(({ name }) => figureOf(figures, name, 'cpu'));
  const alone = Math.min(pass ?? Number.NaN, sought ?? Number.NaN);
  return {
    name: 'video-frames',
    title: `${FRAMES} frames of ${FRAMES_SECONDS} s of 720p`,
    method:
      `A file of ${(clip.length / 1e6).toFixed(1)} MB with a key frame each 4 s; ` +
      "programs have one thread. The gateway's function probes, looks for cuts and hashes as " +
      'well. ffmpeg alone is the cheaper of its two ways.',
    columns: ['contender', 'CPU ms', 'of it programs'],
    rows: [...figures].map(([name, row]) => [name, rounded(row.cpu), rounded(row.programs)]),
    bars: [
      {
        text: 'CPU × ffmpeg alone',
        limit: 1.3,
        measured: (gateway ?? Number.NaN) / alone,
        unit: '×',
        sense: 'most',
      },
    ],
    chart: {
      title: `${FRAMES} frames of ${FRAMES_SECONDS} s of 720p`,
      unit: 'CPU in milliseconds, less is better',
      rows: [...figures].map(([label, { cpu }]) => ({
        label,
        value: cpu,
        ...(label === 'gateway' ? { limit: 1.3 * alone } : {}),
      })),
    },
    notes: [],
  };
}

export const videoFrames: Bench = { name: 'video-frames', run };
