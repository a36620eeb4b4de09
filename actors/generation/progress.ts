// `svc_progress`: what happens before the answer, for streams that want to show it.
import type { Progress } from '../../media/model/events.ts';
import { addProgress } from '../../media/model/replay.ts';
import type { GenerationState } from './state.ts';

/** Told to those who listen now, and to those who resume a numbered stream later. */
export function tellProgress(state: GenerationState, progress: Progress): void {
  addProgress(state.answer, progress);
  for (const { ref } of state.subscriptions) ref.tell('progress', progress);
}
