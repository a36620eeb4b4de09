// What most benches do with their contenders: start them with one load generator, load one of them
// and read what that cost, stop everything whatever happens.
import { assertClean, type Contender, type Cost, costOf } from '../contender.ts';
import { type ContenderName, startFleet } from '../contenders/fleet.ts';
import { Generator } from '../load/generator.ts';
import type { LoadJob, LoadResult } from '../load/job.ts';
import { type BenchOptions, progress } from './bench.ts';

export async function withFleet<T>(
  names: readonly ContenderName[],
  options: BenchOptions,
  work: (contenders: Contender[], generator: Generator) => Promise<T>,
): Promise<T> {
  progress(`starting ${names.join(', ')}`);
  const { shards, profileFolder } = options;
  const profiled = profileFolder === undefined ? {} : { profileFolder };
  const fleet = await startFleet({ names, shards, ...profiled });
  const generator = new Generator();
  try {
    return await work(fleet.contenders, generator);
  } finally {
    generator.stop();
    await fleet.stop();
  }
}

/**
 * Runs one job, at most `graceMs` longer than it is to last: waiting for a stuck stream is no
 * measurement. A failed request throws.
 */
export async function costOfLoad(
  generator: Generator,
  contender: Contender,
  job: LoadJob,
  graceMs: number,
): Promise<{ result: LoadResult; cost: Cost }> {
  const timeoutMs = (job.durationMs ?? 0) + graceMs;
  const measured = await costOf(contender, () => generator.load(job, timeoutMs));
  assertClean(contender, measured.result);
  return measured;
}
