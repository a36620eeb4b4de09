// Chance that can be repeated: choices that follow from the seed of the tests alone.
import { testSeed } from '../harness/seed.ts';

export interface Chance {
  readonly seed: number;
  /** An integer from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  pick<T>(values: readonly [T, ...T[]]): T;
}

/** Prints the seed; the generator is mulberry32. */
export function openChance(name: string): Chance {
  const seed = testSeed;
  console.log(`# ${name}: seed ${seed}`);
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    seed,
    integer,
    pick: (values) => values[integer(0, values.length - 1)] ?? values[0],
  };
}
