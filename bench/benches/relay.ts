// The relay of streams: paced, as models write, and at full speed. CPU over the whole life of the
// streams, so that key, hold, slices, usage and settlement are in the figure.
import { assertClean, type Contender, chatTarget, costOf } from '../contender.ts';
import { type ContenderName, startFleet } from '../contenders/fleet.ts';
import { Generator } from '../load/generator.ts';
import type { LoadJob } from '../load/job.ts';
import type { Bar, Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import {
  type Bench,
  type BenchOptions,
  chosen,
  type Figures,
  figureOf,
  fleetOptions,
  interleave,
  progress,
} from './bench.ts';

const PACED_STREAMS = 250;
const PACED_GAP_MS = 20;
const FULL_STREAMS = 32;
const FULL_TOKENS = 200;
/** A last run may only be late by this much: waiting for a stuck stream is no measurement. */
const GRACE_MS = 60_000;

type Key = 'cpu' | 'database' | 'requests a second' | 'p50 ms' | 'p99 ms' | 'generator cores';
type AllFigures = ReadonlyMap<string, Figures<Key>>;

/** Compilers see this much before anything counts: by number, for time says little under load. */
const WARMUP_REQUESTS = 3_000;
const WARMUP_MS = 20_000;

/** Streams at full speed: events leave the simulator as fast as the contender takes them. */
function fullJob(contender: Contender, durationMs: number, seed: number): LoadJob {
  return {
    kind: 'load',
    target: chatTarget(contender, `tokens=${FULL_TOKENS}`, true),
    connections: FULL_STREAMS,
    requestsMax: null,
    durationMs,
    spreadMs: 20,
    eventsMin: FULL_TOKENS,
    seed,
  };
}

/** Paced streams: each of them once, all at the same time, begun within a second. */
function pacedJob(contender: Contender, durationMs: number, seed: number): LoadJob {
  const tokens = Math.round(durationMs / PACED_GAP_MS);
  return {
    kind: 'load',
    target: chatTarget(contender, `tokens=${tokens} gap_ms=${PACED_GAP_MS}`, true),
    connections: PACED_STREAMS,
    requestsMax: PACED_STREAMS,
    durationMs: null,
    spreadMs: 1_000,
    eventsMin: tokens,
    seed,
  };
}

/** Runs one job; `units` says what the CPU is divided by, from the number of requests. */
async function measure(
  generator: Generator,
  contender: Contender,
  job: LoadJob,
  units: (requests: number) => number,
): Promise<Figures<Key>> {
  const { result, cost } = await costOf(contender, () =>
    generator.load(job, (job.durationMs ?? 0) + 4 * GRACE_MS),
  );
  assertClean(contender, result);
  return {
    cpu: cost.cpuMicros / units(result.requests),
    database: cost.databaseMicros / units(result.requests),
    'requests a second': (result.requests * 1000) / result.elapsedMs,
    'p50 ms': result.totalMs.p50,
    'p99 ms': result.totalMs.p99,
    'generator cores': result.generatorCpuMicros / 1000 / result.elapsedMs,
  };
}

async function withFleet<T>(
  names: readonly ContenderName[],
  options: BenchOptions,
  work: (contenders: Contender[], generator: Generator) => Promise<T>,
): Promise<T> {
  progress(`starting ${names.join(', ')}`);
  const fleet = await startFleet(fleetOptions(names, options));
  const generator = new Generator();
  try {
    for (const contender of fleet.contenders) {
      progress(`warming up ${contender.name}`);
      const warmup = { ...fullJob(contender, WARMUP_MS, 7), requestsMax: WARMUP_REQUESTS };
      assertClean(contender, await generator.load(warmup, WARMUP_MS + GRACE_MS));
    }
    return await work(fleet.contenders, generator);
  } finally {
    generator.stop();
    await fleet.stop();
  }
}

async function runPaced(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 12) * 1000;
  const tokens = Math.round(durationMs / PACED_GAP_MS);
  const names = chosen(['nginx', 'bare', 'gateway'], options);
  const figures = await withFleet(names, options, (contenders, generator) =>
    interleave(contenders, options.runs, (contender, run) =>
      measure(generator, contender, pacedJob(contender, durationMs, run + 1), (requests) => {
        return requests * tokens;
      }),
    ),
  );
  const gateway = figureOf(figures, 'gateway', 'cpu');
  return {
    name: 'relay-paced',
    title: `Relay, paced: ${PACED_STREAMS} streams, an event each ${PACED_GAP_MS} ms`,
    method:
      `CPU an event over the whole life of ${PACED_STREAMS} streams of ${tokens} tokens ` +
      '(start, hold, slices, settlement included); an event is one token of the answer.',
    columns: [
      'contender',
      'CPU µs an event',
      '× nginx',
      '× bare',
      'database µs',
      'generator cores',
    ],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      ratio(row.cpu, figureOf(figures, 'nginx', 'cpu')),
      ratio(row.cpu, figureOf(figures, 'bare', 'cpu')),
      rounded(row.database),
      rounded(row['generator cores']),
    ]),
    bars: [
      timesBar('CPU an event × nginx', 2.2, gateway, figureOf(figures, 'nginx', 'cpu')),
      timesBar('CPU an event × bare', 1.3, gateway, figureOf(figures, 'bare', 'cpu')),
      databaseBar(figures),
    ],
    chart: {
      title: `Relay of ${PACED_STREAMS} paced streams`,
      unit: 'CPU an event in µs, less is better',
      rows: chartRows(figures, Math.min(2.2 * cpu(figures, 'nginx'), 1.3 * cpu(figures, 'bare'))),
    },
    notes: [],
  };
}

