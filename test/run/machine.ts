// How slow the machine is while tests run, compared with the run that measured them. The same work
// takes longer on it, or more tasks want its cores. A bound of time is stretched by that.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';

/** One moment of a run. */
export interface Sample {
  atMs: number;
  /** What a fixed piece of work took. */
  workMs: number;
  /** Tasks that ran or wanted to. */
  tasks: number;
}

/** Averages over a run. */
export interface Pace {
  workMs: number;
  tasks: number;
}

export interface MachineWatch {
  samples: Sample[];
  stop(): void;
}

const SAMPLE_MS = 1_000;
/** About two milliseconds. */
const WORK_ROUNDS = 1_500_000;
/** Beyond it the machine says nothing about the tests. */
export const FACTOR_MAX = 4;

function work(): number {
  const begun = performance.now();
  let value = 1;
  for (let round = 0; round < WORK_ROUNDS; round += 1) value = Math.imul(value, 48_271) ^ round;
  const tookMs = performance.now() - begun;
  // What nobody reads might not be worked out.
  return Number.isInteger(value) ? tookMs : 0;
}

/** Reads `/proc/stat`; where there is none, the load of the last minute. */
function tasksNow(): number {
  try {
    const found = /^procs_running (\d+)/m.exec(readFileSync('/proc/stat', 'utf8'));
    // The one that reads it runs as well.
    if (found !== null) return Number(found[1]) - 1;
  } catch {
    // Another system.
  }
  return loadavg()[0] ?? 0;
}

export function watchMachine(): MachineWatch {
  const samples: Sample[] = [];
  const take = () => {
    const tasks = tasksNow();
    samples.push({ atMs: performance.now(), workMs: work(), tasks });
  };
  work();
  take();
  const timer = setInterval(take, SAMPLE_MS);
  return {
    samples,
    stop: () => clearInterval(timer),
  };
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

export function paceOf(samples: readonly Sample[]): Pace {
  const [workMs, tasks] = [samples.map((each) => each.workMs), samples.map((each) => each.tasks)];
  return { workMs: mean(workMs), tasks: mean(tasks) };
}

/** From 1 on: a machine that is faster than the measured one makes no bound narrower. */
export function slownessOf(samples: readonly Sample[], measured: Pace | null): number {
  if (measured === null || samples.length === 0) return 1;
  const { workMs, tasks } = paceOf(samples);
  const slower = workMs / measured.workMs;
  const fuller = tasks / Math.max(measured.tasks, 1);
  // Work that waits for a core shows in both.
  return Math.min(Math.max(slower, fuller, 1), FACTOR_MAX);
}
