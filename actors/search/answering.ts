// Has a model answer from what was found, and checks that it does. Where it does not, it is asked
// once more. The house pays; without a key and unstored, nothing of it outlives the query.
import { findHouse, type House } from '../../db/accounts/house.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { answerText } from '../../media/model/answer.ts';
import type { GroundedAnswer } from '../../media/model/grounding/contract.ts';
import { groundAnswer } from '../../media/model/grounding/ground.ts';
import { repairText } from '../../media/model/grounding/repair-text.ts';
import { sentencesOf } from '../../media/model/grounding/sentences.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import type { SearchItem } from '../../media/search/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import { Problem, type ProblemCode } from '../../runtime/problem.ts';
import { cancelGeneration } from '../generation/open.ts';
import { type GenerationServices, startGeneration } from '../generation/start.ts';
import type { GenerationEnd } from '../subscriber/protocol.ts';
import { ReplySink } from '../subscriber/reply-sink.ts';
import { answerRequest, sourcesOf, type UngroundedAnswer } from './answer-request.ts';
import type { AnswerOrder } from './contract.ts';

/** The route of the generations; no client can ask for one there. */
export const answerRoute = '/api/v1/query/answer';

export interface AnswerInput {
  query: string;
  items: readonly SearchItem[];
  order: AnswerOrder;
  /** Names the exchange in logs. */
  exchangeId: string;
}

export interface Answerer {
  /**
   * Null: it is not to be had, or the signal aborted.
   * @throws Problem no_route_available where the house has no credits
   */
  answer(input: AnswerInput, signal: AbortSignal): Promise<GroundedAnswer | null>;
}

export interface AnswererDeps {
  sql: Sql;
  generations(): GenerationServices;
  log: Logger;
}

interface Asking extends AnswererDeps {
  house(): Promise<House>;
}

/** Nobody waits for a generation that is left, but for its log line. */
const cancelWaitMs = 5_000;
const unfundedCodes: readonly ProblemCode[] = ['insufficient_credits', 'spend_limit_exceeded'];

export function createAnswerer(deps: AnswererDeps): Answerer {
  let known: Promise<House> | null = null;
  // It is the same for ever.
  const house = () => {
    known ??= findHouse(deps.sql).catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  };
  return { answer: (input, signal) => answer({ ...deps, house }, input, signal) };
}

async function answer(
  asking: Asking,
  input: AnswerInput,
  signal: AbortSignal,
): Promise<GroundedAnswer | null> {
  const { query, items, order } = input;
  const sources = sourcesOf(items);
  if (sources.length === 0) return null;
  let ungrounded: UngroundedAnswer | null = null;
  for (let call = 1; call <= 2; call += 1) {
    const request = answerRequest(order.model, query, sources, ungrounded);
    const said = await ask(asking, input, request, signal);
    if (said === null) return null;
    const verdict = groundAnswer(said, sources);
    const { text, citations, removed } = verdict;
    if (!verdict.isWanting) {
      return { text, citations, grounded: true, model: order.model, removed };
    }
    ungrounded = { said, complaint: repairText(verdict) };
  }
  return null;
}

/** What the model says; null: nothing is to be had of it. */
async function ask(
  asking: Asking,
  input: AnswerInput,
  request: GenerationRequest,
  signal: AbortSignal,
): Promise<string | null> {
  let end: GenerationEnd | null;
  try {
    end = await endOf(asking, input, request, signal);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code } = error;
    if (unfundedCodes.includes(code)) throw unfunded();
    const { exchangeId: exchange } = input;
    asking.log.info({ exchange, code }, 'no model answers from what was found');
    return null;
  }
  return end === null ? null : textOf(end);
}

function textOf(end: GenerationEnd): string | null {
  switch (end.status) {
    case 'completed':
    case 'incomplete': {
      if (end.receipt.svcUsage.credits_exhausted) throw unfunded();
      const text = answerText(end.answer);
      return end.answer.finishReason === 'length' ? wholeSentences(text) : text;
    }
    case 'failed':
      if (unfundedCodes.includes(end.problem.code)) throw unfunded();
      return null;
    case 'cancelled':
    case 'duplicate':
      return null;
  }
}

/** The last sentence of what was cut off has lost its end and its mark. */
function wholeSentences(text: string): string {
  const sentences = sentencesOf(text);
  const last = sentences.at(-1);
  return last === undefined || sentences.length === 1 ? text : text.slice(0, last.start);
}

function unfunded(): Problem {
  return new Problem('no_route_available', {
    message: 'No answer can be written at the moment.',
  });
}

/** Null: the signal aborted, and what was begun is cancelled. */
async function endOf(
  asking: Asking,
  { exchangeId, order }: AnswerInput,
  request: GenerationRequest,
  signal: AbortSignal,
): Promise<GenerationEnd | null> {
  const { accountId, walletId } = await asking.house();
  const generations = asking.generations();
  let requestId: string | null = null;
  const aborted = abortOf(signal);
  const opened = startGeneration(
    generations,
    {
      exchangeId,
      accountId,
      walletId,
      apiKeyId: null,
      route: answerRoute,
      idempotencyKey: null,
      fingerprint: '',
      background: false,
      stored: false,
      storeRequest: null,
      // Nothing begins for whoever has left.
      takePermit: () => (signal.aborted ? null : () => {}),
      request,
      rules: order.rules,
    },
    (identity) => {
      requestId = identity.requestId;
      return new ReplySink(null);
    },
    () => {},
  );
  try {
    const first = await Promise.race([opened, aborted.promise]);
    if (first !== null) {
      if (first.opening.kind !== 'end') throw new Error('a reply without an encoder is a stream');
      return first.opening.end;
    }
  } finally {
    aborted.forget();
  }
  void leave(asking, generations, opened, requestId);
  return null;
}

/** Ends a generation that nobody waits for any more: of one without a word nothing is charged. */
async function leave(
  { log }: Asking,
  generations: GenerationServices,
  opened: Promise<unknown>,
  requestId: string | null,
): Promise<void> {
  const ends: Promise<unknown>[] = [opened];
  if (requestId !== null) ends.push(cancelGeneration(generations, requestId, cancelWaitMs));
  for (const end of await Promise.allSettled(ends)) {
    if (end.status === 'fulfilled' || end.reason instanceof Problem) continue;
    log.warn({ error: end.reason as unknown, requestId }, 'an answer that was left did not end');
  }
}

/** Resolves with null when the signal aborts. */
function abortOf(signal: AbortSignal): { promise: Promise<null>; forget(): void } {
  let forget = () => {};
  const promise = new Promise<null>((resolve) => {
    const abort = () => resolve(null);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    forget = () => signal.removeEventListener('abort', abort);
  });
  return { promise, forget };
}
