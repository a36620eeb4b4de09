// The work on one evidence, from wherever its row stands to its end. What breaks is begun again by
// whoever finds it left, three times at most.
import { errorFields } from '../../db/driver/sql.ts';
import { claimReward, deferReward, endJudging } from '../../db/rewards/moves.ts';
import { grantClaimed } from '../promotions/grant.ts';
import { fetchPage } from './fetching.ts';
import { nearBitsMax } from './gates.ts';
import { type Judgement, judgePage, rejectionOf, reviewOf } from './judging.ts';
import type { Run } from './run.ts';

const microsPerCredit = 1_000_000n;

/** Works until the evidence is judged, tried later, or somebody else's. */
export async function work(run: Run): Promise<void> {
  const { leases, log } = run.deps;
  leases.keep(run);
  try {
    const judgement = await judge(run);
    if (judgement !== null) await write(run, judgement);
  } catch (error) {
    if (run.signal.aborted) return;
    log.warn({ ...errorFields(error), submission: run.id }, 'the work on a submission broke');
  } finally {
    leases.drop(run, true);
  }
}

/** Null: its page is tried again later. */
async function judge(run: Run): Promise<Judgement | null> {
  const { deps, row } = run;
  const { limits } = deps;
  if (row.starts > limits.startsMax) return reviewOf(['The page could not be judged.']);
  const page = await fetchPage(run);
  run.signal.throwIfAborted();
  switch (page.status) {
    case 'refused':
      return rejectionOf(['The URL, or where it leads, may not be fetched.']);
    case 'unfit':
      return reviewOf(['The page is no text of 512 KiB at most.']);
    case 'again': {
      const waitMs = limits.fetchAgainMs[row.fetches];
      if (waitMs === undefined) return reviewOf(['The page could not be fetched.']);
      await deferReward(deps.sql, row, waitMs);
      deps.metrics.judged('later');
      return null;
    }
    case 'page': {
      const task = deps.settings().rewardTasks.find(({ name }) => name === row.task);
      return judgePage(run, task, page);
    }
  }
}

async function write(run: Run, judgement: Judgement): Promise<void> {
  const { deps, row } = run;
  if (judgement.status === 'lost') return;
  const { status, findings } = judgement;
  if (status !== 'approved') {
    const state = status === 'rejected' ? 'rejected' : 'needs_review';
    if (await endJudging(deps.sql, row, state, findings)) deps.metrics.judged(status);
    return;
  }
  const credits = deps.settings().billing.rewards?.auto_credits_per_day ?? 0;
  const bounds = { dayMaxMicros: BigInt(credits) * microsPerCredit, nearBitsMax };
  const claimed = await claimReward(deps.sql, row, findings, bounds);
  if (claimed === 'lost') return;
  if (claimed !== 'claimed') {
    const checks = [...findings.checks, bars[claimed]];
    await write(run, reviewOf(checks, findings.confidence));
    return;
  }
  deps.metrics.judged(status);
  // What is not granted now is granted by the next round.
  const wallet = deps.wallet(row.walletId);
  await grantClaimed(deps.sql, wallet, 'reward', row.id, deps.limits.grantMs);
}

const bars = {
  near: 'The text is nearly that of an approved submission.',
  day_full: 'What is given in a day without an administrator is given.',
  ineligible: 'The account may not be given promotional credit now.',
} as const;
