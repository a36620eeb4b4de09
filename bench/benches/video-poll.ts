// A thousand video jobs that run are polled, leased and kept in the queue. A process that only
// polls as often is measured beside them.
import { setTimeout as sleep } from 'node:timers/promises';
import { Asked } from '../load/asked.ts';
import type { Polled, PollerJob } from '../load/video-poller.ts';
import { cpuMicrosOf } from '../proc.ts';
import type { Report } from '../report.ts';
import { rounded } from '../statistics.ts';
import {
  type Bench,
  type BenchOptions,
  type Figures,
  figureOf,
  interleave,
  progress,
} from './bench.ts';
import { LONG_MS, makeJobs, submissions, type VideoStage, withVideoStage } from './video-stage.ts';

const JOBS = 1_000;
/** As the family says it. */
const POLL_MS = 5_000;
const SETTLE_MS = 8_000;
const IDLE_MS = 4_000;
const TIMEOUT_MS = 60_000;

type Key = 'cpu' | 'polls a second' | 'cores' | 'database cores';

interface Lane {
  name: 'bare' | 'gateway';
  measure(durationMs: number): Promise<Figures<Key>>;
}

function gatewayLane(stage: VideoStage): Lane {
  const { gateway } = stage;
  const polls = async () => {
    const all = await submissions(stage);
    return all
      .filter(({ prompt }) => !prompt.endsWith('bare'))
      .reduce((sum, each) => sum + (each.polls?.count ?? 0), 0);
  };
  const cost = () => [cpuMicrosOf(gateway.pids()), gateway.databaseCpuMicros()] as const;
  return {
    name: 'gateway',
    async measure(durationMs) {
      const pollsBefore = await polls();
      const [cpu, database] = cost();
      await sleep(durationMs);
      const [cpuAfter, databaseAfter] = cost();
      const count = (await polls()) - pollsBefore;
      return {
        cpu: (cpuAfter - cpu) / count,
        'polls a second': (count * 1_000) / durationMs,
        cores: (cpuAfter - cpu) / 1_000 / durationMs,
        'database cores': (databaseAfter - database) / 1_000 / durationMs,
      };
    },
  };
}

function bareLane(poller: Asked<PollerJob>): Lane {
  return {
    name: 'bare',
    async measure(durationMs) {
      const job = { kind: 'poll', everyMs: POLL_MS, durationMs } as const;
      const { polls, cpuMicros } = await poller.ask<Polled>(job, durationMs + TIMEOUT_MS);
      return {
        cpu: cpuMicros / polls,
        'polls a second': (polls * 1_000) / durationMs,
        cores: cpuMicros / 1_000 / durationMs,
        'database cores': 0,
      };
    },
  };
}

async function allSubmitted(stage: VideoStage): Promise<void> {
  const untilMs = performance.now() + TIMEOUT_MS;
  for (;;) {
    const own = (await submissions(stage)).filter(({ prompt }) => !prompt.endsWith('bare'));
    if (own.length === JOBS) return;
    if (performance.now() > untilMs) throw new Error(`${own.length} of ${JOBS} jobs run`);
    await sleep(1_000);
  }
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 10) * 1_000;
  const poller = new Asked<PollerJob>('video-poller.js');
  const measured = withVideoStage(options, { slots: 10_000 }, async (stage) => {
    const idleFrom = cpuMicrosOf(stage.gateway.pids());
    await sleep(IDLE_MS);
    const idle = (cpuMicrosOf(stage.gateway.pids()) - idleFrom) / 1_000 / IDLE_MS;
    await makeJobs(stage, `render_ms=${LONG_MS}`, JOBS);
    const lanes = [gatewayLane(stage)];
    if (options.contenders === null) {
      const origin = `http://127.0.0.1:${stage.providerPort}`;
      const submitting = { kind: 'submit', origin, jobs: JOBS, renderMs: LONG_MS } as const;
      await poller.ask(submitting, TIMEOUT_MS);
      // Its compilers see as much as the gateway's do while that settles.
      await bareLane(poller).measure(SETTLE_MS);
      lanes.unshift(bareLane(poller));
    } else await sleep(SETTLE_MS);
    await allSubmitted(stage);
    progress(`idle ${rounded(idle)} cores, ${JOBS} jobs run`);
    const figures = await interleave<Key, Lane>(lanes, options.runs, (lane) =>
      lane.measure(durationMs),
    );
    return { figures, idle };
  });
  const { figures, idle } = await measured.finally(() => poller.stop());
  return report(figures, idle);
}

function report(figures: ReadonlyMap<string, Figures<Key>>, idle: number): Report {
  const bare = figureOf(figures, 'bare', 'cpu');
  return {
    name: 'video-poll',
    title: `${JOBS.toLocaleString('en-US')} video jobs that run`,
    method:
      `Each is polled every ${POLL_MS / 1_000} s, by the gateway with leases, progress and queue ` +
      'and by bare undici, each with jobs of its own at the same simulator.',
    columns: ['contender', 'CPU µs a poll', 'polls a second', 'cores', 'database cores'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      rounded(row['polls a second']),
      rounded(row.cores),
      rounded(row['database cores']),
    ]),
    bars: [
      {
        text: 'CPU a poll × bare undici',
        limit: 2,
        measured: figureOf(figures, 'gateway', 'cpu') / bare,
        unit: '×',
        sense: 'most',
      },
    ],
    chart: {
      title: `${JOBS.toLocaleString('en-US')} video jobs that run`,
      unit: 'CPU a poll in µs, less is better',
      rows: [...figures].map(([label, { cpu }]) => ({
        label,
        value: cpu,
        ...(label === 'gateway' ? { limit: 2 * bare } : {}),
      })),
    },
    notes: [`The gateway without any job took ${rounded(idle)} cores in the same run.`],
  };
}

export const videoPoll: Bench = { name: 'video-poll', run };
