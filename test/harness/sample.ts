// What the suite takes of a large matrix: a part that the seed chooses. `npm run test:long` runs
// every file that uses this, and takes all of it, with a new seed.
import { createRandom, testSeed } from './seed.ts';

/** As in `npm run test:long`. */
const isWhole = process.env.TOLLGATE_LONG_MINUTES !== undefined;

/** So many of them in their order, chosen by the seed; all of them in the long run. */
export function sampled<T>(
  all: readonly T[],
  count: number,
  seed = testSeed,
  whole = isWhole,
): T[] {
  if (whole || count >= all.length) return [...all];
  const random = createRandom(seed);
  const places = all.map((_, at) => at);
  const kept = new Set<number>();
  while (kept.size < count) {
    const [place = 0] = places.splice(Math.floor(random() * places.length), 1);
    kept.add(place);
  }
  return all.filter((_, at) => kept.has(at));
}

/** Runs of a property: these in the suite, all in the long run. */
export function sampledRuns(all: number, count: number, whole = isWhole): number {
  return whole ? all : Math.min(all, count);
}
