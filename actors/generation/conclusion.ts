// What the end of an upstream call means. Until the first answer delta a failed attempt is followed
// by the next candidate; after it by nothing. A whole answer is checked, and perhaps repaired.
import { answerEvents } from '../../media/model/answer.ts';
import type { UpstreamFailure } from '../../media/model/events.ts';
import { recut } from '../../media/model/replay.ts';
import { isHeavyFormat, satisfiesOutputFormat } from '../../media/model/structured.ts';
import { tooLong, tooLongCode } from '../../media/model/too-long.ts';
import { clientPath } from '../../media/providers/generation/client-place.ts';
import { isContextRefusal } from '../../media/providers/generation/context-refusal.ts';
import type { ActorContext } from '../../runtime/actor/contract.ts';
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import { failureProblem, mayTryNext, noteFailure } from '../billed-request/failure.ts';
import { forgetAnswer } from './attempt.ts';
import { startAttempt } from './attempts.ts';
import { finishGeneration } from './closing.ts';
import type { GenerationProtocol } from './protocol.ts';
import { beginRepair } from './repair.ts';
import type { Candidate } from './spec.ts';
import { type Attempt, type GenerationState, isShown } from './state.ts';
import { textToCheck, unfence } from './structure.ts';
import { tellEvents } from './subscriptions.ts';

const refusal = 'The model refused the request as invalid.';

type Context = ActorContext<GenerationProtocol>;

/** The upstream is over: done, failed for good, or failed with another candidate to try. */
export function attemptEnded(
  state: GenerationState,
  context: Context,
  failure: UpstreamFailure | null,
): void {
  const { deps, attempt } = state;
  if (attempt === null) return;
  state.attempt = null;
  const now = Date.now();
  const { routeId } = attempt.candidate.target;
  if (failure === null) {
    const durationMs = now - (attempt.firstEventMs ?? now) - (attempt.handle.ownMs - attempt.ownMs);
    deps.health.succeeded(routeId, now, { tokens: state.deltas, durationMs }, attempt);
    answered(state, context, attempt.candidate);
    return;
  }
  deps.health.failed(routeId, failure, now, attempt);
  noteFailure(state, routeId, failure);
  const left = state.candidates.length;
  if (mayTryNext(state, failure, { isShown: isShown(state), left, nowMs: now })) {
    state.fallbacks += 1;
    forgetAnswer(state);
    startAttempt(state, context);
    return;
  }
  const problem = failureProblem(state, failure, rejectionOf(state, attempt, failure));
  finishGeneration(state, context, { status: 'failed', problem });
}

function rejectionOf(
  state: GenerationState,
  attempt: Attempt,
  failure: UpstreamFailure,
): PlainProblem {
  const { spec } = state;
  if (!isContextRefusal(failure)) {
    const param = refusedPath(state, attempt, failure);
    if (param === null) return plainProblem('invalid_request', refusal);
    // Not every format has a member for the path: the message says it too.
    const message = `The model refused this part of the request as invalid: '${param}'.`;
    return { ...plainProblem('invalid_request', message), param };
  }
  const { message, param } = tooLong(spec.request, null);
  const code = tooLongCode(spec.request) ?? 'invalid_request';
  return { ...plainProblem(code, message), param };
}

/** The place that the provider names, in the client's own body. */
function refusedPath(
  { deps, spec }: GenerationState,
  { candidate: { target }, fitted, options }: Attempt,
  { place }: UpstreamFailure,
): string | null {
  if (place === undefined) return null;
  const family = deps.family(target.family);
  const { body } = family.encodeRequest(fitted.request, target, options);
  return clientPath({ asked: spec.request, fitted, family, body }, place);
}

/** A whole answer: checked here, or elsewhere if that may take long. */
function answered(state: GenerationState, context: Context, candidate: Candidate): void {
  const { structure, search, spec, deps } = state;
  if (search.awaited && ((state.usage ?? state.begunUsage)?.searchCalls ?? 0) === 0) {
    const problem = plainProblem('no_route_available', 'The model answered without a web search.');
    finishGeneration(state, context, { status: 'failed', problem });
    return;
  }
  const { outputFormat } = spec.request;
  const text = textToCheck(state);
  if (text === null) conclude(state, context, candidate, true);
  else if (isHeavyFormat(outputFormat)) {
    structure.checking = candidate;
    void deps
      .checkAnswer(spec.accountId, outputFormat, text)
      .then((isGood) => context.self.tell('checked', isGood));
  } else conclude(state, context, candidate, satisfiesOutputFormat(outputFormat, text));
}

/** One that was withheld is shown if it is good, and repaired once if it is not. */
export function conclude(
  state: GenerationState,
  context: Context,
  candidate: Candidate,
  isGood: boolean,
): void {
  const { structure, answer, spec } = state;
  if (structure.withheld) {
    if (!isGood && !structure.repaired) {
      beginRepair(state, context, candidate);
      return;
    }
    if (isGood) {
      if (spec.request.outputFormat.type !== 'text') unfence(answer);
      reveal(state);
    }
  }
  structure.broken = !isGood;
  const status = answer.finishReason === 'length' ? 'incomplete' : 'completed';
  finishGeneration(state, context, { status });
}

/** What nobody looked at is not handed out as checked: that is our failure, and free. */
export function endUnchecked(state: GenerationState, context: Context): void {
  state.structure.unchecked = true;
  const problem = plainProblem('overloaded', 'The answer could not be checked. Try again.');
  finishGeneration(state, context, { status: 'failed', problem });
}

/** The search that was required is seen: only an answer whose format is to be checked waits on. */
export function searchSeen(state: GenerationState): void {
  state.search.awaited = false;
  if (!state.structure.isFree) reveal(state);
}

/** What was withheld so far is shown now. */
export function reveal(state: GenerationState): void {
  const { answer, structure, search } = state;
  structure.withheld = false;
  search.awaited = false;
  if (state.deltas === 0) return;
  state.firstEventMs = Date.now();
  recut(answer, true);
  tellEvents(state, answerEvents(answer));
}
