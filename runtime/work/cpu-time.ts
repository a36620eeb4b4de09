// CPU time of the calling thread, to bound work that must not be judged by how busy the machine
// is. Node 20 tells that of the process only; Linux tells it in nanoseconds.
// https://docs.kernel.org/scheduler/sched-stats.html
import { readFileSync } from 'node:fs';

/** Milliseconds since some moment. Where nobody tells the CPU time it is the wall clock's. */
export function threadCpuMs(): number {
  try {
    const [nanoseconds = ''] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return performance.now();
  }
}
