// What a process and all that it started cost, for `--measure`: read from /proc while they run.
// What is born and dies between two looks is missed.
import { readdirSync, readFileSync } from 'node:fs';

const JIFFY_MS = 10;
const LOOK_MS = 500;

export interface CpuWatch {
  /** What one process and its descendants took, as far as that was seen. */
  cpuMsOf(pid: number): number;
  follow(pid: number): void;
  stop(): void;
}

interface Row {
  pid: number;
  parent: number;
  ms: number;
}

/** Reads `/proc/PID/stat`, without the children: they are looked at themselves. */
export function rowOf(text: string): Row | null {
  const found = /^(\d+) \(.*\) (.*)$/s.exec(text.trim());
  if (found === null) return null;
  const fields = (found[2] ?? '').split(' ');
  const jiffies = [11, 12].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0);
  return { pid: Number(found[1]), parent: Number(fields[1] ?? 0), ms: jiffies * JIFFY_MS };
}

function rows(): Row[] {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    try {
      const row = rowOf(readFileSync(`/proc/${name}/stat`, 'utf8'));
      return row === null ? [] : [row];
    } catch {
      // It has ended since.
      return [];
    }
  });
}

export function watchCpu(): CpuWatch {
  /** Which followed process each process that was seen belongs to. */
  const rootOf = new Map<number, number>();
  const msOf = new Map<number, number>();
  const look = () => {
    const seen = rows();
    for (let grown = true; grown; ) {
      grown = false;
      for (const { pid, parent } of seen) {
        const root = rootOf.get(parent);
        if (rootOf.has(pid) || root === undefined) continue;
        rootOf.set(pid, root);
        grown = true;
      }
    }
    for (const { pid, ms } of seen) if (rootOf.has(pid)) msOf.set(pid, ms);
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    follow: (pid) => void rootOf.set(pid, pid),
    cpuMsOf(pid) {
      look();
      return [...rootOf].reduce((sum, [each, root]) => {
        return sum + (root === pid ? (msOf.get(each) ?? 0) : 0);
      }, 0);
    },
    stop: () => clearInterval(timer),
  };
}
