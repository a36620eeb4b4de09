// The attempt that a generation is in: what is measured of it, how it is given up, and what is
// forgotten with it.
import { emptyAnswer } from '../../media/model/answer.ts';
import { addProgress, keepCuts } from '../../media/model/replay.ts';
import type { GenerationState } from './state.ts';

/** Stops the search and the upstream call, if there is one; its route learns nothing from it. */
export function abortAttempt(state: GenerationState): void {
  const { attempt, deps } = state;
  state.search.controller?.abort();
  if (attempt === null) return;
  attempt.handle.abort();
  deps.health.abandoned(attempt.candidate.target.routeId, attempt.probe);
  state.attempt = null;
}

/** The first event of an attempt: how quick this route is. */
export function measureFirstEvent(state: GenerationState): void {
  const { attempt, deps } = state;
  if (attempt === null || attempt.firstEventMs !== null) return;
  const now = Date.now();
  attempt.firstEventMs = now;
  attempt.ownMs = attempt.handle.ownMs;
  const durationMs = now - attempt.startedMs - attempt.ownMs;
  deps.health.firstEvent(attempt.candidate.target.routeId, durationMs, now);
}

/** Nothing of the attempt was shown: the next one begins from nothing. */
export function forgetAnswer(state: GenerationState): void {
  const { cuts } = state.answer;
  state.answer = emptyAnswer();
  if (cuts !== undefined) {
    keepCuts(state.answer);
    for (const progress of cuts.progress) addProgress(state.answer, progress);
  }
  state.usage = null;
  state.reportedDeltas = 0;
  state.begunUsage = null;
  state.doubt = null;
  state.firstEventMs = null;
  state.search.seen = false;
  state.search.cited = false;
  state.deltas = 0;
  state.characters = 0;
  state.weight = 0;
  state.stagesCharacters = 0;
}
