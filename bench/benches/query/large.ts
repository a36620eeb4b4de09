// Replies of 1 MiB: how long a shard is held up by one, and by eight at once.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksBetween, longestWorkMs } from '../../blocks.ts';
import { type Contender, costOf } from '../../contender.ts';
import { startGateway } from '../../contenders/gateway.ts';
import { Generator } from '../../load/generator.ts';
import type { LoadJob } from '../../load/job.ts';
import type { Report } from '../../report.ts';
import { rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from '../bench.ts';
import { queryTarget } from './target.ts';

const WARMUP_REQUESTS = 64;
const REQUESTS = 48;
const TIMEOUT_MS = 60_000;
const BLOCK_MS_MAX = 20;
const ORDERS = 'results=50 bytes=1048576';

type Key = 'longest turn ms' | 'CPU ms' | 'p50 ms';
const lanes = [
  { name: 'one after the other', connections: 1 },
  { name: 'eight at once', connections: 8 },
] as const;
type Lane = (typeof lanes)[number];

function job(gateway: Contender, connections: number, requestsMax: number): LoadJob {
  const target = queryTarget(gateway, ORDERS, 0);
  const pace = { durationMs: null, spreadMs: 20, eventsMin: 0, seed: 1 };
  return { kind: 'load', target, connections, requestsMax, ...pace };
}

async function measure(
  { connections }: Lane,
  gateway: Contender,
  generator: Generator,
  blocksFolder: string,
): Promise<Figures<Key>> {
  const fromMs = Date.now();
  const { result, cost } = await costOf(gateway, () =>
    generator.load(job(gateway, connections, REQUESTS), TIMEOUT_MS),
  );
  if (result.failed > 0) throw new Error(`a large reply failed: ${result.failure}`);
  return {
    'longest turn ms': longestWorkMs(blocksBetween(blocksFolder, fromMs, Date.now())),
    'CPU ms': cost.cpuMicros / 1_000 / result.requests,
    'p50 ms': result.totalMs.p50,
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const blocksFolder = await mkdtemp(join(tmpdir(), 'tollgate-bench-blocks-'));
  const gateway = await startGateway({ shards: options.shards, blocksFolder });
  const generator = new Generator();
  try {
    await generator.load(job(gateway, 8, WARMUP_REQUESTS), TIMEOUT_MS);
    const figures = await interleave<Key, Lane>(lanes, options.runs, (lane) =>
      measure(lane, gateway, generator, blocksFolder),
    );
    return report(figures);
  } finally {
    generator.stop();
    await gateway.stop();
    await rm(blocksFolder, { recursive: true, force: true });
  }
}

function report(figures: ReadonlyMap<string, Figures<Key>>): Report {
  return {
    name: 'query-large',
    title: 'Queries whose provider answers with 1 MiB',
    method:
      `${REQUESTS} queries a run with fifty results and filling. A turn is the longest time that ` +
      'a shard was held up, without the waits of its thread for a core.',
    columns: ['lane', 'longest turn ms', 'CPU ms a query', 'p50 ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['longest turn ms']),
      rounded(row['CPU ms']),
      rounded(row['p50 ms']),
    ]),
    bars: lanes.map(({ name }) => ({
      text: `longest turn, ${name}`,
      limit: BLOCK_MS_MAX,
      measured: figureOf(figures, name, 'longest turn ms'),
      unit: 'ms',
      sense: 'most' as const,
    })),
    chart: {
      title: 'How long a reply of 1 MiB holds up a shard',
      unit: 'ms, less is better',
      rows: [...figures].map(([label, row]) => ({
        label,
        value: row['longest turn ms'],
        limit: BLOCK_MS_MAX,
      })),
    },
    notes: [],
  };
}

export const queryLarge: Bench = { name: 'query-large', run };
