// Times something on a machine that may be busy with something else. A figure of the product holds
// on cores of its own: how busy others kept them over exactly the interval says what is allowed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

/** What the machine told at one moment; the sums grow from its start. */
export interface MachineReading {
  atMs: number;
  cores: number;
  /** How long some task waited for a core; null where the kernel does not say. */
  waitedMs: number | null;
  /** What the host took from our cores, over all of them. */
  stolenMs: number;
  loadAverage: number;
}

export interface Stopwatch {
  elapsedMs(): number;
  /** From 1, on a machine that does nothing else, to `busyFactorMax`. */
  busyFactor(): number;
  /** Fails when it took longer than the figure and the machine's busyness allow. */
  assertWithin(boundMs: number, what: string): number;
}

/** Beyond it a machine says nothing about the product, but something hangs sooner than later. */
export const busyFactorMax = 6;

/** A task that always waits does not say how many do: four to a core are believed. */
const TASKS_PER_CORE_MAX = 4;
const JIFFY_MS = 10;

export function startStopwatch(): Stopwatch {
  const from = readMachine();
  const elapsedMs = () => performance.now() - from.atMs;
  const busyFactor = () => busyFactorBetween(from, readMachine());
  return {
    elapsedMs,
    busyFactor,
    assertWithin(boundMs, what) {
      const tookMs = Math.round(elapsedMs());
      const factor = busyFactor();
      const busy = `on a machine ${factor.toFixed(1)} times as slow`;
      assert.ok(tookMs < boundMs * factor, `${what}: ${tookMs} ms, not ${boundMs} ms, ${busy}`);
      return tookMs;
    },
  };
}

/** How many times longer than alone something may have taken between the two readings. */
export function busyFactorBetween(from: MachineReading, to: MachineReading): number {
  const elapsedMs = Math.max(to.atMs - from.atMs, 1);
  const stolen = (to.stolenMs - from.stolenMs) / (elapsedMs * to.cores);
  const left = 1 - Math.min(Math.max(stolen, 0), 1 - 1 / busyFactorMax);
  const factor = queueFactor(from, to, elapsedMs) / left;
  return Math.min(factor, busyFactorMax);
}

function queueFactor(from: MachineReading, to: MachineReading, elapsedMs: number): number {
  if (from.waitedMs === null || to.waitedMs === null) {
    const tasksPerCore = Math.max(from.loadAverage, to.loadAverage) / to.cores;
    return Math.min(Math.max(tasksPerCore, 1), TASKS_PER_CORE_MAX);
  }
  const waitedShare = Math.min((to.waitedMs - from.waitedMs) / elapsedMs, 1);
  return 1 + (TASKS_PER_CORE_MAX - 1) * Math.max(waitedShare, 0);
}

function readMachine(): MachineReading {
  return {
    atMs: performance.now(),
    cores: availableParallelism(),
    waitedMs: waitedMsOf(textOf('/proc/pressure/cpu')),
    stolenMs: stolenMsOf(textOf('/proc/stat')),
    loadAverage: loadavg()[0] ?? 0,
  };
}

/** Reads `/proc/pressure/cpu`, whose totals are microseconds. */
export function waitedMsOf(pressure: string): number | null {
  const total = /^some .*\btotal=(\d+)/m.exec(pressure)?.[1];
  return total === undefined ? null : Number(total) / 1_000;
}

/** Reads `/proc/stat`: the eighth time of the line of all cores. */
export function stolenMsOf(stat: string): number {
  const times = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ') ?? [];
  return Number(times[7] ?? 0) * JIFFY_MS;
}

/** Empty where there is no such file: other systems, and kernels that do not count it. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** What some work cost this process: unlike its duration, a busy machine adds nothing to it. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Eight times as much costs 8 times as much where it is linear, 64 times by its square. */
const GROWTH = { factor: 8, costMax: 24, attempts: 3, smallRuns: 3 };

/**
 * Fails when work grows faster than its size. No figure of time decides: how fast the machine is,
 * and who shares its caches, makes the small and the large alike dearer.
 * @param workOf makes the work of a size, outside of what is measured.
 * @param cheapMs CPU time that is no trouble, and too little to tell a law from.
 */
export async function assertLinear(
  size: number,
  workOf: (size: number) => () => unknown,
  what: string,
  cheapMs = 500,
): Promise<void> {
  const ratios: number[] = [];
  while (ratios.length < GROWTH.attempts) {
    // What disturbs so short a run makes it dearer: the cheapest is nearest to the work alone.
    const smallMs: number[] = [];
    while (smallMs.length < GROWTH.smallRuns) {
      smallMs.push(await cpuMsOf(workOf(Math.round(size / GROWTH.factor))));
    }
    const small = Math.min(...smallMs);
    const large = await cpuMsOf(workOf(size));
    if (large < cheapMs || large < small * GROWTH.costMax) return;
    ratios.push(Math.round(large / small));
  }
  assert.fail(`${what}: ${GROWTH.factor} times as much costs ${ratios.join(', ')} times as much`);
}
