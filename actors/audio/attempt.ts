// The attempt that a speech or transcription is in, and how it is given up.
import type { AudioState } from './state.ts';

/** Stops the upstream call, if there is one; its route learns nothing from it. */
export function abortAttempt(state: AudioState): void {
  const { attempt, deps } = state;
  if (attempt === null) return;
  attempt.handle.abort();
  deps.health.abandoned(attempt.target.routeId, attempt.probe);
  state.attempt = null;
}
