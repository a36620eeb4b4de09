// The work on one analysis, from wherever its row stands to its end.
import { errorFields } from '../../db/driver/sql.ts';
import { findGenerationByKey } from '../../db/generations.ts';
import { type AnalysisEnd, endVideoAnalysis } from '../../db/video-analyses/moves.ts';
import type { SvcUsage } from '../../media/model/dialects/contract.ts';
import { analysisRoute, answer, generationKeys } from './answering.ts';
import { type AnalysisError, AnalysisFault } from './problems.ts';
import type { Run } from './run.ts';
import { usageOfCalls } from './usage.ts';

/** Works until the analysis is over or somebody else's, or the run is told to stop. */
export async function work(run: Run): Promise<void> {
  const { leases } = run.deps;
  leases.keep(run);
  try {
    const end = await endOf(run);
    if (end !== null) await write(run, end);
  } finally {
    leases.drop(run, true);
  }
}

/** Null: another goes on. */
async function endOf(run: Run): Promise<AnalysisEnd | null> {
  const { limits, log } = run.deps;
  for (let tries = 1; ; tries += 1) {
    if (run.isLate) return failed(new AnalysisFault('timeout'));
    try {
      const result = await answer(run);
      return result === null ? null : { status: 'completed', resultJson: JSON.stringify(result) };
    } catch (error) {
      if (run.isGone) return null;
      if (run.isLate) return failed(new AnalysisFault('timeout'));
      if (error instanceof AnalysisFault) return failed(error);
      const fields = { ...errorFields(error), analysis: run.id };
      log.warn(fields, 'the work on an analysis broke');
      if (tries >= limits.triesMax) return failed(new AnalysisFault('internal'));
    }
    await run.pause(limits.againMs * 2 ** (tries - 1));
    if (run.isGone) return null;
  }
}

function failed({ code, message }: AnalysisFault): AnalysisEnd {
  return { status: 'failed', errorCode: code, errorMessage: message };
}

/** Until the database has it, or says that it is another's. */
async function write(run: Run, end: AnalysisEnd): Promise<void> {
  const { sql, limits, metrics, log } = run.deps;
  for (let tries = 0; ; tries += 1) {
    try {
      const usage = await usageOf(run);
      const usageJson = usage === null ? null : JSON.stringify(usage);
      const isOurs = await endVideoAnalysis(sql, run, end, usageJson);
      if (isOurs) tell(run, end, metrics);
      return;
    } catch (error) {
      log.warn({ ...errorFields(error), analysis: run.id }, 'an end cannot be written now');
    }
    if (run.isGone) return;
    await run.pauseToWrite(Math.min(limits.writeRetryMsMax, 50 * 2 ** Math.min(tries, 10)));
  }
}

/** The usage of all that was charged, as the rows of generations have it. */
async function usageOf(run: Run): Promise<SvcUsage | null> {
  const { accountId, model } = run.row;
  const calls: SvcUsage[] = [];
  for (const key of generationKeys(run.id)) {
    const row = await findGenerationByKey(run.deps.sql, accountId, analysisRoute, key);
    if (row === null || row.usageJson === null) continue;
    calls.push(JSON.parse(row.usageJson) as SvcUsage);
  }
  return usageOfCalls(calls, model);
}

function tell(run: Run, end: AnalysisEnd, metrics: Run['deps']['metrics']): void {
  if (end.status === 'failed') {
    metrics.ended(end.errorCode as AnalysisError);
    return;
  }
  metrics.ended('completed');
  const { createdMs, nowMs, runningMs } = run.row;
  const usedMs = run.deps.limits.runningForMs - run.leftMs;
  metrics.lasted(((runningMs ?? nowMs) - createdMs + usedMs) / 1_000);
}
