// Asks the model, once under a key of the analysis. Whoever goes on after a crash attaches to the
// generation or is told its end again, so nobody is charged twice. An answer that is no result is
// asked for once more, under a key of its own.
import { withDeadline } from '../../db/driver/sql.ts';
import { findContextOf } from '../../db/organizations/contexts.ts';
import { answerText } from '../../media/model/answer.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { Problem } from '../../runtime/problem.ts';
import { cancelGeneration } from '../generation/open.ts';
import { type GenerationPrepared, startPrepared } from '../generation/start.ts';
import { rulesOf } from '../organization/rules.ts';
import { readSettings } from '../organization/settings.ts';
import type { GenerationEnd } from '../subscriber/protocol.ts';
import { ReplySink } from '../subscriber/reply-sink.ts';
import { prepare } from './preparing.ts';
import { AnalysisFault, meaningOf, type RefusalMeaning } from './problems.ts';
import { analysisRequest, type BadAnswer } from './request.ts';
import { type AnalysisResult, type Judgement, judgeAnswer } from './result.ts';
import type { Run } from './run.ts';
import { partOf } from './source-facts.ts';

/** The route of the generations; no client can ask for one there. */
export const analysisRoute = '/v1/video/analyses';

/** The idempotency keys of an analysis: of its generation, and of the one that repairs it. */
export function generationKeys(id: string): readonly [string, string] {
  return [`analysis:${id}`, `analysis:${id}:repair`];
}

/** What was charged, however it ended. */
interface Charged {
  text: string;
  isWhole: boolean;
}

/**
 * The result. Null: this process leaves before there is one.
 * @throws AnalysisFault
 */
export async function answer(run: Run): Promise<AnalysisResult | null> {
  const [key, repairKey] = generationKeys(run.id);
  const first = await generate(run, key, null);
  const judged = judge(run, first);
  if (judged.ok) return judged.result;
  if (run.isLeaving) return null;
  const bad = { said: first.text, complaint: judged.complaint };
  const second = judge(run, await generate(run, repairKey, bad));
  if (second.ok) return second.result;
  if (run.isLeaving) return null;
  throw new AnalysisFault('generation_failed');
}

function judge(run: Run, { text, isWhole }: Charged): Judgement {
  if (!isWhole) return { ok: false, complaint: 'It is not whole.' };
  const { facts, row } = run;
  if (facts === null) throw new Error('a model was asked before its frames were noted');
  const looked = { ...partOf(row, facts), frames: facts.frames };
  return judgeAnswer(text, looked, row.prompt !== null);
}

/** Asks until something was charged. */
async function generate(run: Run, key: string, bad: BadAnswer | null): Promise<Charged> {
  const { limits, log } = run.deps;
  const busyUntil = performance.now() + limits.busyForMs;
  let failures = 0;
  for (let tries = 0; ; tries += 1) {
    const outcome = await ask(run, key, bad);
    if (typeof outcome === 'object') return outcome;
    if (outcome === 'failed') failures += 1;
    else if (outcome !== 'again' && outcome !== 'attached') throw new AnalysisFault(outcome);
    const isHopeless =
      failures >= limits.failuresMax ||
      (outcome === 'again' && performance.now() + limits.againMs > busyUntil);
    if (isHopeless) throw new AnalysisFault('generation_failed');
    log.info({ analysis: run.id, outcome }, 'the model of an analysis is asked again');
    if (run.isLeaving) run.stop();
    await run.pause(Math.min(limits.againMsMax, limits.againMs * 2 ** tries));
    run.signal.throwIfAborted();
  }
}

async function ask(
  run: Run,
  key: string,
  bad: BadAnswer | null,
): Promise<Charged | RefusalMeaning> {
  run.signal.throwIfAborted();
  try {
    return meaningOfEnd(await endOf(run, key, bad));
  } catch (error) {
    if (error instanceof Problem && !run.signal.aborted) return meaningOf(error.code);
    throw error;
  } finally {
    run.isAnswering = false;
  }
}

function meaningOfEnd(end: GenerationEnd): Charged | RefusalMeaning {
  switch (end.status) {
    case 'completed':
      return { text: answerText(end.answer), isWhole: true };
    case 'incomplete':
      if (end.receipt.svcUsage.credits_exhausted) return 'insufficient_credits';
      return { text: answerText(end.answer), isWhole: false };
    case 'cancelled':
      return 'generation_failed';
    case 'duplicate':
      return 'attached';
    case 'failed': {
      const { svcUsage, answer, problem } = end;
      if (svcUsage === null || svcUsage.source === 'none') return meaningOf(problem.code);
      return { text: answerText(answer), isWhole: false };
    }
  }
}

/**
 * The end of the generation under the key, whoever began it. A run that is cut off leaves it, and
 * one that is late has it cancelled: what was used is settled.
 */
async function endOf(run: Run, key: string, bad: BadAnswer | null): Promise<GenerationEnd> {
  const { deps, signal } = run;
  const generations = deps.generations();
  let requestId: string | null = null;
  let leave = () => {};
  const opened = startPrepared(
    generations,
    wantedOf(run, key, bad),
    (identity) => {
      requestId = identity.requestId;
      run.isAnswering = true;
      return new ReplySink(null);
    },
    (listener) => {
      leave = listener;
      // It was cut off while the request was made.
      if (signal.aborted) leave();
    },
  );
  try {
    const { opening } = await orAborted(opened, signal);
    if (opening.kind !== 'end') throw new Error('a generation without an encoder has a stream');
    return opening.end;
  } catch (error) {
    if (!signal.aborted) throw error;
    if (run.isLate && requestId !== null) {
      await cancelGeneration(generations, requestId, deps.limits.cancelWaitMs);
    }
    leave();
    throw error;
  }
}

function wantedOf(run: Run, key: string, bad: BadAnswer | null): GenerationPrepared {
  const { accountId, walletId, fallbackWalletId, apiKeyId, fingerprint, model } = run.row;
  return {
    exchangeId: run.id,
    accountId,
    walletId,
    fallbackWalletId,
    apiKeyId,
    route: analysisRoute,
    idempotencyKey: key,
    // Whatever a source has become meanwhile: the analysis is the same.
    fingerprint,
    background: false,
    storeRequest: null,
    takePermit: () => () => {},
    alias: model,
    prepare: () => preparedFor(run, bad),
  };
}

/** What the organization forbids is read when the model is asked: it may have changed. */
async function preparedFor(run: Run, bad: BadAnswer | null) {
  const request = await requestOf(run, bad);
  const context = await withDeadline(findContextOf(run.deps.sql, run.row.accountId));
  const rules = context === null ? null : rulesOf(readSettings(context.settings));
  return { request, rules };
}

async function requestOf(run: Run, bad: BadAnswer | null): Promise<GenerationRequest> {
  const { facts, frames } = await prepare(run);
  const { model, prompt } = run.row;
  return analysisRequest({ model, prompt, ...partOf(run.row, facts), frames }, bad);
}

/** What is waited for is left behind when the signal aborts; its own failure is nobody's then. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
