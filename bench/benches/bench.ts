// What a bench is: a name and a function from options to a report. Also what several benches share:
// interleaved runs, and figures per contender.
import type { ContenderName } from '../contenders/fleet.ts';
import type { Findings } from '../report.ts';
import { median } from '../statistics.ts';

export interface BenchOptions {
  runs: number;
  shards: number;
  /** Length of a measured window in seconds; benches have their own defaults. */
  seconds: number | null;
  /** The share of their rows that benches of many rows make; absent: all. */
  scale?: number;
  /** Only these contenders; null: all of the bench. */
  contenders: readonly ContenderName[] | null;
  /** Where the gateway's threads leave their CPU profiles; absent: not profiled. */
  profileFolder?: string;
}

export interface Bench {
  name: string;
  run(options: BenchOptions): Promise<Findings>;
}

/** Prints one line of progress. */
export function progress(text: string): void {
  console.log(`  ${text}`);
}

/** The contenders of a bench that take part in this run of it. */
export function chosen(
  all: readonly ContenderName[],
  options: BenchOptions,
): readonly ContenderName[] {
  const { contenders } = options;
  return contenders === null ? all : all.filter((name) => contenders.includes(name));
}

/** Figures of one contender over all runs, by the name of the figure. */
export type Figures<K extends string> = Record<K, number>;

/**
 * Measures all contenders in turn, `runs` times, in another order each time; the result is the
 * median of each figure. A bad moment of the machine so hits all of them, or is thrown away.
 */
export async function interleave<K extends string, C extends { name: string }>(
  contenders: readonly C[],
  runs: number,
  measure: (contender: C, run: number) => Promise<Figures<K>>,
): Promise<Map<string, Figures<K>>> {
  const samples = new Map<string, Figures<K>[]>(contenders.map(({ name }) => [name, []]));
  for (let run = 0; run < runs; run++) {
    for (let index = 0; index < contenders.length; index++) {
      const contender = contenders[(index + run) % contenders.length];
      if (contender === undefined) continue;
      const figures = await measure(contender, run);
      samples.get(contender.name)?.push(figures);
      const shown = Object.entries<number>(figures).map(([key, value]) => `${key} ${brief(value)}`);
      progress(`run ${run + 1}/${runs} ${contender.name}: ${shown.join(', ')}`);
    }
  }
  return new Map([...samples].map(([name, all]) => [name, medians(all)]));
}

function medians<K extends string>(all: readonly Figures<K>[]): Figures<K> {
  const [first] = all;
  if (first === undefined) throw new Error('no run was measured');
  const keys = Object.keys(first) as K[];
  const pairs = keys.map((key) => [key, median(all.map((each) => each[key]))] as const);
  return Object.fromEntries(pairs) as Figures<K>;
}

function brief(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** One figure of one contender; NaN when it did not take part. */
export function figureOf<K extends string>(
  figures: ReadonlyMap<string, Figures<K>>,
  name: string,
  key: K,
): number {
  return figures.get(name)?.[key] ?? Number.NaN;
}
