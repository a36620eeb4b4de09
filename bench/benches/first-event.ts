// What the gateway adds to the time to the first event: direct call and gateway in turn, one
// request at a time, each pair a sample of the difference. The durable hold lies before the first
// event.
import { assertClean, chatTarget } from '../contender.ts';
import type { Report } from '../report.ts';
import { median, percentile, rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, chosen, progress } from './bench.ts';
import { withFleet } from './run-fleet.ts';

const SAMPLES = 2_000;

interface Lane {
  name: string;
  p50: number;
  p99: number;
  addedP50: number;
  addedP99: number;
}

async function run(options: BenchOptions): Promise<Report> {
  const others = chosen(['nginx', 'bare', 'gateway'], options);
  const names = ['direct', ...others] as const;
  const runs: Lane[][] = [];
  await withFleet(names, options, async (contenders, generator) => {
    const targets = contenders.map((each) => chatTarget(each, 'tokens=1', true));
    for (let index = 0; index < options.runs; index++) {
      const result = await generator.probe(
        { kind: 'probe', targets, samples: SAMPLES, warmupSamples: 500 },
        300_000,
      );
      const [first] = contenders;
      if (first !== undefined) assertClean(first, result);
      const direct = result.firstEventMs[0] ?? [];
      const lanes = names.map((name, lane) =>
        laneOf(name, result.firstEventMs[lane] ?? [], direct),
      );
      const shown = lanes.map((lane) => `${lane.name} ${rounded(lane.p50)}/${rounded(lane.p99)}`);
      progress(`run ${index + 1}/${options.runs} p50/p99 ms: ${shown.join(', ')}`);
      runs.push(lanes);
    }
  });
  return report(names.map((_, lane) => medianLane(runs.map((lanes) => lanes[lane]))));
}

function laneOf(name: string, values: readonly number[], direct: readonly number[]): Lane {
  const added = values.map((value, sample) => value - (direct[sample] ?? Number.NaN));
  return {
    name,
    p50: percentile(values, 0.5),
    p99: percentile(values, 0.99),
    addedP50: percentile(added, 0.5),
    addedP99: percentile(added, 0.99),
  };
}

function medianLane(runs: readonly (Lane | undefined)[]): Lane {
  const lanes = runs.filter((lane) => lane !== undefined);
  const of = (key: 'p50' | 'p99' | 'addedP50' | 'addedP99'): number =>
    median(lanes.map((lane) => lane[key]));
  return {
    name: lanes[0]?.name ?? '',
    p50: of('p50'),
    p99: of('p99'),
    addedP50: of('addedP50'),
    addedP99: of('addedP99'),
  };
}

function report(lanes: readonly Lane[]): Report {
  const gateway = lanes.find((lane) => lane.name === 'gateway');
  const bar = (text: string, limit: number, measured: number | undefined) =>
    ({ text, limit, measured: measured ?? Number.NaN, unit: 'ms', sense: 'most' }) as const;
  const added = lanes.filter((lane) => lane.name !== 'direct');
  const limits = new Map([
    ['p50', 1],
    ['p99', 5],
  ]);
  return {
    name: 'first-event',
    title: 'Added time to the first event, sequential',
    method:
      `${SAMPLES} rounds, all contenders in turn within a round, one request at a time on a kept ` +
      'connection; added is the difference to the direct call of the same round.',
    columns: ['contender', 'p50 ms', 'p99 ms', 'added p50 ms', 'added p99 ms'],
    rows: lanes.map((lane) => [
      lane.name,
      lane.p50.toFixed(2),
      lane.p99.toFixed(2),
      lane.addedP50.toFixed(2),
      lane.addedP99.toFixed(2),
    ]),
    bars: [
      bar('added time to first event, p50', 1, gateway?.addedP50),
      bar('added time to first event, p99', 5, gateway?.addedP99),
    ],
    chart: {
      title: 'Added time to the first event',
      unit: 'milliseconds over the direct call, less is better',
      rows: added.flatMap((lane) =>
        [...limits].map(([percent, limit]) => ({
          label: `${lane.name} ${percent}`,
          value: percent === 'p50' ? lane.addedP50 : lane.addedP99,
          ...(lane.name === 'gateway' ? { limit } : {}),
        })),
      ),
    },
    notes: [],
  };
}

export const firstEvent: Bench = { name: 'first-event', run };
