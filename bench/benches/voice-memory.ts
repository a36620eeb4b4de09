// What a live voice session costs in memory, with empty rings: the growth of the process from 200
// sessions to 700, all of which talk and are not answered.
import { setTimeout as sleep } from 'node:timers/promises';
import { rssBytesOf } from '../proc.ts';
import type { Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, figureOf, interleave } from './bench.ts';
import { startStage } from './voice-stage.ts';

const FIRST = 200;
const MORE = 500;
const QUIET_MS = 4_000;

async function run(options: BenchOptions): Promise<Report> {
  const stage = await startStage(['bare', 'gateway'], options);
  const figures = await interleave(stage.contenders, options.runs, async (contender) => {
    const grow = async (sessions: number): Promise<number> => {
      await stage.open(contender, { sessions, mode: 'silent', perSecond: 100 });
      await sleep(QUIET_MS);
      return rssBytesOf(contender.pids());
    };
    const before = await grow(FIRST);
    const after = await grow(MORE);
    await stage.close();
    return { 'KB a session': (after - before) / MORE / 1_024, 'MB in all': after / 2 ** 20 };
  }).finally(() => stage.stop());
  return {
    name: 'voice-memory',
    title: 'Memory of a live voice session',
    method:
      `Resident memory of the process with ${FIRST + MORE} sessions less that with ${FIRST}, ` +
      `divided by ${MORE}; all send frames at real time, none is answered, so that no audio waits.`,
    columns: ['contender', 'KB a session', `MB with ${FIRST + MORE}`],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['KB a session']),
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
    notes: stage.notes,
  };
}

export const voiceMemory: Bench = { name: 'voice-memory', run };
