// A stored video to many readers at once, each at the pace of its player: bytes are read, decrypted
// and authenticated piece by piece. A bare server pours the same file as it is.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Child, freePort, startChild } from '../child.ts';
import { Asked } from '../load/asked.ts';
import type { ReadersJob, ReadersTarget, Readings } from '../load/video-readers.ts';
import { cpuMicrosOf, rssBytesOf } from '../proc.ts';
import type { Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from './bench.ts';
import { paddedClip, serveClip } from './video-clips.ts';
import {
  contentPath,
  makeJobs,
  newestJobs,
  type VideoStage,
  withVideoStage,
} from './video-stage.ts';

const FILE_BYTES = 20_000_000;
const READERS = 200;
const BYTES_PER_SECOND = 250_000;
/** Readers begin behind the first piece, and in the middle of one. */
const FROM = 100_000;
const SETTLE_MS = 2_500;
const TIMEOUT_MS = 60_000;
const KIB = 1_024;

type Key = 'cpu' | 'MB a second' | 'least' | 'memory' | 'growth';

interface Lane {
  name: 'bare' | 'gateway';
  target: ReadersTarget;
  pids: number[];
}

async function measure(
  readers: Asked<ReadersJob>,
  { target, pids }: Lane,
  durationMs: number,
): Promise<Figures<Key>> {
  const rssBefore = rssBytesOf(pids);
  const shape = { readers: READERS, bytesPerSecond: BYTES_PER_SECOND, from: FROM };
  await readers.ask({ kind: 'open', target, ...shape }, TIMEOUT_MS);
  await sleep(SETTLE_MS);
  const [cpuBefore, rssOpen] = [cpuMicrosOf(pids), rssBytesOf(pids)];
  const { bytes, bytesLeast } = await readers.ask<Readings>(
    { kind: 'measure', durationMs },
    durationMs + TIMEOUT_MS,
  );
  const [cpu, rss] = [cpuMicrosOf(pids) - cpuBefore, rssBytesOf(pids)];
  await readers.ask({ kind: 'close' }, TIMEOUT_MS);
  await sleep(500);
  return {
    cpu: cpu / (bytes / 1e6),
    'MB a second': bytes / 1e3 / durationMs,
    least: (bytesLeast * 1_000) / durationMs / BYTES_PER_SECOND,
    memory: (Math.max(rss, rssOpen) - rssBefore) / KIB / READERS,
    growth: (rss - rssOpen) / KIB / READERS,
  };
}

/** Has the gateway store the file, as it stores any. */
async function stored(stage: VideoStage, url: string): Promise<string> {
  await makeJobs(stage, `render_ms=100 redirect=${url}`, 1);
  for (let tries = 0; tries < 200; tries++) {
    const [job] = await newestJobs(stage, 1);
    if (job?.status === 'succeeded') return job.id;
    if (job?.status === 'failed') throw new Error(`the file was not taken: ${job.error_code}`);
    await sleep(100);
  }
  throw new Error('the file was not stored in time');
}

async function startBarePour(
  file: string,
  threads: number,
): Promise<{ child: Child; port: number }> {
  const path = fileURLToPath(new URL('../load/bare-pour.js', import.meta.url));
  const port = await freePort();
  const args = [path, '--port', `${port}`, '--file', file, '--threads', `${threads}`];
  const child = startChild(process.execPath, args);
  await child.line(/bare file server ready/, 10_000);
  return { child, port };
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 5) * 1_000;
  const clip = await paddedClip(FILE_BYTES);
  const server = await serveClip(clip);
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-video-'));
  const file = join(folder, 'plain.mp4');
  const readers = new Asked<ReadersJob>('video-readers.js');
  const environment = { TOLLGATE_VIDEO_HASTE: '10', TOLLGATE_FETCH_PRIVATE: server.exception };
  let bare: Child | null = null;
  try {
    await writeFile(file, clip);
    const figures = await withVideoStage(options, { slots: 10, environment }, async (stage) => {
      const { gateway } = stage;
      const path = contentPath(await stored(stage, server.url));
      const target = { port: gateway.port, path, headers: gateway.headers };
      const lanes: Lane[] = [{ name: 'gateway', target, pids: gateway.pids() }];
      if (options.contenders === null) {
        const { child, port } = await startBarePour(file, options.shards);
        bare = child;
        lanes.unshift({
          name: 'bare',
          target: { port, path: '/', headers: {} },
          pids: [child.pid],
        });
      }
      for (const lane of lanes) await measure(readers, lane, 1_000);
      return await interleave<Key, Lane>(lanes, options.runs, (lane) =>
        measure(readers, lane, durationMs),
      );
    });
    return report(figures, durationMs);
  } finally {
    readers.stop();
    server.stop();
    await (bare as Child | null)?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function report(figures: ReadonlyMap<string, Figures<Key>>, durationMs: number): Report {
  const gateway = (key: Key) => figureOf(figures, 'gateway', key);
  const bare = figureOf(figures, 'bare', 'cpu');
  return {
    name: 'video-serve',
    title: `${FILE_BYTES / 1e6} MB to ${READERS} readers`,
    method:
      `Each reads a range at ${BYTES_PER_SECOND / 1_000} KB a second; ` +
      `${durationMs / 1_000} s are measured once the kernel has what it holds for them. ` +
      'The bare server reads the same bytes from the disk, undecrypted. Memory is what the ' +
      'process has more than before, by readers.',
    columns: [
      'contender',
      'CPU µs a MB',
      'MB a second',
      'slowest × pace',
      'KiB a reader',
      'growth',
    ],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      rounded(row['MB a second']),
      rounded(row.least),
      rounded(row.memory),
      rounded(row.growth),
    ]),
    bars: [
      {
        text: 'CPU a MB × bare',
        limit: 2.5,
        measured: gateway('cpu') / bare,
        unit: '×',
        sense: 'most',
      },
      {
        text: 'memory a reader',
        limit: 384,
        measured: gateway('memory'),
        unit: 'KiB',
        sense: 'most',
      },
      {
        text: 'slowest reader × its pace',
        limit: 0.95,
        measured: gateway('least'),
        unit: '×',
        sense: 'least',
      },
    ],
    chart: {
      title: `${FILE_BYTES / 1e6} MB to ${READERS} readers`,
      unit: 'CPU a MB in µs, less is better',
      rows: [...figures].map(([label, { cpu }]) => ({
        label,
        value: cpu,
        ...(label === 'gateway' ? { limit: 2.5 * bare } : {}),
      })),
    },
    notes: [],
  };
}

export const videoServe: Bench = { name: 'video-serve', run };
