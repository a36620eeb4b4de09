// The end of video jobs: download, inspection, store and settlement of a file. Its CPU is held
// against the programs alone, and paced streams beside it against the same streams without it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { blocksBetween, longestWorkMs } from '../blocks.ts';
import { chatTarget } from '../contender.ts';
import type { LoadJob, LoadResult } from '../load/job.ts';
import type { ProgramsCost } from '../load/video-programs-job.ts';
import { cpuWithProgramsMicrosOf } from '../proc.ts';
import type { Report } from '../report.ts';
import { median, rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, type Figures, progress } from './bench.ts';
import { serveClip, shortClip } from './video-clips.ts';
import { type ProgramsStage, withPrograms } from './video-programs-stage.ts';
import { makeJobs, newestJobs, type VideoStage, withVideoStage } from './video-stage.ts';

const FILES = 16;
/** Until then all jobs are made and submitted. */
const RENDER_MS = 2_500;
const HASTE = 2;
const STREAMS = 100;
const GAP_MS = 20;
const STREAM_TOKENS = 300;
const TIMEOUT_MS = 60_000;

type Key = 'alone' | 'file' | 'block' | 'besideBlock' | 'calmGap' | 'gap' | 'seconds';

interface Bed extends VideoStage, ProgramsStage {
  orders: string;
  blocksFolder: string;
}

async function allEnded(bed: Bed): Promise<void> {
  const untilMs = performance.now() + TIMEOUT_MS;
  for (;;) {
    const jobs = await newestJobs(bed, FILES);
    const failed = jobs.find(({ status }) => status === 'failed' || status === 'cancelled');
    if (failed !== undefined) throw new Error(`a job failed: ${failed.error_code}`);
    if (jobs.every(({ status }) => status === 'succeeded')) return;
    if (performance.now() > untilMs) throw new Error('the jobs did not end');
    await sleep(200);
  }
}

/** From just before the first download to the last settlement. */
async function finalizing(bed: Bed) {
  await makeJobs(bed, bed.orders, FILES);
  await sleep(RENDER_MS - 700);
  const pids = bed.gateway.pids();
  const [before, fromMs] = [cpuWithProgramsMicrosOf(pids), Date.now()];
  await allEnded(bed);
  const blocks = blocksBetween(bed.blocksFolder, fromMs, Date.now());
  return {
    micros: (cpuWithProgramsMicrosOf(pids) - before) / FILES,
    blockMs: longestWorkMs(blocks),
    seconds: (Date.now() - fromMs) / 1_000,
  };
}

function streams({ gateway, generator }: Bed): Promise<LoadResult> {
  const target = chatTarget(gateway, `tokens=${STREAM_TOKENS} gap_ms=${GAP_MS}`, true);
  const limits = { connections: STREAMS, requestsMax: STREAMS, durationMs: null, spreadMs: 500 };
  const eventsMin = STREAM_TOKENS;
  const job: LoadJob = { kind: 'load', target, ...limits, eventsMin, seed: 1, gaps: true };
  return generator.load(job, TIMEOUT_MS);
}

async function measure(bed: Bed): Promise<Figures<Key>> {
  const inspecting = { kind: 'inspect', path: bed.path, times: FILES } as const;
  const alone = await bed.programs.ask<ProgramsCost>(inspecting, TIMEOUT_MS);
  const calm = await finalizing(bed);
  const quiet = await streams(bed);
  const fromMs = Date.now();
  // The making of jobs has its own figure: streams begin when the first file is due.
  await makeJobs(bed, bed.orders, FILES);
  await sleep(RENDER_MS - 1_000);
  const [busy] = await Promise.all([streams(bed), allEnded(bed)]);
  for (const { failed, failure } of [quiet, busy]) if (failed > 0) throw new Error(failure);
  return {
    alone: alone.programMicros / 1_000,
    file: calm.micros / 1_000,
    block: calm.blockMs,
    besideBlock: longestWorkMs(blocksBetween(bed.blocksFolder, fromMs, Date.now())),
    calmGap: quiet.gapMs.p99,
    gap: busy.gapMs.p99,
    seconds: calm.seconds,
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const clip = await shortClip();
  const server = await serveClip(clip);
  const blocksFolder = await mkdtemp(join(tmpdir(), 'tollgate-bench-blocks-'));
  const orders = `render_ms=${RENDER_MS} redirect=${server.url}`;
  const environment = {
    TOLLGATE_VIDEO_HASTE: String(HASTE),
    TOLLGATE_FETCH_PRIVATE: server.exception,
  };
  const all: Figures<Key>[] = [];
  try {
    await withPrograms(clip, (programs) =>
      withVideoStage(options, { slots: 1_000, blocksFolder, environment }, async (stage) => {
        const bed: Bed = { ...stage, ...programs, orders, blocksFolder };
        await finalizing(bed);
        await streams(bed);
        for (let index = 0; index < options.runs; index++) {
          const figures = await measure(bed);
          const shown = Object.entries(figures).map(([key, value]) => `${key} ${rounded(value)}`);
          progress(`run ${index + 1}/${options.runs}: ${shown.join(', ')}`);
          all.push(figures);
        }
      }),
    );
  } finally {
    server.stop();
    await rm(blocksFolder, { recursive: true, force: true });
  }
  return report((key) => median(all.map((each) => each[key])), clip.length);
}

function report(of: (key: Key) => number, bytes: number): Report {
  const most = { sense: 'most' } as const;
  const row = (label: string, key: Key) => [label, rounded(of(key))];
  return {
    name: 'video-finalize',
    title: `Finalizing files of ${Math.round(bytes / 1_000)} KB`,
    method:
      `${FILES} jobs end at once: download through the guard, one thread that looks at files, ` +
      `store, settlement. The programs alone run on the same file. Then ${STREAMS} streams, an ` +
      `event each ${GAP_MS} ms, without and beside ${FILES} more. Blocks are delays of a shard's ` +
      'loop, less the time that its thread stood ready without a core.',
    columns: ['what', 'figure'],
    rows: [
      row('programs alone, CPU ms a file', 'alone'),
      row('gateway with its programs, CPU ms a file', 'file'),
      row(`seconds for ${FILES} files`, 'seconds'),
      row('longest block of a shard ms', 'block'),
      row('longest block of a shard ms, with streams', 'besideBlock'),
      row('gap between two events p99 ms, streams alone', 'calmGap'),
      row('gap between two events p99 ms, beside it', 'gap'),
    ],
    bars: [
      {
        text: 'CPU a file × its programs',
        limit: 1.5,
        measured: of('file') / of('alone'),
        unit: '×',
        ...most,
      },
      {
        text: 'p99 of paced streams × without it',
        limit: 1.15,
        measured: of('gap') / of('calmGap'),
        unit: '×',
        ...most,
      },
      {
        text: 'longest turn of a shard',
        limit: 20,
        measured: Math.max(of('block'), of('besideBlock')),
        unit: 'ms',
        ...most,
      },
    ],
    chart: {
      title: 'Finalizing a file of video',
      unit: 'CPU in milliseconds, less is better',
      rows: [
        { label: 'programs', value: of('alone') },
        { label: 'gateway', value: of('file'), limit: 1.5 * of('alone') },
      ],
    },
    notes: [],
  };
}

export const videoFinalize: Bench = { name: 'video-finalize', run };
