// The order of test files, and which of them share a process. The longest come first, by the times
// of `durations.json`, so that no long one runs on alone at the end.
import type { Kind } from './kinds.ts';

/** What one file took when it was measured, with the whole suite around it. */
export interface Measured {
  ms: number;
  /** What the file's process and all that it started took. */
  cpuMs: number;
}

export interface TestFile extends Measured {
  /** From the root: `test/db/driver/array.test.ts`. */
  path: string;
  kind: Kind;
}

/** Files that run one after the other in one process. */
export interface Unit {
  kind: Kind;
  files: TestFile[];
  ms: number;
  cpuMs: number;
}

/** For a file that was never measured, when none was. */
const UNKNOWN_MS = 3_000;
/** Long enough that starting its process is little, short enough to fill the end of a run. */
const BATCH_MS = 15_000;
/** A gateway takes seconds to start: few of them, yet one for each lane if it has the time. */
const SHARED_MS = 60_000;
/** Share of two cores: a file that needs less than this beside others waits for most of it. */
const WAITING_SHARE = 0.2;
const WAITING_MS = 2_000;

/** The average stands for a file that was not measured. */
export function measuredOf(path: string, durations: Record<string, Measured>): Measured {
  const known = durations[path];
  if (known !== undefined) return known;
  const all = Object.values(durations);
  const count = Math.max(all.length, 1);
  const sum = (of: (each: Measured) => number) => all.reduce((total, each) => total + of(each), 0);
  const average = all.length === 0 ? UNKNOWN_MS : sum(({ ms }) => ms) / count;
  return { ms: average, cpuMs: all.length === 0 ? average : sum(({ cpuMs }) => cpuMs) / count };
}

function unitOf(kind: Kind, files: TestFile[]): Unit {
  const sum = (of: (file: TestFile) => number) =>
    files.reduce((total, file) => total + of(file), 0);
  return { kind, files, ms: sum(({ ms }) => ms), cpuMs: sum(({ cpuMs }) => cpuMs) };
}

/** Neighbours stay together, as they import the same; the longest of a process comes first. */
function chunks(kind: Kind, files: TestFile[], boundMs: number): Unit[] {
  const all = unitOf(kind, files);
  const count = Math.max(1, Math.round(all.ms / boundMs));
  const units: Unit[] = [];
  let begun: TestFile[] = [];
  let ms = 0;
  for (const file of files) {
    begun.push(file);
    ms += file.ms;
    if (ms < (all.ms / count) * (units.length + 1) && file !== files.at(-1)) continue;
    units.push(unitOf(kind, begun));
    begun = [];
  }
  return units;
}

/** @param isolated each file alone, whatever it is. */
export function unitsOf(files: readonly TestFile[], isolated: boolean): Unit[] {
  const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
  const of = (kind: Kind) => sorted.filter((file) => file.kind === kind);
  const alone = (list: TestFile[]) => list.map((file) => unitOf('own', [file]));
  const units = isolated
    ? alone(sorted)
    : [
        ...alone(of('own')),
        ...chunks('batch', of('batch'), BATCH_MS),
        ...chunks('shared', of('shared'), SHARED_MS),
      ];
  return units.sort((left, right) => right.ms - left.ms);
}

/** Beside the others it costs next to nothing. */
export function isWaiting({ kind, ms, cpuMs }: Unit): boolean {
  return kind === 'own' && ms >= WAITING_MS && cpuMs < ms * WAITING_SHARE;
}

/** Chaos loads the machine: two of it never run beside each other. */
function isChaos({ files }: Unit): boolean {
  return files.some(({ path }) => path.startsWith('test/chaos/'));
}

/** What a lane runs next, undefined at its end. */
export type Lane = () => Unit | undefined;

/**
 * Each lane takes the longest unit that is left for it. One takes chaos first, one takes only what
 * waits; what waits and is left at the end is for all.
 */
export function lanesOf(units: readonly Unit[], usualLanes: number): Lane[] {
  const sorted = [...units].sort((left, right) => right.ms - left.ms);
  const chaos = sorted.filter(isChaos);
  const waiting = sorted.filter((unit) => !isChaos(unit) && isWaiting(unit));
  const others = sorted.filter((unit) => !isChaos(unit) && !isWaiting(unit));
  const usual = () => others.shift() ?? waiting.shift();
  return [
    () => chaos.shift() ?? usual(),
    () => waiting.shift(),
    ...Array.from({ length: usualLanes - 1 }, () => usual),
  ];
}
