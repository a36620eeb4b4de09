// The measured times of test files: read for the order of a run, written by `--measure`. One line a
// file, so that a change of one is a change of one line.
import { readFile, writeFile } from 'node:fs/promises';
import type { Pace } from './machine.ts';
import type { Measured } from './plan.ts';

export interface Durations {
  /** How fast and how busy the machine was; null before anything was measured. */
  pace: Pace | null;
  files: Record<string, Measured>;
}

export async function readDurations(path: string): Promise<Durations> {
  const text = await readFile(path, 'utf8').catch(() => null);
  return text === null ? { pace: null, files: {} } : (JSON.parse(text) as Durations);
}

/** Without zeros at the end, as the formatter wants numbers. */
const hundredths = (value: number) => Math.round(value * 100) / 100;

export function writtenDurations({ pace, files }: Durations): string {
  const paths = Object.keys(files).sort();
  const lines = paths.map((path) => {
    const { ms, cpuMs } = files[path] ?? { ms: 0, cpuMs: 0 };
    return `    "${path}": { "ms": ${Math.round(ms)}, "cpuMs": ${Math.round(cpuMs)} }`;
  });
  const { workMs, tasks } = pace ?? { workMs: 0, tasks: 0 };
  const head = `  "pace": { "workMs": ${hundredths(workMs)}, "tasks": ${hundredths(tasks)} },`;
  return `{\n${head}\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`;
}

export async function writeDurations(path: string, durations: Durations): Promise<void> {
  await writeFile(path, writtenDurations(durations));
}
