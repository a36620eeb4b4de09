// Memory of open streams that say nothing: thousands at once, begun and then silent. What is
// counted is the growth of resident memory from the warm, empty process.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Contender, chatTarget } from '../contender.ts';
import type { Generator } from '../load/generator.ts';
import { rssBytesOf } from '../proc.ts';
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
import { withFleet } from './run-fleet.ts';

const STREAMS = 5_000;
const WARMUP_STREAMS = 200;
const OPENING_MAX = 100;
/** After the role event and one token, silence for ten minutes. */
const ORDERS = 'tokens=4 gap_ms=600000';
const SETTLE_MS = 5_000;

type Key = 'KB a stream' | 'RSS before MB' | 'RSS open MB';

async function open(generator: Generator, contender: Contender, streams: number): Promise<void> {
  const job = {
    kind: 'hold',
    target: chatTarget(contender, ORDERS, true),
    connections: streams,
    openingMax: OPENING_MAX,
  } as const;
  const result = await generator.hold(job, 120_000);
  if (result.failed > 0) throw new Error(`${contender.name}: ${result.failure}`);
}

async function measure(generator: Generator, contender: Contender): Promise<Figures<Key>> {
  await open(generator, contender, WARMUP_STREAMS);
  await generator.release();
  await sleep(SETTLE_MS);
  const before = rssBytesOf(contender.pids());
  await open(generator, contender, STREAMS);
  await sleep(SETTLE_MS);
  const during = rssBytesOf(contender.pids());
  const lasted = await generator.release();
  if (lasted.opened !== STREAMS) {
    const lost = STREAMS - lasted.opened;
    throw new Error(`${contender.name}: ${lost} streams were lost: ${lasted.failure}`);
  }
  return {
    'KB a stream': (during - before) / STREAMS / 1024,
    'RSS before MB': before / 2 ** 20,
    'RSS open MB': during / 2 ** 20,
  };
}

/** Fresh processes for every run: memory that a process once had, it hardly gives back. */
function measureFresh(
  name: 'nginx' | 'bare' | 'gateway',
  options: BenchOptions,
): Promise<Figures<Key>> {
  return withFleet([name], options, async ([contender], generator) => {
    if (contender === undefined) throw new Error(`${name} was not started`);
    return await measure(generator, contender);
  });
}

async function run(options: BenchOptions): Promise<Report> {
  const names = chosen(['nginx', 'bare', 'gateway'], options) as ('nginx' | 'bare' | 'gateway')[];
  progress(`${STREAMS} streams, fresh processes for every run`);
  const figures = await interleave(
    names.map((name) => ({ name })),
    options.runs,
    ({ name }) => measureFresh(name, options),
  );
  const each = (name: string): number => figureOf(figures, name, 'KB a stream');
  const measured = each('gateway') / each('bare');
  return {
    name: 'idle',
    title: `${STREAMS.toLocaleString('en-US')} open idle streams`,
    method:
      `Growth of resident memory of a fresh process by ${STREAMS} streams that ` +
      'have begun and are silent, their upstream connections included, divided by their number.',
    columns: ['contender', 'KB a stream', '× bare', 'RSS before MB', 'RSS open MB'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['KB a stream']),
      rounded(row['KB a stream'] / each('bare')),
      rounded(row['RSS before MB']),
      rounded(row['RSS open MB']),
    ]),
    bars: [{ text: 'RSS a stream × bare', limit: 1.5, measured, unit: '×', sense: 'most' }],
    chart: {
      title: `Memory of an open idle stream (${STREAMS.toLocaleString('en-US')} at once)`,
      unit: 'KB of resident memory a stream, less is better',
      rows: [...figures].map(([name, row]) => ({
        label: name,
        value: row['KB a stream'],
        ...(name === 'gateway' ? { limit: 1.5 * each('bare') } : {}),
      })),
    },
    notes: [],
  };
}

export const idle: Bench = { name: 'idle', run };
