// What a query adds to the call that it makes, one after the other: key, durable hold, items,
// durable settlement. Beside it what a small answer adds to its own call.
import { assertClean, type Contender, chatTarget } from '../../contender.ts';
import type { Generator } from '../../load/generator.ts';
import type { Target } from '../../load/job.ts';
import type { Report } from '../../report.ts';
import { percentile, rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, progress } from '../bench.ts';
import { withFleet } from '../run-fleet.ts';
import { providerTarget, queryTarget } from './target.ts';

const SAMPLES = 1_000;
const WARMUP_SAMPLES = 300;
const TIMEOUT_MS = 120_000;
const ORDERS = 'results=10';

const lanes = ['small, direct', 'small, gateway', 'query, direct', 'query, gateway'] as const;
type Lane = (typeof lanes)[number];

function targetsOf(direct: Contender, gateway: Contender): Record<Lane, Target> {
  return {
    'small, direct': chatTarget(direct, 'tokens=1', false),
    'small, gateway': chatTarget(gateway, 'tokens=1', false),
    'query, direct': providerTarget(direct, ORDERS),
    'query, gateway': queryTarget(gateway, ORDERS, 0),
  };
}

async function sample(
  generator: Generator,
  [direct, gateway]: [Contender, Contender],
  runs: number,
): Promise<Map<Lane, number[]>> {
  const targets = targetsOf(direct, gateway);
  const times = new Map<Lane, number[]>(lanes.map((lane) => [lane, []]));
  for (let run = 0; run < runs; run++) {
    progress(`run ${run + 1}/${runs}`);
    const result = await generator.probe(
      {
        kind: 'probe',
        targets: lanes.map((lane) => targets[lane]),
        samples: SAMPLES,
        warmupSamples: WARMUP_SAMPLES,
      },
      TIMEOUT_MS,
    );
    assertClean(gateway, result);
    for (const [at, lane] of lanes.entries()) {
      times.get(lane)?.push(...(result.firstEventMs[at] ?? []));
    }
  }
  return times;
}

async function run(options: BenchOptions): Promise<Report> {
  return await withFleet(['direct', 'gateway'], options, async (contenders, generator) => {
    const [direct, gateway] = contenders;
    if (direct === undefined || gateway === undefined) throw new Error('two contenders are needed');
    return report(await sample(generator, [direct, gateway], options.runs));
  });
}

function report(times: ReadonlyMap<Lane, number[]>): Report {
  const p50 = (lane: Lane) => percentile(times.get(lane) ?? [], 0.5);
  const small = p50('small, gateway') - p50('small, direct');
  const query = p50('query, gateway') - p50('query, direct');
  return {
    name: 'query-added',
    title: 'What a query adds to the call that it makes',
    method:
      `${SAMPLES} rounds a run, one request after the other: a small answer and a query of ten ` +
      'items, each straight at the simulator and through the gateway. Money is durable before a ' +
      'reply leaves. Nothing kept is taken.',
    columns: ['request', 'p50 ms', 'p99 ms'],
    rows: lanes.map((lane) => [
      lane,
      rounded(p50(lane)),
      rounded(percentile(times.get(lane) ?? [], 0.99)),
    ]),
    bars: [
      {
        text: 'added by a query × added by a small answer',
        limit: 1.5,
        measured: query / small,
        unit: '×',
        sense: 'most',
      },
    ],
    chart: {
      title: 'What is added to the call of a provider',
      unit: 'ms at the median, less is better',
      rows: [
        { label: 'small answer', value: small },
        { label: 'query', value: query, limit: 1.5 * small },
      ],
    },
    notes: ['A small answer calls its provider while its hold is under way; a query waits for it.'],
  };
}

export const queryAdded: Bench = { name: 'query-added', run };
