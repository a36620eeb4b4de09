// What is due for analyses beside their actors. Those that nobody has are put into the queue again,
// those that waited too long fail, and those that are old are forgotten.
import type { Sql } from '../../db/driver/sql.ts';
import {
  endLateAnalyses,
  forgetAnalyses,
  freeVideoAnalyses,
  type HeldAnalysis,
  listLeftAnalyses,
} from '../../db/video-analyses/moves.ts';
import type { AnalysisLimits } from './limits.ts';
import { messageOf } from './problems.ts';

/**
 * One round. `add` puts a turn into the queue, where it is once. Rejects when the database cannot
 * be read; the next round does what this one did not.
 */
export async function sweepAnalyses(
  sql: Sql,
  add: (left: HeldAnalysis) => void,
  { queuedForMs, leftMs, leftMax }: Pick<AnalysisLimits, 'queuedForMs' | 'leftMs' | 'leftMax'>,
): Promise<void> {
  const code = 'queue_timeout';
  await endLateAnalyses(sql, queuedForMs, { code, message: messageOf(code) });
  for (const left of await listLeftAnalyses(sql, leftMs, leftMax)) add(left);
}

/** Removes what is older than it is kept; 0 keeps all. */
export async function sweepOldAnalyses(
  sql: Sql,
  { keptMs, sweptMax }: Pick<AnalysisLimits, 'keptMs' | 'sweptMax'>,
): Promise<number> {
  return keptMs === 0 ? 0 : forgetAnalyses(sql, keptMs, sweptMax);
}

/** At the start of a process that nobody shares the database with: nobody works on any. */
export async function takeOverAnalyses(
  sql: Sql,
  add: (left: HeldAnalysis) => void,
  { leftMax }: Pick<AnalysisLimits, 'leftMax'>,
): Promise<void> {
  await freeVideoAnalyses(sql);
  for (const left of await listLeftAnalyses(sql, 0, leftMax)) add(left);
}
