// How fast a voice session begins: from the upgrade request to `session.ready`, with the key, the
// durable hold and the upstream's own session in between; and at what rate that can go on.
import type { Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, figureOf, interleave } from './bench.ts';
import { startStage } from './voice-stage.ts';

const CALM_PER_SECOND = 20;
const CALM_SESSIONS = 60;
const PER_SECOND = 200;

async function run(options: BenchOptions): Promise<Report> {
  const sessions = PER_SECOND * (options.seconds ?? 5);
  const stage = await startStage(['bare', 'gateway'], options);
  const figures = await interleave(stage.contenders, options.runs, async (contender) => {
    const opening = { mode: 'silent', stay: false } as const;
    // Compilers see some before anything counts.
    await stage.open(contender, { ...opening, sessions: 200, perSecond: 100 });
    const calm = await stage.open(contender, {
      ...opening,
      sessions: CALM_SESSIONS,
      perSecond: CALM_PER_SECOND,
    });
    const storm = await stage.open(contender, { ...opening, sessions, perSecond: PER_SECOND });
    await stage.close();
    return {
      'calm p50': calm.startMs.p50,
      'calm p99': calm.startMs.p99,
      p50: storm.startMs.p50,
      p99: storm.startMs.p99,
      'a second': (storm.ready * 1_000) / storm.elapsedMs,
    };
  }).finally(() => stage.stop());
  const of = (key: 'p50' | 'a second' | 'calm p50') => figureOf(figures, 'gateway', key);
  return {
    name: 'voice-start',
    title: 'Start of a voice session',
    method:
      'From the upgrade request on an open connection to session.ready, ' +
      `${CALM_PER_SECOND} a second, then ${sessions} at ${PER_SECOND} a second, each ended as ` +
      'soon as it is ready. The upstream answers at once. The bare relay is ready ' +
      'with its upgrade: it waits for no upstream.',
    columns: ['contender', 'p50 ms', 'p99 ms', `p50 at ${PER_SECOND}/s`, 'p99', 'starts a second'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['calm p50']),
      rounded(row['calm p99']),
      rounded(row.p50),
      rounded(row.p99),
      rounded(row['a second']),
    ]),
    bars: [
      {
        text: `session start at ${PER_SECOND} a second, p50`,
        limit: 5,
        measured: of('p50'),
        unit: 'ms',
        sense: 'most',
      },
      {
        text: 'starts a second, sustained (asked 200)',
        limit: 0.98 * PER_SECOND,
        measured: of('a second'),
        unit: '',
        sense: 'least',
      },
    ],
    chart: {
      title: `Start of a voice session at ${PER_SECOND} a second`,
      unit: 'milliseconds, less is better',
      rows: [...figures].flatMap(([name, row]) => [
        { label: `${name} p50`, value: row.p50, ...(name === 'gateway' ? { limit: 5 } : {}) },
        { label: `${name} p99`, value: row.p99 },
      ]),
    },
    notes: stage.notes,
  };
}

export const voiceStart: Bench = { name: 'voice-start', run };
