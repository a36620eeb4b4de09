// The relay of streams: paced, as models write, and at full speed. CPU over the whole life of the
// streams, so that key, hold, slices, usage and settlement are in the figure.
import { type Contender, chatTarget } from '../contender.ts';
import type { ContenderName } from '../contenders/fleet.ts';
import type { Generator } from '../load/generator.ts';
import type { LoadJob } from '../load/job.ts';
import type { Bar, Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import {
  type Bench,
  type BenchOptions,
  chosen,
  type Figures,
  figureOf,
  interleave,
  progress,
} from './bench.ts';
import { costOfLoad, withFleet } from './run-fleet.ts';
import {
  chartRows,
  FULL_STREAMS,
  FULL_TOKENS,
  fullJob,
  fullOrders,
  PACED_GAP_MS,
  PACED_STREAMS,
  pacedJob,
  pacedLimit,
  pacedOrders,
  RELAY_LIMITS,
  timesBar,
} from './streams.ts';

/** A last run may only be late by this much: waiting for a stuck stream is no measurement. */
const GRACE_MS = 60_000;

type Key = 'cpu' | 'database' | 'requests a second' | 'p50 ms' | 'p99 ms' | 'generator cores';
type AllFigures = ReadonlyMap<string, Figures<Key>>;

/** Compilers see this much before anything counts: by number, for time says little under load. */
const WARMUP_REQUESTS = 3_000;
const WARMUP_MS = 20_000;

function full(contender: Contender, durationMs: number, seed: number): LoadJob {
  const target = chatTarget(contender, fullOrders, true);
  return fullJob(target, { eventsMin: FULL_TOKENS, durationMs, seed });
}

function paced(contender: Contender, durationMs: number, seed: number): LoadJob {
  const tokens = Math.round(durationMs / PACED_GAP_MS);
  const target = chatTarget(contender, pacedOrders(tokens), true);
  return pacedJob(target, { eventsMin: tokens, spreadMs: 1_000, seed });
}

/** Runs one job; `units` says what the CPU is divided by, from the number of requests. */
async function measure(
  generator: Generator,
  contender: Contender,
  job: LoadJob,
  units: (requests: number) => number,
): Promise<Figures<Key>> {
  const { result, cost } = await costOfLoad(generator, contender, job, 4 * GRACE_MS);
  return {
    cpu: cost.cpuMicros / units(result.requests),
    database: cost.databaseMicros / units(result.requests),
    'requests a second': (result.requests * 1000) / result.elapsedMs,
    'p50 ms': result.totalMs.p50,
    'p99 ms': result.totalMs.p99,
    'generator cores': result.generatorCpuMicros / 1000 / result.elapsedMs,
  };
}

async function withWarmFleet<T>(
  names: readonly ContenderName[],
  options: BenchOptions,
  work: (contenders: Contender[], generator: Generator) => Promise<T>,
): Promise<T> {
  return await withFleet(names, options, async (contenders, generator) => {
    for (const contender of contenders) {
      progress(`warming up ${contender.name}`);
      const warmup = { ...full(contender, WARMUP_MS, 7), requestsMax: WARMUP_REQUESTS };
      await costOfLoad(generator, contender, warmup, GRACE_MS);
    }
    return await work(contenders, generator);
  });
}

async function runPaced(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 12) * 1000;
  const tokens = Math.round(durationMs / PACED_GAP_MS);
  const names = chosen(['nginx', 'bare', 'gateway'], options);
  const figures = await withWarmFleet(names, options, (contenders, generator) =>
    interleave(contenders, options.runs, (contender, run) =>
      measure(generator, contender, paced(contender, durationMs, run + 1), (requests) => {
        return requests * tokens;
      }),
    ),
  );
  const gateway = cpu(figures, 'gateway');
  const others = { nginx: cpu(figures, 'nginx'), bare: cpu(figures, 'bare') };
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
      rounded(row.cpu / others.nginx),
      rounded(row.cpu / others.bare),
      rounded(row.database),
      rounded(row['generator cores']),
    ]),
    bars: [
      timesBar('CPU an event × nginx', RELAY_LIMITS.pacedNginx, gateway, others.nginx),
      timesBar('CPU an event × bare', RELAY_LIMITS.pacedBare, gateway, others.bare),
      databaseBar(figures),
    ],
    chart: {
      title: `Relay of ${PACED_STREAMS} paced streams`,
      unit: 'CPU an event in µs, less is better',
      rows: chartRows(cpus(figures), () => pacedLimit(others)),
    },
    notes: [],
  };
}

async function runFull(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 5) * 1000;
  const names = chosen(['nginx', 'bare', 'gateway', 'portkey'], options);
  const figures = await withWarmFleet(names, options, (contenders, generator) =>
    interleave(contenders, options.runs, (contender, run) =>
      measure(generator, contender, full(contender, durationMs, run + 1), (count) => count),
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
      rounded(row.cpu / bare),
      rounded(row.database),
      rounded(row['requests a second']),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
    ]),
    bars: [
      timesBar('CPU a request × bare', RELAY_LIMITS.fullBare, cpu(figures, 'gateway'), bare),
      databaseBar(figures),
    ],
    chart: {
      title: `Relay of ${FULL_TOKENS} events at full speed, ${FULL_STREAMS} streams`,
      unit: 'CPU a request in µs, less is better',
      rows: chartRows(cpus(figures), () => RELAY_LIMITS.fullBare * bare),
    },
    notes: [],
  };
}

function cpu(figures: AllFigures, name: string): number {
  return figureOf(figures, name, 'cpu');
}

function cpus(figures: AllFigures): [name: string, micros: number][] {
  return [...figures].map(([name, row]) => [name, row.cpu]);
}

/** PostgreSQL may cost at most as much again as the gateway. */
function databaseBar(figures: AllFigures): Bar {
  const measured = figureOf(figures, 'gateway', 'database') / cpu(figures, 'gateway');
  return { text: 'database CPU × gateway CPU', limit: 1, measured, unit: '×', sense: 'most' };
}

export const relayPaced: Bench = { name: 'relay-paced', run: runPaced };
export const relayFull: Bench = { name: 'relay-full', run: runFull };
