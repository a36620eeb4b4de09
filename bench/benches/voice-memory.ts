// What a live voice session costs in memory, with empty rings: the growth of a process by 800
// sessions that talk and are not answered. A later run in one process would find what the first one
// left, so each has a process of its own, which load has brought to its size before it counts.
import { setTimeout as sleep } from 'node:timers/promises';
import { rssBytesOf } from '../proc.ts';
import type { Report } from '../report.ts';
import { median, rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, figureOf, interleave } from './bench.ts';
import { startStage } from './voice-stage.ts';

// V8 grows its young generation once, with the load and not by sessions.
const LOAD = 200;
const LOAD_MS = 15_000;
const COUNTED = 800;
const QUIET_MS = 4_000;
const SAMPLES = 20;
const SAMPLE_MS = 250;

/** Resident memory in bytes, the median of five seconds: a collection moves it by megabytes. */
async function residentOf(pids: readonly number[]): Promise<number> {
  const samples: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    samples.push(rssBytesOf(pids));
    await sleep(SAMPLE_MS);
  }
  return median(samples);
}

async function measureFresh(name: 'bare' | 'gateway', options: BenchOptions) {
  const stage = await startStage([name], options);
  try {
    const [contender] = stage.contenders;
    if (contender === undefined) throw new Error(`${name} could not be started`);
    const pids = contender.pids();
    const idle = await residentOf(pids);
    await stage.open(contender, { sessions: LOAD, mode: 'live', perSecond: 100 });
    await sleep(LOAD_MS);
    const before = await residentOf(pids);
    await stage.open(contender, { sessions: COUNTED, mode: 'silent', perSecond: 100 });
    await sleep(QUIET_MS);
    const after = await residentOf(pids);
    return {
      'KB a session': (after - before) / COUNTED / 1_024,
      'MB idle': idle / 2 ** 20,
      'MB under load': before / 2 ** 20,
      'MB in all': after / 2 ** 20,
    };
  } finally {
    await stage.stop();
  }
}

async function run(options: BenchOptions): Promise<Report> {
  const names = (['bare', 'gateway'] as const)
    .filter((name) => options.contenders?.includes(name) ?? true)
    .map((name) => ({ name }));
  const figures = await interleave(names, options.runs, ({ name }) => measureFresh(name, options));
  return {
    name: 'voice-memory',
    title: 'Memory of a live voice session',
    method:
      `By how much the resident memory of the process grows with ${COUNTED} sessions that send ` +
      'frames at real time and are not answered (no audio waits), divided by their number. A ' +
      `process of its own for each run; ${LOAD} more sessions, which are answered, have loaded ` +
      `it for ${LOAD_MS / 1_000} seconds before and stay: what the load itself adds once, V8's ` +
      'young generation above all, is between the columns of the idle and the loaded process.',
    columns: [
      'contender',
      'KB a session',
      'MB idle',
      `MB with ${LOAD} answered`,
      `MB with ${COUNTED} more`,
    ],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['KB a session']),
      rounded(row['MB idle']),
      rounded(row['MB under load']),
      rounded(row['MB in all']),
    ]),
    bars: [
      {
        text: 'memory of a live session with empty rings',
        limit: 64,
        measured: figureOf(figures, 'gateway', 'KB a session'),
        unit: 'KB',
        sense: 'most',
      },
    ],
    chart: {
      title: 'Memory of a live voice session',
      unit: 'KB of resident memory a session, less is better',
      rows: [...figures].map(([name, row]) => ({
        label: name,
        value: row['KB a session'],
        ...(name === 'gateway' ? { limit: 64 } : {}),
      })),
    },
    notes: [],
  };
}

export const voiceMemory: Bench = { name: 'voice-memory', run };
