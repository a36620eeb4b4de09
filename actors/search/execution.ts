// A search from its order to its result: the items of a target, then, where one is wanted, the
// answer that is written from them. Whoever gave the signal up is told `aborted`, and no more.
import { AwakeTimer } from '../../runtime/awake.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Answerer } from './answering.ts';
import { type AttemptDeps, askTargets } from './attempts.ts';
import { failedResult } from './conclusion.ts';
import type { AnswerOrder, SearchOrder, SearchResult } from './contract.ts';
import { searchLimits } from './limits.ts';

export interface ExecutionDeps extends AttemptDeps {
  answerer: Answerer;
  /** The node, in the ids of what is asked of models. */
  node(): number;
  log: AttemptDeps['log'] & { error(details: object, text: string): void };
}

/** Never rejects. */
export async function runSearch(
  deps: ExecutionDeps,
  order: SearchOrder,
  signal: AbortSignal,
): Promise<SearchResult> {
  const begunMs = deps.clock.awakeMs();
  try {
    const result = await askTargets(deps, order, signal);
    if (order.answer === null || result.items.length === 0) return result;
    const leftMs = searchLimits.answerTotalMs - (deps.clock.awakeMs() - begunMs);
    return await withAnswer(deps, { ...order, answer: order.answer }, result, leftMs, signal);
  } catch (error) {
    // A bug of ours: nobody waits for ever for it.
    deps.log.error({ ...placeIn(error), surface: order.surface.name }, 'search crashed');
    return failedResult([], 'failed', null, true);
  }
}

async function withAnswer(
  deps: ExecutionDeps,
  { answer: order, ask }: SearchOrder & { answer: AnswerOrder },
  result: SearchResult,
  leftMs: number,
  signal: AbortSignal,
): Promise<SearchResult> {
  const { items, engines } = result;
  const control = new AbortController();
  const abort = () => control.abort();
  const late = new AwakeTimer(leftMs, abort);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  const input = { query: ask.query, items, order, exchangeId: newId('req', deps.node()) };
  try {
    const answer = await deps.answerer.answer(input, control.signal);
    if (signal.aborted) return failedResult(engines, 'aborted', null, true);
    if (answer !== null) return { ...result, answer };
  } catch (error) {
    if (signal.aborted) return failedResult(engines, 'aborted', null, true);
    if (error instanceof Problem && error.code === 'no_route_available') {
      return failedResult(engines, 'no_route', null, true);
    }
    deps.log.error({ ...placeIn(error), route: result.routeId }, 'search is not answered from');
  } finally {
    late.cancel();
    signal.removeEventListener('abort', abort);
  }
  return { ...result, state: 'partial', answer: null };
}

/** The text of an error may quote what was asked: only its name and its frames are told. */
function placeIn(error: unknown): { error: string; frames: string[] } {
  if (!(error instanceof Error)) return { error: typeof error, frames: [] };
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^ {4}at \S.*:\d+\)?$/.test(line));
  return { error: error.name, frames: frames.slice(0, 5) };
}
