// The relay of streams for every pair of a format in and a family out, beside bare forwarding of
// the same format's upstream stream. One bench a format: its contenders then fit into a minute.
import { assertClean, type Contender, costOf } from '../contender.ts';
import { type ContenderName, startFleet } from '../contenders/fleet.ts';
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
const WARMUP_REQUESTS = 1_000;
const WARMUP_MS = 10_000;
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

function fullJob(format: Format, contender: Contender, durationMs: number, seed: number): LoadJob {
  return {
    kind: 'load',
    target: formatTarget(contender, format, `tokens=${FULL_TOKENS}`),
    connections: FULL_STREAMS,
    requestsMax: null,
    durationMs,
    spreadMs: 20,
    eventsMin: FULL_TOKENS + framingEvents[format],
    seed,
  };
}

function pacedJob(format: Format, contender: Contender, tokens: number, seed: number): LoadJob {
  return {
    kind: 'load',
    target: formatTarget(contender, format, `tokens=${tokens} gap_ms=${PACED_GAP_MS}`),
    connections: PACED_STREAMS,
    requestsMax: PACED_STREAMS,
    durationMs: null,
    spreadMs: 500,
    eventsMin: tokens + framingEvents[format],
    seed,
  };
}

async function cpuOf(
  generator: Generator,
  contender: Contender,
  job: LoadJob,
): Promise<{ cpuMicros: number; requests: number }> {
  const { result, cost } = await costOf(contender, () =>
    generator.load(job, (job.durationMs ?? 0) + GRACE_MS),
  );
  assertClean(contender, result);
  return { cpuMicros: cost.cpuMicros, requests: result.requests };
}

async function run(format: Format, options: BenchOptions): Promise<Report> {
  const pacedMs = (options.seconds ?? 5) * 1_000;
  const tokens = Math.round(pacedMs / PACED_GAP_MS);
  const names: readonly ContenderName[] = chosen(['nginx', 'bare', 'gateway'], options);
  progress(`starting ${names.join(', ')}`);
  const fleet = await startFleet(fleetOptions(names, options));
  const generator = new Generator();
  try {
    const lanes = lanesOf(format, fleet.contenders);
    for (const lane of lanes) {
      // The gateway's process is warmed by all of its lanes: the others get as many requests.
      const isOne = lane.name.startsWith('gateway');
      const requestsMax = isOne ? WARMUP_REQUESTS : WARMUP_REQUESTS * families.length;
      const warmup = { ...fullJob(format, lane, WARMUP_MS, 7), requestsMax };
      assertClean(lane, await generator.load(warmup, WARMUP_MS + GRACE_MS));
    }
    const figures = await interleave<Key, Contender>(lanes, options.runs, async (lane, index) => {
      const paced = await cpuOf(generator, lane, pacedJob(format, lane, tokens, index + 1));
      const full = await cpuOf(generator, lane, fullJob(format, lane, pacedMs / 2, index + 1));
      return {
        paced: paced.cpuMicros / (paced.requests * tokens),
        full: full.cpuMicros / full.requests,
      };
    });
    return report(format, figures, tokens, options.runs);
  } finally {
    generator.stop();
    await fleet.stop();
  }
}

function report(
  format: Format,
  figures: ReadonlyMap<string, Figures<Key>>,
  tokens: number,
  runs: number,
): Report {
  const own = nameOf(ownFamilies[format]);
  const of = (name: string, key: Key) => figureOf(figures, name, key);
  const limit = Math.min(2.2 * of('nginx', 'paced'), 1.3 * of('bare', 'paced'));
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
      rows: [...figures].map(([name, row]) => ({
        label: name,
        value: row.paced,
        ...(name.startsWith('gateway') && Number.isFinite(limitOf(name))
          ? { limit: limitOf(name) }
          : {}),
      })),
    },
    notes: runs === 1 ? [oneRunNote] : [],
  };
}

function barsOf(figures: ReadonlyMap<string, Figures<Key>>, own: string): Bar[] {
  const bar = (text: string, limit: number, name: string, base: string, key: Key): Bar => {
    const measured = figureOf(figures, name, key) / figureOf(figures, base, key);
    return { text, limit, measured, unit: '×', sense: 'most' };
  };
  const translated = families.map(nameOf).filter((name) => name !== own);
  return [
    bar('own family, CPU an event × bare', 1.3, own, 'bare', 'paced'),
    bar('own family, CPU an event × nginx', 2.2, own, 'nginx', 'paced'),
    bar('own family at full speed, CPU a request × bare', 1.6, own, 'bare', 'full'),
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
