// What the threads of one process cost, from /proc (Linux only): to the nanosecond where the kernel
// keeps scheduler statistics, else in ticks of 10 ms. Which thread is which is found by its work.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseStat } from './proc.ts';

/** Until what a start leaves behind is done. */
const QUIET_MS = 2_000;

/** CPU of every living thread in microseconds, by thread id. */
export function threadMicrosOf(pid: number): Map<number, number> {
  const found = new Map<number, number>();
  let names: string[];
  try {
    names = readdirSync(`/proc/${pid}/task`);
  } catch {
    return found; // the process ended
  }
  for (const name of names) {
    const micros = microsOf(`/proc/${pid}/task/${name}`);
    if (micros !== null) found.set(Number(name), micros);
  }
  return found;
}

function microsOf(folder: string): number | null {
  try {
    const [run = ''] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
    if (Number(run) > 0) return Number(run) / 1_000;
  } catch {
    // A kernel without CONFIG_SCHEDSTATS, or the thread ended.
  }
  try {
    return parseStat(readFileSync(`${folder}/stat`, 'utf8')).cpuMicros;
  } catch {
    return null;
  }
}

/** What each thread worked since `before`, the busiest first. */
export function worked(pid: number, before: ReadonlyMap<number, number>): [number, number][] {
  return [...threadMicrosOf(pid)]
    .map(([thread, micros]): [number, number] => [thread, micros - (before.get(thread) ?? 0)])
    .toSorted(([, one], [, other]) => other - one);
}

/**
 * The thread that answers HTTP on a port, as the one that works most while it is asked, the main
 * thread apart: threads have no names of their own before Node 22.
 */
export async function servingThread(pid: number, url: string): Promise<number> {
  await sleep(QUIET_MS);
  const before = threadMicrosOf(pid);
  const ask = async (): Promise<void> => {
    for (let count = 0; count < 200; count++) await (await fetch(url)).arrayBuffer();
  };
  await Promise.all([ask(), ask(), ask(), ask()]);
  const [first] = worked(pid, before).filter(([thread]) => thread !== pid);
  if (first === undefined) throw new Error(`no thread of process ${pid} works`);
  return first[0];
}
