// What a process costs, from /proc (Linux only). CPU is user + system time of all its threads, and
// the kernel counts it in ticks of 10 ms: windows of some seconds keep that under one percent.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TICK_MICROS = 10_000;

interface Stat {
  parentPid: number;
  cpuMicros: number;
  /** CPU of children that have ended and were waited for. */
  reapedCpuMicros: number;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // the process ended between two looks
  }
}

/** Parses /proc/PID/stat (proc(5)); the command may hold spaces and brackets, so from its end. */
export function parseStat(text: string): Stat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (index: number): number => Number(fields[index] ?? 0);
  return {
    parentPid: field(1),
    cpuMicros: (field(11) + field(12)) * TICK_MICROS,
    reapedCpuMicros: (field(13) + field(14)) * TICK_MICROS,
  };
}

function statOf(pid: number): Stat | null {
  const text = readOrNull(`/proc/${pid}/stat`);
  return text === null ? null : parseStat(text);
}

/** User + system time of these processes, all threads, in microseconds. */
export function cpuMicrosOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (statOf(pid)?.cpuMicros ?? 0), 0);
}

/** The same, and that of programs which they have run to their end. */
export function cpuWithProgramsMicrosOf(pids: readonly number[]): number {
  const reaped = pids.map((pid) => statOf(pid)?.reapedCpuMicros ?? 0);
  return reaped.reduce((sum, micros) => sum + micros, cpuMicrosOf(pids));
}

/** User + system time of each thread of a process, by its id, in microseconds: to the nanosecond
 * (Documentation/scheduler/sched-stats.rst), unlike the ticks of `stat`. */
export function threadCpuMicros(pid: number): Map<number, number> {
  const times = new Map<number, number>();
  for (const name of readdirSync(`/proc/${pid}/task`)) {
    const text = readOrNull(`/proc/${pid}/task/${name}/schedstat`);
    if (text !== null) times.set(Number(name), Number(text.split(' ')[0]) / 1_000);
  }
  return times;
}

/** Resident memory of these processes in bytes. */
export function rssBytesOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const line = /^VmRSS:\s+(\d+) kB/m.exec(readOrNull(`/proc/${pid}/status`) ?? '');
    return sum + Number(line?.[1] ?? 0) * 1024;
  }, 0);
}

/** The most that these processes had in memory since `resetPeakRss`, in bytes. */
export function peakRssBytesOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const line = /^VmHWM:\s+(\d+) kB/m.exec(readOrNull(`/proc/${pid}/status`) ?? '');
    return sum + Number(line?.[1] ?? 0) * 1024;
  }, 0);
}

/** Begins anew with the peak (proc(5), clear_refs). */
export function resetPeakRss(pids: readonly number[]): void {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** All living descendants of a process, nearest first, without itself. */
export function descendantsOf(pid: number): number[] {
  const childrenByParent = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(Number(name));
    if (stat === null) continue;
    const siblings = childrenByParent.get(stat.parentPid) ?? [];
    siblings.push(Number(name));
    childrenByParent.set(stat.parentPid, siblings);
  }
  const found: number[] = [];
  for (let parents = [pid]; parents.length > 0; ) {
    parents = parents.flatMap((parent) => childrenByParent.get(parent) ?? []);
    found.push(...parents);
  }
  return found;
}

/** The command line of a process, arguments separated by spaces; empty when it is gone. */
export function commandOf(pid: number): string {
  return (readOrNull(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
}

/** The postmaster that serves a data folder: found by its pid file, for it may be reparented. */
export function postmasterPid(dataPath: string): number | null {
  const text = readOrNull(join(dataPath, 'pg', 'postmaster.pid')) ?? nestedPidFile(dataPath);
  const pid = Number(text?.split('\n')[0] ?? Number.NaN);
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

function nestedPidFile(dataPath: string): string | null {
  let names: string[];
  try {
    names = readdirSync(join(dataPath, 'pg'));
  } catch {
    return null;
  }
  for (const name of names) {
    const text = readOrNull(join(dataPath, 'pg', name, 'postmaster.pid'));
    if (text !== null) return text;
  }
  return null;
}

/** CPU of a PostgreSQL server: postmaster, living backends and those that have ended. */
export function postgresCpuMicros(dataPath: string): number {
  const postmaster = postmasterPid(dataPath);
  if (postmaster === null) return 0;
  const reaped = statOf(postmaster)?.reapedCpuMicros ?? 0;
  return cpuMicrosOf([postmaster, ...descendantsOf(postmaster)]) + reaped;
}
