// What apps tell, two thousand times a second from one network, beside paced streams. Who streams
// must not feel it, and what is refused costs little.
import { setTimeout as sleep } from 'node:timers/promises';
import { chatTarget } from '../../contender.ts';
import { Generator } from '../../load/generator.ts';
import type { LoadJob, LoadResult } from '../../load/job.ts';
import type { Report } from '../../report.ts';
import { median, rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, progress } from '../bench.ts';
import {
  assertAnswered,
  type IdentityStage,
  requestText,
  withIdentityStage,
} from '../identity/stage.ts';

const STREAMS = 100;
const GAP_MS = 20;
const STREAM_TOKENS = 250;
const PER_SECOND = 2_000;
/** The streams begin within the first part of it. */
const LEAD_MS = 1_000;
const FLOOD_MS = LEAD_MS + STREAM_TOKENS * GAP_MS + 500;
const TIMEOUT_MS = 60_000;
const CONNECTIONS_MAX = 512;

type Key = 'calmGap' | 'gap' | 'taken' | 'refusal' | 'unsent';

interface Bed extends IdentityStage {
  generator: Generator;
  requests: string[];
}

/** Bodies of every route, from one network: most of them are one too many. */
function bodies({ gateway }: IdentityStage): string[] {
  const stack_trace = `Error\n${'    at load (main.js:1:2)\n'.repeat(100)}`;
  const headers = { 'content-type': 'application/json' };
  const one = (path: string, body: object) =>
    requestText(gateway, `POST /api/app/${path}`, headers, JSON.stringify(body));
  return Array.from({ length: 250 }, (_, index) => {
    const installation_id = `bench-installation-${index}`;
    return [
      one('installations', { installation_id, platform: 'linux', app_version: '1.0' }),
      one('activity', { installation_id, platform: 'linux', source: 'launch' }),
      one('errors', { message: `It failed after ${index} ms`, installation_id, stack_trace }),
      one('feedback', { message: `words ${index}`, installation_id }),
    ];
  }).flat();
}

function streams({ gateway, generator }: Bed): Promise<LoadResult> {
  const target = chatTarget(gateway, `tokens=${STREAM_TOKENS} gap_ms=${GAP_MS}`, true);
  const limits = { connections: STREAMS, requestsMax: STREAMS, durationMs: null, spreadMs: 500 };
  const eventsMin = STREAM_TOKENS;
  const job: LoadJob = { kind: 'load', target, ...limits, eventsMin, seed: 1, gaps: true };
  return generator.load(job, TIMEOUT_MS);
}

async function flood(bed: Bed, durationMs: number) {
  const { port } = bed.gateway;
  const rate = { kind: 'offered', perSecond: PER_SECOND, connectionsMax: CONNECTIONS_MAX } as const;
  const { requests } = bed;
  const result = await bed.openCallers().run({ ...rate, port, requests, durationMs });
  assertAnswered('what apps tell', result, [202, 429]);
  return result;
}

async function measure(bed: Bed): Promise<Figures<Key>> {
  const quiet = await streams(bed);
  const flooding = flood(bed, FLOOD_MS);
  await sleep(LEAD_MS);
  const [busy, flooded] = await Promise.all([streams(bed), flooding]);
  for (const { failed, failure } of [quiet, busy]) if (failed > 0) throw new Error(failure);
  return {
    calmGap: quiet.gapMs.p99,
    gap: busy.gapMs.p99,
    taken: flooded.byStatus.get(202)?.count ?? 0,
    refusal: flooded.byStatus.get(429)?.p99 ?? 0,
    unsent: flooded.unsent,
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const generator = new Generator();
  const all: Figures<Key>[] = [];
  try {
    await withIdentityStage(options, {}, async (stage) => {
      const bed: Bed = { ...stage, generator, requests: bodies(stage) };
      await streams(bed);
      for (let index = 0; index < options.runs; index++) {
        const figures = await measure(bed);
        const shown = Object.entries(figures).map(([key, value]) => `${key} ${rounded(value)}`);
        progress(`run ${index + 1}/${options.runs}: ${shown.join(', ')}`);
        all.push(figures);
      }
    });
  } finally {
    generator.stop();
  }
  return report((key) => median(all.map((each) => each[key])));
}

function report(of: (key: Key) => number): Report {
  const title = `${PER_SECOND} things a second that apps of one network tell, beside streams`;
  const row = (label: string, value: number) => [label, rounded(value)];
  return {
    name: 'customer-app',
    title,
    method:
      `${STREAMS} streams, an event each ${GAP_MS} ms, alone and beside ${FLOOD_MS / 1_000} s of ` +
      'installations, activity, errors and feedback from one network, offered whatever is ' +
      'answered. A network may tell 60 a minute; the rest is refused before its body is read.',
    columns: ['what', 'figure'],
    rows: [
      row('gap between two events p99 ms, streams alone', of('calmGap')),
      row('gap between two events p99 ms, beside it', of('gap')),
      row('taken', of('taken')),
      row('refusal p99 ms', of('refusal')),
    ],
    bars: [
      {
        text: 'p99 of paced streams × without it',
        limit: 1.1,
        measured: of('gap') / of('calmGap'),
        unit: '×',
        sense: 'most',
      },
      {
        text: 'requests that found no connection',
        limit: 0,
        measured: of('unsent'),
        unit: '',
        sense: 'most',
      },
    ],
    chart: {
      title,
      unit: 'gap between two events p99 in milliseconds, less is better',
      rows: [
        { label: 'streams alone', value: of('calmGap') },
        { label: 'beside the flood', value: of('gap'), limit: 1.1 * of('calmGap') },
      ],
    },
    notes: [],
  };
}

export const customerApp: Bench = { name: 'customer-app', run };
