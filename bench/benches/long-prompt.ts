// Prompts of about 200,000 tokens on every format, to an exact model and to a managed route that
// optimizes them: how long a shard is blocked, what stays in memory, and the CPU of a request.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksBetween, longestWorkMs } from '../blocks.ts';
import { freePort } from '../child.ts';
import { assertClean, type Contender, costOf } from '../contender.ts';
import { startGateway } from '../contenders/gateway.ts';
import { startSimulator } from '../contenders/simulator.ts';
import { type Format, familyModels, formatPaths, formats, ownFamilies } from '../formats.ts';
import { Generator } from '../load/generator.ts';
import type { LoadJob, Target } from '../load/job.ts';
import { longBody, longConversation } from '../long-prompt.ts';
import { peakRssBytesOf, resetPeakRss, rssBytesOf } from '../proc.ts';
import type { Bar, Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, type Figures, interleave, progress } from './bench.ts';

const ALONE_REQUESTS = 24;
const TOGETHER = 32;
const TOGETHER_FIRST_MS = 4_000;
const TOGETHER_SPREAD_MS = 1_500;
const WARMUP_REQUESTS = 32;
const TIMEOUT_MS = 60_000;
const BLOCK_MS_MAX = 20;
const COPIES_MAX = 3;

type Key = 'cpu' | 'alone' | 'aloneWork' | 'together' | 'togetherWork' | 'copies' | 'p50' | 'main';

/** What is measured, and by what. */
interface Bed {
  gateway: Contender;
  generator: Generator;
  metricsPort: number;
  blocksFolder: string;
}

interface Lane {
  name: string;
  target: Target;
  /** The same, with a pause before the first event. */
  slow: Target;
}

function catalogOf(simulatorPort: number): object {
  const price = { input_per_million: '0.01', output_per_million: '0.01' };
  const providers = formats.map((format) => ({
    name: `long-${format}`,
    family: ownFamilies[format],
    base_url: `http://127.0.0.1:${simulatorPort}/v1`,
  }));
  const models = formats.map((format) => ({
    alias: `long-${format}`,
    routes: [
      { provider: `long-${format}`, upstream_model: familyModels[ownFamilies[format]].upstream },
    ],
    price,
    context_window: 1_000_000,
    capabilities: ['chat', 'tools', 'vision', 'structured_output'],
  }));
  // Of its own format, so that the figures of exact and managed differ by the route alone.
  const routes = formats.map((format) => ({
    alias: `optimized-${format}`,
    pool: [{ model: `long-${format}` }],
    optimizer: 'always',
  }));
  return { providers, models, routes };
}

function lanesOf(gateway: Contender): Lane[] {
  const messages = longConversation();
  const targetOf = (format: Format, model: string, orders: string): Target => ({
    host: '127.0.0.1',
    port: gateway.port,
    path: formatPaths[format],
    headers: gateway.headers,
    body: longBody(format, model, messages, orders),
  });
  return formats.flatMap((format) =>
    ['long', 'optimized'].map((kind) => ({
      name: `${format}, ${kind === 'long' ? 'exact' : 'optimized'}`,
      target: targetOf(format, `${kind}-${format}`, 'tokens=4'),
      slow: targetOf(format, `${kind}-${format}`, `tokens=4 first_ms=${TOGETHER_FIRST_MS}`),
    })),
  );
}

function job(target: Target, connections: number, requestsMax: number, spreadMs = 0): LoadJob {
  const eventsMin = 4;
  const limits = { connections, requestsMax, durationMs: null, spreadMs };
  return { kind: 'load', target, ...limits, eventsMin, seed: 1 };
}

/** The longest delay of a loop since the last look, in milliseconds; of the worst shard. */
async function delaysMs(metricsPort: number): Promise<{ shards: number; main: number }> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  const text = await response.text();
  const delays = { shards: 0, main: 0 };
  const line = /^tollgate_event_loop_delay_seconds\{(.*quantile="1".*)\} (\S+)$/gm;
  for (const [, labels = '', value] of text.matchAll(line)) {
    const thread = labels.includes('thread="main"') ? 'main' : 'shards';
    delays[thread] = Math.max(delays[thread], Number(value) * 1_000);
  }
  return delays;
}

