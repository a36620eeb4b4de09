// The work on one job, from wherever its row stands to its end.
import { release, settle } from './closing.ts';
import { fetchVideo } from './fetching.ts';
import { lookUp } from './lookup.ts';
import { poll } from './polling.ts';
import type { Run, Step } from './run.ts';
import { type Stage, stageOf } from './stage.ts';
import { submit } from './submission.ts';

const steps: Readonly<Record<Exclude<Stage, 'over' | 'settle'>, (run: Run) => Promise<Step>>> = {
  submit,
  lookUp,
  poll,
  fetch: fetchVideo,
};

/** Works until the job is over or somebody else's, or the run is told to stop. */
export async function work(run: Run): Promise<void> {
  const { leases } = run.deps;
  leases.keep(run);
  try {
    while (!run.signal.aborted) {
      const stage = stageOf(run.job);
      if (stage === 'over') return;
      if (stage === 'settle') {
        await settle(run);
        return;
      }
      const step = await steps[stage](run);
      if (step.kind === 'next') continue;
      if (step.kind === 'fail') await release(run, { code: step.code });
      return;
    }
  } finally {
    leases.drop(run, true);
  }
}
