// The seed of what is random in tests. In the suite it is always the same one, so that a run says
// what a change has done; `npm run test:long` takes a new one and prints it.
import { randomInt } from 'node:crypto';

const usual = 20_261_122;

/** TOLLGATE_TEST_SEED repeats a run of the long tests; `new` asks for another seed. */
function chosen(): number {
  const given = process.env.TOLLGATE_TEST_SEED ?? '';
  if (given === 'new') return randomInt(1, 2 ** 31);
  return Number(given) > 0 ? Number(given) : usual;
}

export const testSeed = chosen();

/** Park and Miller's generator: the same numbers from 0 to 1 for the same seed. */
export function createRandom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
