// What it costs to bring a voice frame from 16 to 24 kHz: all sessions of a shard in batches
// through Piscina, against a task for each frame and the same filter in plain JavaScript.
import { pino } from 'pino';
import { createLanes, type Lane, type Lanes } from '../../media/audio/lanes/lanes.ts';
import { createResampler } from '../../media/audio/resample/resampler.ts';
import { createPool } from '../../runtime/work/pool.ts';
import type { Report } from '../report.ts';
import { pace } from '../resample/pacer.ts';
import { createPlainResampler } from '../resample/plain.ts';
import { percentile, rounded } from '../statistics.ts';
import {
  type Bench,
  type BenchOptions,
  type Figures,
  figureOf,
  interleave,
  progress,
} from './bench.ts';

type Key = 'cpu' | 'frames a batch' | 'p50 ms' | 'p99 ms';

interface Contender {
  name: string;
  measure(durationMs: number): Promise<Figures<Key>>;
  stop(): Promise<void>;
}

const log = pino({ level: 'silent' });
const frameSamples = 512;
const frame = Int16Array.from({ length: frameSamples }, (_, n) =>
  Math.round(20_000 * Math.sin(n * 0.37)),
);
const frameBytes = new Uint8Array(frame.buffer);
const outputFrameBytes = 1_536;
const sessionCounts = [50, 300, 1_000];
const [lightLoad = 0, targetLoad = 0, fullLoad = 0] = sessionCounts;
const barMicros = 15;
/** Compilers see this many batches before anything counts. */
const warmupBatches = 3_000;

const unknown = { 'frames a batch': Number.NaN, 'p50 ms': Number.NaN, 'p99 ms': Number.NaN };

/** CPU of `work` a frame, without what the pacing of so many sessions costs. */
async function pacedCpu(sessions: number, durationMs: number, work: (session: number) => void) {
  const alone = await pace(sessions, durationMs, () => {});
  const { frames, cpuMicros } = await pace(sessions, durationMs, work);
  return cpuMicros / frames - alone.cpuMicros / alone.frames;
}

/** One session of the lanes, which remembers when its frames came. */
interface Speaker {
  lane: Lane;
  pushedMs: number[];
}

function speak(lanes: Lanes, onDelay: (delayMs: number) => void): Speaker {
  const pushedMs: number[] = [];
  const lane = lanes.open({
    output(pcm) {
      const now = performance.now();
      for (let bytes = 0; bytes < pcm.byteLength; bytes += outputFrameBytes) {
        onDelay(now - (pushedMs.shift() ?? Number.NaN));
      }
    },
    failed() {
      throw new Error('the lanes failed');
    },
    fault(error) {
      throw error;
    },
  });
  if (lane === null) throw new Error('no lane was free');
  return { lane, pushedMs };
}

async function lanesContender(sessions: number): Promise<Contender> {
  const lanes = createLanes({ lanesMax: sessions, log });
  let delays: number[] = [];
  const speakers = Array.from({ length: sessions }, () =>
    speak(lanes, (delayMs) => delays.push(delayMs)),
  );
  const push = (session: number) => {
    const speaker = speakers[session];
    if (speaker === undefined) return;
    speaker.pushedMs.push(performance.now());
    if (!speaker.lane.push(frameBytes)) throw new Error('a frame was dropped');
  };
  progress(`warming up ${sessions} sessions`);
  while (lanes.status.batches < warmupBatches) await pace(sessions, 1_000, push);
  return {
    name: `${sessions} sessions in batches`,
    async measure(durationMs) {
      delays = [];
      const { frames, batches } = lanes.status;
      const cpu = await pacedCpu(sessions, durationMs, push);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return {
        cpu,
        'frames a batch': (lanes.status.frames - frames) / (lanes.status.batches - batches),
        'p50 ms': percentile(delays, 0.5),
        'p99 ms': percentile(delays, 0.99),
      };
    },
    stop: () => lanes.stop(),
  };
}

/** What everybody pays who gives Piscina each frame by itself: a task that does nothing. */
function bareTasks(): Contender {
  const pool = createPool({
    threadsMax: 1,
    queueLengthMax: 64,
    idleMs: 10_000,
    timeoutMs: 5_000,
    log,
  });
  const task = new URL('../load/empty-task.js', import.meta.url);
  return {
    name: `${lightLoad} sessions, an empty task a frame`,
    async measure(durationMs) {
      for (let count = 0; count < warmupBatches; count++) await pool.run(task, null);
      const cpu = await pacedCpu(lightLoad, durationMs, () => void pool.run(task, null));
      return { ...unknown, cpu, 'frames a batch': 1 };
    },
    stop: () => pool.stop(),
  };
}

/** On this thread, one frame after the other: no batches, no tasks, warm caches. */
function alone(name: string, resample: (frame: Int16Array) => Int16Array): Contender {
  return {
    name,
    async measure(durationMs) {
      const before = process.cpuUsage();
      const endMs = performance.now() + durationMs / 3;
      let frames = 0;
      for (; performance.now() < endMs; frames++) resample(frame);
      const { user, system } = process.cpuUsage(before);
      return { ...unknown, cpu: (user + system) / frames };
    },
    stop: async () => {},
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 2.5) * 1_000;
  const stream = createResampler('up');
  const contenders = [
    alone('plain JavaScript alone', createPlainResampler()),
    alone('the kernel alone', (samples) => stream.push(samples)),
    bareTasks(),
  ];
  try {
    for (const sessions of sessionCounts) contenders.push(await lanesContender(sessions));
    const figures = await interleave(contenders, options.runs, (contender) =>
      contender.measure(durationMs),
    );
    return report(figures, durationMs);
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

function report(figures: ReadonlyMap<string, Figures<Key>>, durationMs: number): Report {
  const batched = (sessions: number, key: Key) =>
    figureOf(figures, `${sessions} sessions in batches`, key);
  const most = { sense: 'most' } as const;
  return {
    name: 'voice-resample',
    title: 'Voice frames of 512 samples from 16 to 24 kHz',
    method:
      `Every session sends a frame each 32 ms, spread evenly, for ${durationMs / 1_000} s; CPU ` +
      'of all threads of the process, less what the same pacing costs with nobody behind it. ' +
      'The delay is from the push of a frame to its output on the same thread.',
    columns: ['contender', 'CPU µs a frame', 'frames a batch', 'p50 ms', 'p99 ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      rounded(row['frames a batch']),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
    ]),
    bars: [targetLoad, fullLoad].flatMap((sessions) => [
      {
        text: `CPU a frame, ${sessions} sessions`,
        limit: barMicros,
        measured: batched(sessions, 'cpu'),
        unit: 'µs',
        ...most,
      },
      {
        text: `p99 delay, ${sessions} sessions`,
        limit: 10,
        measured: batched(sessions, 'p99 ms'),
        unit: 'ms',
        ...most,
      },
    ]),
    chart: {
      title: 'One voice frame from 16 to 24 kHz',
      unit: 'CPU in µs, less is better',
      rows: [...figures].map(([label, { cpu }]) => ({
        label,
        value: cpu,
        ...([targetLoad, fullLoad].some((sessions) => label.startsWith(`${sessions} `))
          ? { limit: barMicros }
          : {}),
      })),
    },
    notes: [
      `A batch is due every 4 ms. With ${lightLoad} sessions what it costs is spread over ` +
        'few frames; it is a few hundredths of a core all the same.',
    ],
  };
}

export const voiceResample: Bench = { name: 'voice-resample', run };