async function runFull(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 5) * 1000;
  const names = chosen(['nginx', 'bare', 'gateway', 'portkey'], options);
  const figures = await withFleet(names, options, (contenders, generator) =>
    interleave(contenders, options.runs, (contender, run) =>
      measure(generator, contender, fullJob(contender, durationMs, run + 1), (count) => count),
    ),
  );
  const bare = cpu(figures, 'bare');
  return {
    name: 'relay-full',
    title: `Relay at full speed: ${FULL_TOKENS} events, ${FULL_STREAMS} streams`,
    method: `CPU a request over ${durationMs / 1000} s; every stream is counted to its end.`,
    columns: [
      'contender',
      'CPU µs a request',
      '× bare',
      'database µs',
      'a second',
      'p50 ms',
      'p99 ms',
    ],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      ratio(row.cpu, bare),
      rounded(row.database),
      rounded(row['requests a second']),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
    ]),
    bars: [
      timesBar('CPU a request × bare', 1.6, cpu(figures, 'gateway'), bare),
      databaseBar(figures),
    ],
    chart: {
      title: `Relay of ${FULL_TOKENS} events at full speed, ${FULL_STREAMS} streams`,
      unit: 'CPU a request in µs, less is better',
      rows: chartRows(figures, 1.6 * bare),
    },
    notes: [],
  };
}

function cpu(figures: AllFigures, name: string): number {
  return figureOf(figures, name, 'cpu');
}

function ratio(value: number, base: number): string {
  return rounded(value / base);
}

function timesBar(text: string, limit: number, value: number, base: number): Bar {
  return { text, limit, measured: value / base, unit: '×', sense: 'most' };
}

/** PostgreSQL may cost at most as much again as the gateway. */
function databaseBar(figures: AllFigures): Bar {
  const measured = figureOf(figures, 'gateway', 'database') / cpu(figures, 'gateway');
  return { text: 'database CPU × gateway CPU', limit: 1, measured, unit: '×', sense: 'most' };
}

function chartRows(figures: AllFigures, limit: number): Report['chart']['rows'] {
  return [...figures].map(([name, row]) => ({
    label: name,
    value: row.cpu,
    ...(name === 'gateway' && Number.isFinite(limit) ? { limit } : {}),
  }));
}

export const relayPaced: Bench = { name: 'relay-paced', run: runPaced };
export const relayFull: Bench = { name: 'relay-full', run: runFull };
