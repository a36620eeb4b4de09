// Start to ready: from exec of the built output to the ready line and to the first healthy answer,
// on a data folder that a first start has filled.
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../child.ts';
import { makeDataFolder, removeDataFolder, spawnGateway } from '../contenders/gateway.ts';
import type { Report } from '../report.ts';
import { median } from '../statistics.ts';
import { type Bench, type BenchOptions, progress } from './bench.ts';

const RUNS_MIN = 5;
const READY_MS = 60_000;

interface Start {
  readyMs: number;
  healthyMs: number;
}

async function startOnce(dataPath: string, shards: number): Promise<Start> {
  const port = await freePort();
  const startedMs = performance.now();
  const child = spawnGateway(dataPath, port, { shards });
  try {
    const ready = child.line(/tollgate ready on/, READY_MS).then(() => performance.now());
    const [readyAt, healthyAt] = await Promise.all([ready, healthyAfter(port, child.ended)]);
    return { readyMs: readyAt - startedMs, healthyMs: healthyAt - startedMs };
  } finally {
    await child.stop();
  }
}

/** Asks every 5 ms until health answers 200; gives the moment. */
async function healthyAfter(port: number, ended: () => boolean): Promise<number> {
  const deadline = performance.now() + READY_MS;
  while (!(await healthy(port))) {
    if (ended() || performance.now() > deadline) throw new Error('health never answered 200');
    await sleep(5);
  }
  return performance.now();
}

function healthy(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/api/health', timeout: 1_000, agent: false };
    const request = get(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}

async function run(options: BenchOptions): Promise<Report> {
  const dataPath = await makeDataFolder();
  try {
    const cold = await startOnce(dataPath, options.shards);
    progress(`first start on an empty folder: ready after ${Math.round(cold.readyMs)} ms`);
    const warm: Start[] = [];
    for (let index = 0; index < Math.max(RUNS_MIN, options.runs); index++) {
      const start = await startOnce(dataPath, options.shards);
      const { readyMs, healthyMs } = start;
      progress(
        `start ${index + 1}: ready ${Math.round(readyMs)}, healthy ${Math.round(healthyMs)} ms`,
      );
      warm.push(start);
    }
    return report(cold, warm);
  } finally {
    await removeDataFolder(dataPath);
  }
}

function report(cold: Start, warm: readonly Start[]): Report {
  const ready = median(warm.map((start) => start.readyMs));
  const healthyMs = median(warm.map((start) => start.healthyMs));
  const row = (name: string, start: Start): string[] => [
    name,
    start.readyMs.toFixed(0),
    start.healthyMs.toFixed(0),
  ];
  const slowest = Math.max(ready, healthyMs) / 1000;
  const bar = { text: 'warm start to ready and healthy', limit: 1.5, measured: slowest } as const;
  return {
    name: 'start',
    title: 'Start to ready, warm, from exec of built output',
    method:
      `Median of ${warm.length} starts on the same data folder, from exec of node to the ready ` +
      'line and to the first 200 of /api/health; embedded database and simulator included.',
    columns: ['start', 'ready ms', 'healthy ms'],
    rows: [
      row('first, empty folder', cold),
      row('warm, median', { readyMs: ready, healthyMs }),
      row('warm, slowest', {
        readyMs: Math.max(...warm.map((start) => start.readyMs)),
        healthyMs: Math.max(...warm.map((start) => start.healthyMs)),
      }),
    ],
    bars: [{ ...bar, unit: 's', sense: 'most' }],
    chart: {
      title: 'Start to ready',
      unit: 'milliseconds from exec, less is better',
      rows: [
        { label: 'first, empty folder', value: cold.readyMs },
        { label: 'warm', value: Math.max(ready, healthyMs), limit: 1_500 },
      ],
    },
    notes: [],
  };
}

export const start: Bench = { name: 'start', run };
