// What it costs to make a video job: key, candidates, one durable write of hold and row, and an
// entry of the queue. The provider has one slot, so that hardly any job goes further meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Contender, chatTarget, costOf } from '../contender.ts';
import type { LoadJob } from '../load/job.ts';
import type { Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from './bench.ts';
import {
  jobsLoad,
  jobTarget,
  LONG_MS,
  makeJobs,
  type VideoStage,
  withVideoStage,
} from './video-stage.ts';

const CONNECTIONS = 64;
/** More jobs than a process works on at once: those behind them are only made. */
const BEFORE = 2_500;
/** With those, three runs stay below what may be queued. */
const JOBS = 2_300;
/** Until those that are worked on have been taken. */
const SETTLE_MS = 8_000;
const SMALL_MS = 3_000;
const SMALL_WARMUP = 15_000;
const TIMEOUT_MS = 60_000;

type Key = 'cpu' | 'database' | 'a second' | 'p50 ms' | 'p99 ms';

interface Lane {
  name: 'small answer' | 'video job';
  job: LoadJob;
}

function small(gateway: Contender, durationMs: number, requestsMax: number | null): LoadJob {
  const target = chatTarget(gateway, 'tokens=1', false);
  const limits = { connections: CONNECTIONS, requestsMax, durationMs, spreadMs: 5 };
  return { kind: 'load', target, ...limits, eventsMin: 0, seed: 1 };
}

function lanesOf(stage: VideoStage, options: BenchOptions): Lane[] {
  const target = jobTarget(stage, `render_ms=${LONG_MS}`);
  const job: Lane = { name: 'video job', job: jobsLoad(target, JOBS, CONNECTIONS) };
  if (options.profileFolder !== undefined) return [job];
  return [{ name: 'small answer', job: small(stage.gateway, SMALL_MS, null) }, job];
}

async function measure({ gateway, generator }: VideoStage, lane: Lane): Promise<Figures<Key>> {
  const { result, cost } = await costOf(gateway, () => generator.load(lane.job, TIMEOUT_MS));
  if (result.failed > 0) throw new Error(`${lane.name}: ${result.failure}`);
  return {
    cpu: cost.cpuMicros / result.requests,
    database: cost.databaseMicros / result.requests,
    'a second': (result.requests * 1_000) / result.elapsedMs,
    'p50 ms': result.totalMs.p50,
    'p99 ms': result.totalMs.p99,
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const figures = await withVideoStage(options, { slots: 1 }, async (stage) => {
    const lanes = lanesOf(stage, options);
    if (lanes.length > 1) {
      await stage.generator.load(small(stage.gateway, TIMEOUT_MS, SMALL_WARMUP), TIMEOUT_MS);
    }
    await makeJobs(stage, `render_ms=${LONG_MS}`, BEFORE);
    await sleep(SETTLE_MS);
    return await interleave<Key, Lane>(lanes, options.runs, (lane) => measure(stage, lane));
  });
  const job = (key: Key) => figureOf(figures, 'video job', key);
  const smallCpu = figureOf(figures, 'small answer', 'cpu');
  return {
    name: 'video-create',
    title: `Video jobs made, ${CONNECTIONS} at once`,
    method:
      `${JOBS} jobs on ${CONNECTIONS} keep-alive connections, each with hold, row and queue ` +
      `entry, behind ${BEFORE} that wait for one slot of their provider; small ` +
      'answers of the same gateway in turn.',
    columns: ['request', 'CPU µs', 'database µs', 'a second', 'p50 ms', 'p99 ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      rounded(row.database),
      rounded(row['a second']),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
    ]),
    bars: [
      { text: 'jobs a second', limit: 800, measured: job('a second'), unit: '', sense: 'least' },
      {
        text: 'CPU a job × a small answer',
        limit: 2,
        measured: job('cpu') / smallCpu,
        unit: '×',
        sense: 'most',
      },
    ],
    chart: {
      title: `Video jobs made, ${CONNECTIONS} at once`,
      unit: 'CPU in µs, less is better',
      rows: [...figures].map(([label, { cpu }]) => ({
        label,
        value: cpu,
        ...(label === 'video job' ? { limit: 2 * smallCpu } : {}),
      })),
    },
    notes: [],
  };
}

export const videoCreate: Bench = { name: 'video-create', run };
