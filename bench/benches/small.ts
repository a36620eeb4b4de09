// Small answers that are not streamed: one token, 64 at once. What a request costs when there is
// nothing to relay, so what key, hold and settlement cost.
import { type Contender, chatTarget } from '../contender.ts';
import type { Generator } from '../load/generator.ts';
import type { LoadJob } from '../load/job.ts';
import type { Report } from '../report.ts';
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

const CONNECTIONS = 64;

type Key = 'cpu' | 'database' | 'requests a second' | 'p50 ms' | 'p99 ms' | 'generator';

/** Compilers see this much before anything counts: by number, for time says little under load. */
const WARMUP_REQUESTS = 60_000;
const WARMUP_MS = 30_000;
const GRACE_MS = 30_000;

function job(contender: Contender, durationMs: number, requestsMax: number | null): LoadJob {
  return {
    kind: 'load',
    target: chatTarget(contender, 'tokens=1', false),
    connections: CONNECTIONS,
    requestsMax,
    durationMs,
    spreadMs: 20,
    eventsMin: 0,
    seed: 1,
  };
}

async function measure(
  generator: Generator,
  contender: Contender,
  durationMs: number,
): Promise<Figures<Key>> {
  const load = job(contender, durationMs, null);
  const { result, cost } = await costOfLoad(generator, contender, load, GRACE_MS);
  return {
    cpu: cost.cpuMicros / result.requests,
    database: cost.databaseMicros / result.requests,
    'requests a second': (result.requests * 1000) / result.elapsedMs,
    'p50 ms': result.totalMs.p50,
    'p99 ms': result.totalMs.p99,
    generator: result.generatorCpuMicros / result.requests,
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 5) * 1000;
  const names = chosen(['direct', 'nginx', 'bare', 'gateway', 'portkey'], options);
  return await withFleet(names, options, async (contenders, generator) => {
    for (const contender of contenders) {
      progress(`warming up ${contender.name}`);
      const warmup = job(contender, WARMUP_MS, WARMUP_REQUESTS);
      await costOfLoad(generator, contender, warmup, GRACE_MS);
    }
    const figures = await interleave(contenders, options.runs, (contender) =>
      measure(generator, contender, durationMs),
    );
    return report(figures, durationMs);
  });
}

function report(figures: ReadonlyMap<string, Figures<Key>>, durationMs: number): Report {
  const cpu = (name: string): number => figureOf(figures, name, 'cpu');
  const gateway = cpu('gateway');
  const most = { unit: '×', sense: 'most' } as const;
  const limit = Math.min(4 * cpu('bare'), cpu('portkey') / 8);
  return {
    name: 'small',
    title: `Small answers, one token, not streamed, ${CONNECTIONS} at once`,
    method:
      `${durationMs / 1000} s on ${CONNECTIONS} keep-alive connections; key, durable hold and ` +
      'settlement at the gateway; database, simulator and generator on the same cores.',
    columns: [
      'contender',
      'CPU µs a request',
      'database µs',
      'a second',
      'p50 ms',
      'p99 ms',
      'generator µs',
    ],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      rounded(row.database),
      rounded(row['requests a second']),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
      rounded(row.generator),
    ]),
    bars: [
      { text: 'CPU a request × bare', limit: 4, measured: gateway / cpu('bare'), ...most },
      {
        text: 'CPU a request × portkey',
        limit: 1 / 8,
        measured: gateway / cpu('portkey'),
        ...most,
      },
      {
        text: 'answers a second',
        limit: 5_000,
        measured: figureOf(figures, 'gateway', 'requests a second'),
        unit: '',
        sense: 'least',
      },
      {
        text: 'database CPU × gateway CPU',
        limit: 1,
        measured: figureOf(figures, 'gateway', 'database') / gateway,
        ...most,
      },
    ],
    chart: {
      title: `Small answers, ${CONNECTIONS} at once`,
      unit: 'CPU a request in µs, less is better',
      rows: [...figures].flatMap(([name, row]) =>
        name === 'direct'
          ? []
          : [{ label: name, value: row.cpu, ...(name === 'gateway' ? { limit } : {}) }],
      ),
    },
    notes: [
      'The direct row shows that generator and simulator alone answer faster than any contender: ' +
        'neither is the bottleneck.',
    ],
  };
}

export const small: Bench = { name: 'small', run };
