// The relay of streams for every pair of a format in and a family out, beside bare forwarding of
// the same format's upstream stream. One bench a format: its contenders then fit into a minute.
import type { Contender } from '../contender.ts';
import type { ContenderName } from '../contenders/fleet.ts';
import {
  type Family,
  type Format,
  families,
  familyModels,
  formatPaths,
  formats,
  formatTarget,
  framingEvents,
  ownFamilies,
} from '../formats.ts';
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

/**
 * A lane's share of what the compilers see first. Window by window from a cold start, the gateway's
 * CPU a request of 200 events falls until it has answered about 45,000: 1,170 µs in the first two
 * seconds, 390 after 15,000, 330 from 45,000 on (bare: 305, and 180 from 20,000 on). What lives for
 * weeks is measured as it is then.
 */
const WARMUP_REQUESTS = 12_000;
const WARMUP_MS = 60_000;
const GRACE_MS = 60_000;
const VERSION = '2023-06-01';
const oneRunNote =
  'One run of each contender, in a fixed order. Bare at full speed was measured between 498 and ' +
  '721 µs for the same Chat streams in runs of one hour: a verdict within a third of its bar is ' +
  'open.';

/** `paced` is CPU an event, `full` CPU a request of 200 events. */
type Key = 'paced' | 'full';

function nameOf(family: Family): string {
  return `gateway → ${family}`;
}

/** The contenders of one format: those that forward bytes, and the gateway once a family. */
function lanesOf(format: Format, contenders: readonly Contender[]): Contender[] {
  const path = formatPaths[format];
  const version = format === 'messages' ? { 'anthropic-version': VERSION } : {};
  return contenders.flatMap((contender) => {
    const headers = { ...contender.headers, ...version };
    if (contender.name !== 'gateway') {
      const model = familyModels[ownFamilies[format]].upstream;
      return [{ ...contender, path, model, headers }];
    }
    return families.map((family) => {
      const model = familyModels[family].alias;
      return { ...contender, name: nameOf(family), path, model, headers };
    });
  });
}

function full(format: Format, contender: Contender, durationMs: number, seed: number): LoadJob {
  const eventsMin = FULL_TOKENS + framingEvents[format];
  return fullJob(formatTarget(contender, format, fullOrders), { eventsMin, durationMs, seed });
}

function paced(format: Format, contender: Contender, tokens: number, seed: number): LoadJob {
  const eventsMin = tokens + framingEvents[format];
  const target = formatTarget(contender, format, pacedOrders(tokens));
  return pacedJob(target, { eventsMin, spreadMs: 500, seed });
}

/** CPU a request. */
async function cpuOf(generator: Generator, contender: Contender, job: LoadJob): Promise<number> {
  const { result, cost } = await costOfLoad(generator, contender, job, GRACE_MS);
  return cost.cpuMicros / result.requests;
}

async function run(format: Format, options: BenchOptions): Promise<Report> {
  const pacedMs = (options.seconds ?? 5) * 1_000;
  const tokens = Math.round(pacedMs / PACED_GAP_MS);
  const names: readonly ContenderName[] = chosen(['nginx', 'bare', 'gateway'], options);
  return await withFleet(names, options, async (contenders, generator) => {
    const lanes = lanesOf(format, contenders);
    for (const lane of lanes) {
      // The gateway's process is warmed by all of its lanes: the others get as many requests.
      const isOne = lane.name.startsWith('gateway');
      const requestsMax = isOne ? WARMUP_REQUESTS : WARMUP_REQUESTS * families.length;
      const warmup = { ...full(format, lane, WARMUP_MS, 7), requestsMax };
      await costOfLoad(generator, lane, warmup, GRACE_MS);
    }
    const figures = await interleave<Key, Contender>(lanes, options.runs, async (lane, index) => {
      const pacedCpu = await cpuOf(generator, lane, paced(format, lane, tokens, index + 1));
      const fullLoad = full(format, lane, pacedMs / 2, index + 1);
      return { paced: pacedCpu / tokens, full: await cpuOf(generator, lane, fullLoad) };
    });
    return report(format, figures, tokens, options.runs);
  });
}

function report(
  format: Format,
  figures: ReadonlyMap<string, Figures<Key>>,
  tokens: number,
  runs: number,
): Report {
  const own = nameOf(ownFamilies[format]);
  const of = (name: string, key: Key) => figureOf(figures, name, key);
  const limit = pacedLimit({ nginx: of('nginx', 'paced'), bare: of('bare', 'paced') });
  const limitOf = (name: string) => (name === own ? limit : 2 * of(own, 'paced'));
  return {
    name: `pairs-${format}`,
    title: `Relay of ${format} streams from every family`,
    method:
      `CPU an event: ${PACED_STREAMS} streams of ${tokens} tokens, one each ${PACED_GAP_MS} ms, ` +
      'their whole life included. CPU a request: ' +
      `${FULL_STREAMS} streams of ${FULL_TOKENS} tokens at full speed. nginx and bare forward ` +
      `the stream of ${ownFamilies[format]}; a translated pair is held against the pair of that ` +
      'family. Every stream is counted to its end in its own framing.',
    columns: [
      'contender',
      'CPU µs an event',
      '× bare',
      '× nginx',
      '× own family',
      'CPU µs a request at full speed',
      '× bare',
      '× own family',
    ],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.paced),
      rounded(row.paced / of('bare', 'paced')),
      rounded(row.paced / of('nginx', 'paced')),
      rounded(row.paced / of(own, 'paced')),
      rounded(row.full),
      rounded(row.full / of('bare', 'full')),
      rounded(row.full / of(own, 'full')),
    ]),
    bars: barsOf(figures, own),
    chart: {
      title: `Relay of ${format} streams from every family`,
      unit: 'CPU an event in µs, less is better',
      rows: chartRows(
        [...figures].map(([name, row]) => [name, row.paced]),
        limitOf,
      ),
    },
    notes: runs === 1 ? [oneRunNote] : [],
  };
}

function barsOf(figures: ReadonlyMap<string, Figures<Key>>, own: string): Bar[] {
  const bar = (text: string, limit: number, name: string, base: string, key: Key): Bar =>
    timesBar(text, limit, figureOf(figures, name, key), figureOf(figures, base, key));
  const translated = families.map(nameOf).filter((name) => name !== own);
  return [
    bar('own family, CPU an event × bare', RELAY_LIMITS.pacedBare, own, 'bare', 'paced'),
    bar('own family, CPU an event × nginx', RELAY_LIMITS.pacedNginx, own, 'nginx', 'paced'),
    bar(
      'own family at full speed, CPU a request × bare',
      RELAY_LIMITS.fullBare,
      own,
      'bare',
      'full',
    ),
    ...translated.flatMap((name) => [
      bar(`${name}, CPU an event × own family`, 2, name, own, 'paced'),
      bar(`${name} at full speed × own family`, 2, name, own, 'full'),
    ]),
  ];
}

export const pairs: readonly Bench[] = formats.map((format) => ({
  name: `pairs-${format}`,
  run: (options) => run(format, options),
}));
