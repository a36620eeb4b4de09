// Queries at once: what one costs, asked of a provider or taken from what is kept. Beside them the
// bare relay passes the same bytes.
import type { Contender } from '../../contender.ts';
import type { Generator } from '../../load/generator.ts';
import type { LoadJob, Target } from '../../load/job.ts';
import type { Bar, Report } from '../../report.ts';
import { rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from '../bench.ts';
import { costOfLoad, withFleet } from '../run-fleet.ts';
import { providerTarget, queryTarget } from './target.ts';

const CONNECTIONS = 64;
const WARMUP_REQUESTS = 20_000;
const WARMUP_MS = 20_000;
const GRACE_MS = 30_000;
const ORDERS = 'results=10 bytes=8192';

type Key = 'cpu' | 'database' | 'requests a second' | 'p50 ms' | 'p99 ms' | 'calls';
interface Lane {
  name: string;
  contender: Contender;
  target: Target;
}

const bare = 'bare relay';
const asked = 'query, asked';
const kept = 'query, kept';

function job(target: Target, durationMs: number, requestsMax: number | null): LoadJob {
  const pace = { spreadMs: 20, eventsMin: 0, seed: 1 };
  return { kind: 'load', target, connections: CONNECTIONS, requestsMax, durationMs, ...pace };
}

/** How often the simulator's searches were asked so far. */
async function callsOf(simulatorPort: number): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${simulatorPort}/sim/stats`);
  const { models } = (await reply.json()) as { models: Record<string, { started: number }> };
  return models['serper-search']?.started ?? 0;
}

async function measure(
  generator: Generator,
  { contender, target }: Lane,
  durationMs: number,
  simulatorPort: number,
): Promise<Figures<Key>> {
  const before = await callsOf(simulatorPort);
  const load = job(target, durationMs, null);
  const { result, cost } = await costOfLoad(generator, contender, load, GRACE_MS);
  return {
    cpu: cost.cpuMicros / result.requests,
    database: cost.databaseMicros / result.requests,
    'requests a second': (result.requests * 1_000) / result.elapsedMs,
    'p50 ms': result.totalMs.p50,
    'p99 ms': result.totalMs.p99,
    calls: ((await callsOf(simulatorPort)) - before) / result.requests,
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 5) * 1_000;
  return await withFleet(['direct', 'bare', 'gateway'], options, async (contenders, generator) => {
    const [direct, relay, gateway] = contenders;
    if (direct === undefined || relay === undefined || gateway === undefined) {
      throw new Error('three contenders are needed');
    }
    const lanes: Lane[] = [
      { name: bare, contender: relay, target: providerTarget(relay, ORDERS) },
      { name: asked, contender: gateway, target: queryTarget(gateway, ORDERS, 0) },
      { name: kept, contender: gateway, target: queryTarget(gateway, ORDERS) },
    ];
    for (const { contender, target } of lanes) {
      await costOfLoad(generator, contender, job(target, WARMUP_MS, WARMUP_REQUESTS), GRACE_MS);
    }
    const figures = await interleave<Key, Lane>(lanes, options.runs, (lane) =>
      measure(generator, lane, durationMs, direct.port),
    );
    return report(figures, durationMs);
  });
}

function report(figures: ReadonlyMap<string, Figures<Key>>, durationMs: number): Report {
  const of = (name: string, key: Key) => figureOf(figures, name, key);
  return {
    name: 'query-crowd',
    title: `Queries of ten items in 8 KB, ${CONNECTIONS} at once`,
    method:
      `${durationMs / 1_000} s on ${CONNECTIONS} keep-alive connections; key, durable hold and ` +
      'settlement, items and their check at the gateway. Database, simulator and generator are ' +
      'on the same cores. What is kept is asked for by the same account.',
    columns: ['lane', 'CPU µs', 'database µs', 'a second', 'p50 ms', 'p99 ms', 'calls a query'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      rounded(row.database),
      rounded(row['requests a second']),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
      rounded(row.calls),
    ]),
    bars: barsOf(of),
    chart: {
      title: `Queries, ${CONNECTIONS} at once`,
      unit: 'CPU a query in µs, less is better',
      rows: [...figures].map(([label, { cpu }]) => ({
        label,
        value: cpu,
        ...(label === asked ? { limit: 4 * of(bare, 'cpu') } : {}),
      })),
    },
    notes: [],
  };
}

function barsOf(of: (name: string, key: Key) => number): Bar[] {
  const most = { sense: 'most', unit: '×' } as const;
  return [
    { text: 'CPU, asked × bare', limit: 4, measured: of(asked, 'cpu') / of(bare, 'cpu'), ...most },
    {
      text: 'CPU, kept × asked',
      limit: 1 / 3,
      measured: of(kept, 'cpu') / of(asked, 'cpu'),
      ...most,
    },
    {
      text: 'p99 of kept × p50 of asked',
      limit: 1,
      measured: of(kept, 'p99 ms') / of(asked, 'p50 ms'),
      ...most,
    },
    {
      text: 'calls of a kept one',
      limit: 0,
      measured: of(kept, 'calls'),
      sense: 'most',
      unit: '',
    },
  ];
}

export const queryCrowd: Bench = { name: 'query-crowd', run };
