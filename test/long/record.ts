// Keeps what a long test found in `bench/results.md`, as the benches keep theirs: also when it
// failed. Only under `npm run test:long`; else it is printed and nothing is written.
import assert from 'node:assert/strict';
import { loadavg } from 'node:os';
import { barRows, type Findings, passes, printReport } from '../../bench/report.ts';
import { keepReport } from '../../bench/results.ts';

/** The folder of `results.md`, given by the runner. */
const folder = process.env.TOLLGATE_LONG_RESULTS;
const besides = process.env.TOLLGATE_LONG_BESIDES ?? '';

/** How long soaks last, given by the runner; short without it. */
export function soakMinutes(): number {
  const given = Number(process.env.TOLLGATE_LONG_MINUTES);
  return given > 0 ? given : 0.5;
}

/** How many rounds of this many a test runs: all under the runner, a few without it. */
export function roundsOf(full: number): number {
  return process.env.TOLLGATE_LONG_MINUTES === undefined ? Math.min(full, 3) : full;
}

/** Line of progress, with the time of day: soaks are watched, and compared with other logs. */
export function say(line: string): void {
  console.log(`# ${new Date().toISOString().slice(11, 19)} ${line}`);
}

/**
 * Runs the measurement, keeps its report with every bar's verdict, then fails if a bar is not held.
 * A measurement that throws is kept as failed, with its first line.
 */
export async function recorded(
  frame: Pick<Findings, 'name' | 'title' | 'method'>,
  measure: () => Promise<Omit<Findings, 'name' | 'title' | 'method'>>,
): Promise<void> {
  const loadBefore = loadavg()[0] ?? 0;
  const command = process.env.TOLLGATE_LONG_COMMAND ?? 'npm run test:long';
  const run = { command, loadBefore };
  const keep = async (report: Findings): Promise<void> => {
    printReport(report);
    if (folder !== undefined) await keepReport(folder, report, run);
  };
  let report: Findings;
  try {
    report = { ...frame, ...(await measure()) };
  } catch (error) {
    const [line] = String(error instanceof Error ? error.message : error).split('\n', 1);
    const notes = [`FAILED before its end: ${line}`];
    await keep({ ...frame, columns: ['verdict'], rows: [['FAIL']], bars: [], chart: null, notes });
    throw error;
  }
  if (besides !== '') report = { ...report, notes: [...report.notes, besides] };
  await keep(report);
  const failed = report.bars.filter((bar) => !passes(bar));
  assert.deepEqual(barRows(failed), [], 'every bar is held');
}
