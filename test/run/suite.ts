// Runs the units of a plan in lanes, and keeps the time of each file.
import { type CpuWatch, watchCpu } from './cpu.ts';
import type { MachineWatch, Pace } from './machine.ts';
import { slownessOf } from './machine.ts';
import type { Lane, Measured, Unit } from './plan.ts';
import { type Outcome, runProcess } from './process.ts';
import type { FileTime } from './rules.ts';

export interface SuiteOptions {
  fileTimeoutMs: number;
  /** Of a test file: its compiled one. */
  compiled(path: string): string;
  machine: MachineWatch;
  /** What the machine was like when durations were measured. */
  measuredPace: Pace | null;
  /** Also what each file costs. */
  isMeasuring: boolean;
  onOutcome(outcome: Outcome): void;
  onOutput(text: string): void;
}

export interface SuiteTimes {
  files: FileTime[];
  /** Only when it is asked for. */
  measured: Record<string, Measured>;
}

interface Running extends SuiteOptions {
  times: SuiteTimes;
  cpu: CpuWatch | null;
}

/** Until none of its files is left: after one that fails, the others get a new process. */
async function runUnit({ kind, files }: Unit, running: Running): Promise<void> {
  const { compiled, times, cpu } = running;
  const pathOf = new Map(files.map(({ path }) => [compiled(path), path]));
  let left = [...pathOf.keys()];
  while (left.length > 0) {
    let pid = 0;
    let spentMs = 0;
    const plan = {
      files: left,
      isBatch: kind !== 'own',
      isShared: kind === 'shared',
      fileTimeoutMs: running.fileTimeoutMs,
    };
    left = await runProcess(plan, {
      onOutcome: running.onOutcome,
      onOutput: running.onOutput,
      onSpawn(spawned) {
        pid = spawned;
        cpu?.follow(pid);
      },
      onFileEnd({ file, ms }) {
        const path = pathOf.get(file) ?? file;
        const fromMs = performance.now() - ms;
        const meanwhile = running.machine.samples.filter(({ atMs }) => atMs >= fromMs);
        const slowness = slownessOf(meanwhile, running.measuredPace);
        times.files.push({ path, ms, slowness });
        if (cpu === null) return;
        const cpuMs = cpu.cpuMsOf(pid);
        times.measured[path] = { ms, cpuMs: cpuMs - spentMs };
        spentMs = cpuMs;
      },
    });
  }
}

export async function runLanes(lanes: readonly Lane[], options: SuiteOptions): Promise<SuiteTimes> {
  const times: SuiteTimes = { files: [], measured: {} };
  const cpu = options.isMeasuring ? watchCpu() : null;
  const running = { ...options, times, cpu };
  const runLane = async (take: Lane) => {
    for (let unit = take(); unit !== undefined; unit = take()) await runUnit(unit, running);
  };
  await Promise.all(lanes.map(runLane));
  cpu?.stop();
  return times;
}
