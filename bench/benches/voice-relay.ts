// Voice at real time: what a frame pair costs each contender on the thread that holds the sockets,
// and how late it is, for 300 sessions that all talk and are all talked to.
import type { VoiceContender } from '../contenders/voice.ts';
import { FRAME_MS } from '../load/voice-wire.ts';
import type { Bar, Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from './bench.ts';
import { assertAlive, DELTA_MS, SESSIONS, type Stage, startStage } from './voice-stage.ts';

const BARGE_EVERY_MS = 5_000;

type Key =
  | 'pair µs'
  | 'other threads µs'
  | 'session ms'
  | 'database µs'
  | 'up p50'
  | 'up p99'
  | 'down p50'
  | 'down p99'
  | 'barge p99'
  | 'output bytes'
  | 'late p99';

async function measure(
  stage: Stage,
  contender: VoiceContender,
  durationMs: number,
): Promise<Figures<Key>> {
  await stage.open(contender, { sessions: SESSIONS, mode: 'live' });
  const calm = await stage.measure(contender, durationMs);
  assertAlive(contender.name, calm);
  const isGateway = contender.name === 'gateway';
  const barged = isGateway ? await stage.measure(contender, durationMs, BARGE_EVERY_MS) : null;
  if (barged !== null) assertAlive(contender.name, barged);
  await stage.close();
  return {
    'pair µs': calm.threadMicros / calm.framesSent,
    'other threads µs': (calm.processMicros - calm.threadMicros) / calm.framesSent,
    'session ms': calm.threadMicros / 1_000 / ((SESSIONS * calm.elapsedMs) / 1_000),
    'database µs': calm.databaseMicros / calm.framesSent,
    'up p50': calm.upMs.p50,
    'up p99': calm.upMs.p99,
    'down p50': calm.downMs.p50,
    'down p99': calm.downMs.p99,
    'barge p99': barged?.bargeMs.p99 ?? Number.NaN,
    'output bytes': calm.outputBytes / calm.outputMessages,
    'late p99': calm.lateMs.p99,
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 6) * 1_000;
  const stage = await startStage(['direct', 'nginx', 'bare', 'gateway'], options);
  try {
    const figures = await interleave(stage.contenders, options.runs, (contender) =>
      measure(stage, contender, durationMs),
    );
    return report(figures, stage.notes, durationMs);
  } finally {
    await stage.stop();
  }
}

function barsOf(figures: ReadonlyMap<string, Figures<Key>>): Bar[] {
  const of = (key: Key) => figureOf(figures, 'gateway', key);
  const most = (text: string, limit: number, measured: number, unit: string): Bar => ({
    text,
    limit,
    measured,
    unit,
    sense: 'most',
  });
  const bare = figureOf(figures, 'bare', 'pair µs');
  return [
    most('shard thread, frame pair × bare', 1.25, of('pair µs') / bare, '×'),
    most('shard thread, a session and second', 0.8, of('session ms'), 'ms'),
    most('up, p99', 10, of('up p99'), 'ms'),
    most('down, p99', 10, of('down p99'), 'ms'),
    most('barge_in to playback.clear, p99', 20, of('barge p99'), 'ms'),
  ];
}

function report(
  figures: ReadonlyMap<string, Figures<Key>>,
  notes: string[],
  durationMs: number,
): Report {
  const limit = 1.25 * figureOf(figures, 'bare', 'pair µs');
  return {
    name: 'voice-relay',
    title: `Voice: ${SESSIONS} sessions, both directions at real time`,
    method:
      `A frame of 1,024 bytes each ${FRAME_MS} ms up and ${DELTA_MS} ms of audio each ` +
      `${DELTA_MS} ms down, for ${durationMs / 1000} s; generator, upstream and database on the ` +
      'same cores. CPU of the thread that holds the sockets (nginx: of its worker) a frame up ' +
      'with its 32 ms down. Up: from the write of an onset after digital silence to the message ' +
      'at the upstream that has it. Down: from the stamp within a delta, as it leaves the ' +
      'upstream, to the message at the client that has it. Both include generator ' +
      'and upstream, which the direct row shows alone.',
    columns: [
      'contender',
      'CPU µs a pair',
      '× bare',
      'others µs',
      'database µs',
      'up p50 ms',
      'up p99',
      'down p50',
      'down p99',
      'barge p99',
      'bytes a message',
      'generator late p99',
    ],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['pair µs']),
      rounded(row['pair µs'] / figureOf(figures, 'bare', 'pair µs')),
      rounded(row['other threads µs']),
      rounded(row['database µs']),
      rounded(row['up p50']),
      rounded(row['up p99']),
      rounded(row['down p50']),
      rounded(row['down p99']),
      rounded(row['barge p99']),
      rounded(row['output bytes']),
      rounded(row['late p99']),
    ]),
    bars: barsOf(figures),
    chart: {
      title: `One voice frame up and its 32 ms down (${SESSIONS} sessions)`,
      unit: 'CPU of the thread that holds the sockets in µs, less is better',
      rows: [...figures]
        .filter(([name]) => name !== 'direct')
        .map(([name, row]) => ({
          label: name,
          value: row['pair µs'],
          ...(name === 'gateway' && Number.isFinite(limit) ? { limit } : {}),
        })),
    },
    notes,
  };
}

export const voiceRelay: Bench = { name: 'voice-relay', run };
