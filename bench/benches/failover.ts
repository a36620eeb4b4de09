// What a failing first provider adds to the time to the first event: the same request to a model
// whose only provider works, and to one whose first provider fails. A model a sample, for a route
// that has failed is not tried first again for a while.
import { assertClean, type Contender } from '../contender.ts';
import { type FailingProviders, startFailing } from '../contenders/failing.ts';
import { startGateway } from '../contenders/gateway.ts';
import { startSimulator } from '../contenders/simulator.ts';
import { bodyOf, familyModels } from '../formats.ts';
import { Generator } from '../load/generator.ts';
import type { Target } from '../load/job.ts';
import type { Bar, Report } from '../report.ts';
import { percentile, rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, progress } from './bench.ts';

const SAMPLES = 200;
const WARMUP_SAMPLES = 40;
const LIMIT_MS = 50;
const GOOD = 'good';

const WORDS: Readonly<Record<string, string>> = {
  error: 'it answers 500 at once',
  refused: 'its connection is refused',
  cut: 'its stream is cut before the first delta',
};

interface Lane {
  name: string;
  firstEventMs: number[];
  addedMs: number[];
}

/** One model that works, and for each way to fail one a sample. */
function catalogOf(failing: FailingProviders, simulatorPort: number): object {
  const good = {
    name: GOOD,
    family: 'openai-chat',
    base_url: `http://127.0.0.1:${simulatorPort}/v1`,
  };
  const bad = failing.all.map(({ name, baseUrl }) => ({
    name,
    family: 'openai-chat',
    base_url: baseUrl,
  }));
  const upstream_model = familyModels['openai-chat'].upstream;
  const price = { input_per_million: '1', output_per_million: '1' };
  const models = failing.all.flatMap(({ name }) =>
    Array.from({ length: SAMPLES + WARMUP_SAMPLES }, (_, sample) => ({
      alias: `${name}-${sample}`,
      routes: [
        { provider: name, upstream_model: `fails-${sample}` },
        { provider: GOOD, upstream_model },
      ],
      price,
    })),
  );
  const works = { alias: GOOD, routes: [{ provider: GOOD, upstream_model }], price };
  return { providers: [good, ...bad], models: [works, ...models] };
}

function targetOf(gateway: Contender, model: string): Target {
  const { port, path, headers } = gateway;
  const content = '[[sim tokens=1]] Please write one short line about relays.';
  const body = bodyOf('chat', model, content, true);
  return { host: '127.0.0.1', port, path, headers, body };
}

async function run(options: BenchOptions): Promise<Report> {
  const failing = await startFailing();
  const simulator = await startSimulator();
  const generator = new Generator();
  const lanes: Lane[] = [];
  try {
    // Every run on a gateway of its own: it remembers which routes have failed.
    for (let index = 0; index < options.runs; index++) {
      progress(`run ${index + 1}/${options.runs}`);
      const catalog = catalogOf(failing, simulator.port);
      const gateway = await startGateway({ ...options, catalog });
      try {
        await probe(generator, gateway, failing, lanes);
      } finally {
        await gateway.stop();
      }
    }
  } finally {
    generator.stop();
    await simulator.stop();
    await failing.stop();
  }
  return report(lanes);
}

async function probe(
  generator: Generator,
  gateway: Contender,
  failing: FailingProviders,
  lanes: Lane[],
): Promise<void> {
  const names = [GOOD, ...failing.all.map(({ name }) => name)];
  const models = names.map((name) => (name === GOOD ? GOOD : `${name}-{sample}`));
  const targets = models.map((model) => targetOf(gateway, model));
  const job = { samples: SAMPLES, warmupSamples: WARMUP_SAMPLES };
  const result = await generator.probe({ kind: 'probe', targets, ...job }, 60_000);
  assertClean(gateway, result);
  const base = result.firstEventMs[0] ?? [];
  for (const [index, name] of names.entries()) {
    const values = result.firstEventMs[index] ?? [];
    let lane = lanes.find((each) => each.name === name);
    if (lane === undefined) {
      lane = { name, firstEventMs: [], addedMs: [] };
      lanes.push(lane);
    }
    lane.firstEventMs.push(...values);
    lane.addedMs.push(...values.map((value, sample) => value - (base[sample] ?? Number.NaN)));
  }
}

function report(lanes: readonly Lane[]): Report {
  const failed = lanes.filter(({ name }) => name !== GOOD);
  const label = (name: string) => WORDS[name] ?? 'one provider, which works';
  return {
    name: 'failover',
    title: 'Time that a failover adds',
    method:
      `${SAMPLES} rounds a run: one request to a model whose provider works, one to a model ` +
      'whose first provider fails and whose second is that same one. Added is the difference of ' +
      'their times to the first event; the failed attempt itself, on the loopback, is in it.',
    columns: ['the first provider', 'p50 ms', 'p99 ms', 'added p50 ms', 'added p99 ms'],
    rows: lanes.map(({ name, firstEventMs, addedMs }) => [
      label(name),
      rounded(percentile(firstEventMs, 0.5)),
      rounded(percentile(firstEventMs, 0.99)),
      rounded(percentile(addedMs, 0.5)),
      rounded(percentile(addedMs, 0.99)),
    ]),
    bars: failed.map(
      ({ name, addedMs }): Bar => ({
        text: `added, p99: ${label(name)}`,
        limit: LIMIT_MS,
        measured: percentile(addedMs, 0.99),
        unit: 'ms',
        sense: 'most',
      }),
    ),
    chart: {
      title: 'Time that a failover adds to the first event',
      unit: 'milliseconds at the 99th percentile, less is better',
      rows: failed.map(({ name, addedMs }) => ({
        label: label(name),
        value: percentile(addedMs, 0.99),
        limit: LIMIT_MS,
      })),
    },
    notes: [],
  };
}

export const failover: Bench = { name: 'failover', run };