async function measure(lane: Lane, bed: Bed): Promise<Figures<Key>> {
  const { gateway, generator, metricsPort, blocksFolder } = bed;
  await delaysMs(metricsPort);
  const aloneFromMs = Date.now();
  const alone = await costOf(gateway, () =>
    generator.load(job(lane.target, 1, ALONE_REQUESTS), TIMEOUT_MS),
  );
  assertClean(gateway, alone.result);
  const aloneDelays = await delaysMs(metricsPort);
  const aloneBlocks = blocksBetween(blocksFolder, aloneFromMs, Date.now());
  const pids = gateway.pids();
  resetPeakRss(pids);
  const rssBefore = rssBytesOf(pids);
  await delaysMs(metricsPort);
  const togetherFromMs = Date.now();
  const together = await generator.load(
    job(lane.slow, TOGETHER, TOGETHER, TOGETHER_SPREAD_MS),
    TIMEOUT_MS,
  );
  assertClean(gateway, together);
  const growth = peakRssBytesOf(pids) - rssBefore;
  const togetherDelays = await delaysMs(metricsPort);
  const togetherBlocks = blocksBetween(blocksFolder, togetherFromMs, Date.now());
  return {
    cpu: alone.cost.cpuMicros / 1_000 / alone.result.requests,
    p50: alone.result.totalMs.p50,
    alone: aloneDelays.shards,
    aloneWork: longestWorkMs(aloneBlocks),
    together: togetherDelays.shards,
    togetherWork: longestWorkMs(togetherBlocks),
    main: Math.max(aloneDelays.main, togetherDelays.main),
    copies: growth / TOGETHER / Buffer.byteLength(lane.slow.body),
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const simulator = await startSimulator();
  const generator = new Generator();
  const blocksFolder = await mkdtemp(join(tmpdir(), 'tollgate-bench-blocks-'));
  try {
    const metricsPort = await freePort();
    const catalog = catalogOf(simulator.port);
    const gateway = await startGateway({ ...options, catalog, metricsPort, blocksFolder });
    try {
      const lanes = lanesOf(gateway);
      progress(`bodies of ${lanes.map(({ target }) => target.body.length).join(', ')} characters`);
      for (const lane of lanes) {
        const warmup = await generator.load(job(lane.target, 2, WARMUP_REQUESTS), TIMEOUT_MS);
        assertClean(gateway, warmup);
      }
      const bed = { gateway, generator, metricsPort, blocksFolder };
      const figures = await interleave<Key, Lane>(lanes, options.runs, (lane) =>
        measure(lane, bed),
      );
      return report(figures, Buffer.byteLength(lanes[0]?.target.body ?? ''));
    } finally {
      await gateway.stop();
    }
  } finally {
    generator.stop();
    await simulator.stop();
    await rm(blocksFolder, { recursive: true, force: true });
  }
}

function report(figures: ReadonlyMap<string, Figures<Key>>, bodyBytes: number): Report {
  const worst = (key: Key) => Math.max(...[...figures.values()].map((row) => row[key]));
  const bar = (text: string, limit: number, measured: number, unit: string): Bar => {
    return { text, limit, measured, unit, sense: 'most' };
  };
  return {
    name: 'long-prompt',
    title: 'Prompts of 200,000 tokens',
    method:
      `A coding session of ${(bodyBytes / 1e6).toFixed(2)} MB (at 4 bytes a token about ` +
      `${Math.round(bodyBytes / 4_000).toLocaleString('en-US')},000 tokens), answered with 4 ` +
      `tokens. ${ALONE_REQUESTS} requests one after the other, then ${TOGETHER} begun within ` +
      `${TOGETHER_SPREAD_MS / 1_000} s and open at once for ${TOGETHER_FIRST_MS / 1_000} s. ` +
      "Blocks are the longest delay of a shard's event loop; copies are the growth of the peak " +
      'of resident memory while they are open, divided by their bytes.',
    columns: [
      'request',
      'longest block ms',
      'less waits for a core',
      `with ${TOGETHER} at once`,
      'less waits for a core',
      'main thread ms',
      'copies in memory',
      'CPU ms a request',
      'p50 ms',
    ],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.alone),
      rounded(row.aloneWork),
      rounded(row.together),
      rounded(row.togetherWork),
      rounded(row.main),
      rounded(row.copies),
      rounded(row.cpu),
      rounded(row.p50),
    ]),
    bars: [
      bar('longest block of a shard, one after the other', BLOCK_MS_MAX, worst('alone'), 'ms'),
      bar(`longest block of a shard, ${TOGETHER} at once`, BLOCK_MS_MAX, worst('together'), 'ms'),
      bar('copies of a body in memory', COPIES_MAX, worst('copies'), '×'),
    ],
    chart: {
      title: `Longest block of a shard, ${TOGETHER} prompts of 1 MB at once`,
      unit: 'milliseconds, less is better',
      rows: [...figures].map(([name, row]) => ({
        label: name,
        value: row.together,
        limit: BLOCK_MS_MAX,
      })),
    },
    notes: [
      'The process is warm: memory that earlier requests have freed and the process has kept ' +
        'takes up part of the growth, so the copies are a lower bound, least certain where they ' +
        'are few. Delays are wall-clock time with generator, simulator and database on the same ' +
        'cores: a shard that waits for a core counts as blocked, and the bars count it, too. ' +
        'Beside it stands the longest delay less the time that the thread stood ready without a ' +
        'core (schedstat, sampled each 2 ms in the shard itself); it need not be the same delay, ' +
        'and may be up to 2 ms too long.',
    ],
  };
}

export const longPrompt: Bench = { name: 'long-prompt', run };
