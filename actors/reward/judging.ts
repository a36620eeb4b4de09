// From a fetched page to what becomes of the evidence: gates, two rounds of the model, a verdict.
// What goes wrong on the way is looked at by an administrator.

import { type Findings, notePage } from '../../db/rewards/moves.ts';
import { listNearPrints } from '../../db/rewards/prints.ts';
import type { RewardTaskRecord } from '../catalog/document.ts';
import { askRound } from './asking.ts';
import type { FetchedPage } from './fetching.ts';
import { nearBitsMax, passGates, shownCharactersMax } from './gates.ts';
import { pageUrlOf } from './page-url.ts';
import { questionsOf, type TaskQuestion } from './questions.ts';
import type { Run } from './run.ts';
import { judgeRounds, type Round, readRound, reviewSummary } from './verdict.ts';

export type Judgement =
  | { status: 'approved' | 'rejected' | 'review'; findings: Findings }
  /** Somebody else judges it. */
  | { status: 'lost' };

type Page = Extract<FetchedPage, { status: 'page' }>;

/** One that an administrator has to look at, and why. */
export function reviewOf(checks: readonly string[], confidence: number | null = null): Judgement {
  return { status: 'review', findings: { confidence, summary: reviewSummary, checks } };
}

export function rejectionOf(checks: readonly string[]): Judgement {
  const summary = 'The evidence does not do what the task asks for.';
  return { status: 'rejected', findings: { confidence: null, summary, checks } };
}

export async function judgePage(
  run: Run,
  task: RewardTaskRecord | undefined,
  page: Page,
): Promise<Judgement> {
  const { deps, row } = run;
  if (task === undefined) return reviewOf(['The task is not there any more.']);
  const read = await deps.readPage({ text: page.text, isHtml: page.isHtml }, row.accountId);
  if (read === null) throw new Error('the text of a page could not be read');
  const { text } = read;
  const print = BigInt(read.print);
  const pageUrl = pageUrlOf(page.url);
  if (pageUrl === null) return rejectionOf(['The page has no address of the web.']);
  const noted = await notePage(deps.sql, row, { pageUrl, print });
  if (noted === 'lost') return { status: 'lost' };
  const passed = passGates({
    evidenceUrl: row.evidenceUrl,
    finalUrl: page.url,
    hosts: task.hosts,
    challengeCode: row.challengeCode,
    text,
    print,
    approvedPrints: await listNearPrints(deps.sql, print, nearBitsMax),
    isTaken: noted === 'taken',
  });
  if (passed.status === 'rejected') return rejectionOf(passed.checks);
  if (passed.status === 'review') return reviewOf(passed.checks);
  return askBoth(run, task, text.slice(0, shownCharactersMax), passed.checks);
}

async function askBoth(
  run: Run,
  task: RewardTaskRecord,
  text: string,
  checks: readonly string[],
): Promise<Judgement> {
  const { rewards } = run.deps.settings().billing;
  if (rewards === null) return reviewOf(checks);
  const questions = task.questions.map((question): TaskQuestion => {
    return { text: question.text, terms: question.terms ?? task.terms };
  });
  const { nonce } = run.row;
  const rounds: Round[] = [];
  for (const round of [1, 2]) {
    const asked = questionsOf({ nonce, round }, questions, text);
    if (asked === null) return reviewOf([...checks, 'The page has too few words.']);
    const answer = await askRound(run, { round, model: rewards.model, text, questions: asked });
    if (answer.status !== 'answered') return reviewOf([...checks, 'The model was not asked.']);
    rounds.push(readRound(asked, answer.text, text));
  }
  const [first, second] = rounds;
  if (first === undefined || second === undefined) throw new Error('there are two rounds');
  const verdict = judgeRounds([first, second]);
  const { status, confidence, summary } = verdict;
  return { status, findings: { confidence, summary, checks: [...checks, ...verdict.checks] } };
}
