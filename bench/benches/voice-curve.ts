// Voice sessions against latency and CPU, up to what this machine can do: a hundred sessions more
// at each step, until audio is late by half a second or the shard's thread has no more to give.
import type { Findings } from '../report.ts';
import { rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, progress } from './bench.ts';
import { startStage, type Window } from './voice-stage.ts';

const STEP = 100;
const SESSIONS_MAX = 900;
const SATURATED_MS = 500;

interface Point {
  sessions: number;
  window: Window;
}

async function climb(options: BenchOptions): Promise<Point[]> {
  const durationMs = (options.seconds ?? 4) * 1_000;
  const stage = await startStage(['gateway'], options);
  const points: Point[] = [];
  try {
    const [gateway] = stage.contenders;
    if (gateway === undefined) throw new Error('the gateway was left out');
    for (let sessions = STEP; sessions <= SESSIONS_MAX; sessions += STEP) {
      await stage.open(gateway, { sessions: STEP, mode: 'live' });
      const window = await stage.measure(gateway, durationMs);
      points.push({ sessions, window });
      const { upMs, downMs, lost } = window;
      progress(`${sessions}: up p99 ${rounded(upMs.p99)}, down p99 ${rounded(downMs.p99)} ms`);
      if (Math.max(upMs.p99, downMs.p99) > SATURATED_MS || lost > 0) break;
    }
    await stage.close().catch(() => undefined);
  } finally {
    await stage.stop();
  }
  return points;
}

/** CPU of the shard's thread, in milliseconds a session and second. */
const cpuOf = ({ sessions, window }: Point): number =>
  window.threadMicros / sessions / window.elapsedMs;

async function run(options: BenchOptions): Promise<Findings> {
  const points = await climb(options);
  const line = (label: string, read: (point: Point) => number) => ({
    label,
    points: points.map((point) => [point.sessions, read(point)] as const),
  });
  return {
    name: 'voice-curve',
    title: 'Voice sessions up to saturation',
    method:
      'Sessions on one shard that talk and are talked to at real time; generator, upstream and ' +
      'database on the same cores. CPU is that of the shard thread.',
    columns: [
      'sessions',
      'up p50 ms',
      'up p99',
      'down p50',
      'down p99',
      'CPU ms a session and second',
      'shard thread',
      'process',
      'generator',
    ],
    rows: points.map(({ sessions, window }) => [
      String(sessions),
      rounded(window.upMs.p50),
      rounded(window.upMs.p99),
      rounded(window.downMs.p50),
      rounded(window.downMs.p99),
      rounded(cpuOf({ sessions, window })),
      `${Math.round(window.threadMicros / 10 / window.elapsedMs)} %`,
      `${Math.round(window.processMicros / 10 / window.elapsedMs)} %`,
      `${Math.round(window.generatorCpuMicros / 10 / window.elapsedMs)} %`,
    ]),
    bars: [],
    chart: {
      title: 'Latency of voice, up to saturation',
      unit: 'p99 in milliseconds, one way',
      across: 'sessions on one shard',
      lines: [
        line('up', ({ window }) => window.upMs.p99),
        line('down', ({ window }) => window.downMs.p99),
      ],
      below: {
        title: 'CPU of a voice session',
        unit: 'milliseconds of the shard thread, a session and second',
        across: 'sessions on one shard',
        lines: [line('shard thread', cpuOf)],
      },
    },
    notes: [],
  };
}

export const voiceCurve: Bench = { name: 'voice-curve', run };
