// The end of a speech or transcription: kept for the owner of its key, charged or given back, then
// told. Nobody is told that it is whole before its charge is in the ledger.
import type { Transcript } from '../../media/model/audio.ts';
import { speechMediaTypes } from '../../media/model/audio.ts';
import { type UsageSource, zeroUsage } from '../../media/model/usage.ts';
import type { ActorContext, Handlers } from '../../runtime/actor/contract.ts';
import { siblingId } from '../../runtime/ids.ts';
import { plainProblem } from '../../runtime/problem.ts';
import type { GenerationFinish } from '../billed-request/holder.ts';
import { createSettlement } from '../billed-request/settlement.ts';
import { type StoredUsage, svcUsageOf } from '../billed-request/usage.ts';
import { abortAttempt } from './attempt.ts';
import type { AudioProtocol } from './protocol.ts';
import type { AudioSpec, StoredAudio } from './spec.ts';
import { type AudioOutcome, type AudioState, costOf } from './state.ts';

type Context = ActorContext<AudioProtocol>;

const cancelledMessage = 'The request was cancelled before its answer began.';
const settlement = createSettlement(announceEnd, (state: AudioState, problem) => {
  state.outcome = { status: 'failed', problem };
  state.end = state.isHeard ? 'fail' : { kind: 'failed', problem };
});
export const { over } = settlement;
type ClosingMessages = 'kept' | 'settle' | 'settled' | 'release' | 'released';

export const closing: Pick<Handlers<AudioProtocol, AudioState>, ClosingMessages> = {
  kept(state, bytes, context) {
    if (state.phase !== 'closing') return;
    state.file = null;
    charge(state, context, bytes === null ? null : speechStored(state.spec, bytes));
  },

  ...settlement.handlers,
};

/** Stops reading the upstream and takes it to its end, money first. */
export function finishAudio(
  state: AudioState,
  context: Context,
  outcome: AudioOutcome,
  transcript: Transcript | null = null,
): void {
  const { spec, isHeard, file } = state;
  abortAttempt(state);
  state.phase = 'closing';
  state.outcome = outcome;
  if (outcome.status === 'failed') {
    file?.discard();
    state.end = isHeard ? 'fail' : { kind: 'failed', problem: outcome.problem };
    giveBack(state, context);
    return;
  }
  if (transcript !== null && spec.work.kind === 'transcription') {
    const { seconds, isReported } = secondsOf(transcript, spec.work.seconds);
    state.cost = costOf(spec, { ...spec.work, seconds });
    state.end = { kind: 'transcript', text: transcript.text, seconds };
    const stored: StoredAudio = { type: 'transcript', text: transcript.text, seconds };
    charge(state, context, stored, { seconds, source: isReported ? 'reported' : 'estimated' });
    return;
  }
  if (!isHeard) {
    giveBack(state, context);
    return;
  }
  state.cost = state.held;
  state.end = outcome.status === 'completed' ? 'end' : 'fail';
  if (file === null || outcome.status === 'cancelled') {
    file?.discard();
    charge(state, context, null);
  } else void file.finish().then((kept) => context.self.tell('kept', kept?.bytes ?? null));
}

/** The provider's own figure, if it can be true: at most the second that ours is in. */
function secondsOf(
  { seconds }: Transcript,
  decodedSeconds: number,
): { seconds: number; isReported: boolean } {
  const isPossible = seconds !== null && seconds <= Math.ceil(decodedSeconds);
  return isPossible
    ? { seconds, isReported: true }
    : { seconds: decodedSeconds, isReported: false };
}

/** Ends one that never ran: its hold was refused, or nobody knows of it. */
export function closeAudio(
  state: AudioState,
  context: Context,
  end: AudioState['end'],
  options: { release: boolean },
): void {
  abortAttempt(state);
  state.phase = 'closing';
  state.end = end;
  if (!options.release) {
    over(state, context);
    return;
  }
  announceEnd(state);
  giveBack(state, context);
}

function giveBack(state: AudioState, context: Context): void {
  const { outcome, spec } = state;
  const problem = outcome?.status === 'failed' ? outcome.problem : null;
  state.finish = {
    kind: 'generation',
    id: spec.id,
    status: outcome?.status === 'cancelled' ? 'cancelled' : 'failed',
    answerJson: null,
    usageJson: null,
    problemJson: problem === null ? null : JSON.stringify(problem),
  };
  state.end ??= { kind: 'failed', problem: problem ?? plainProblem('conflict', cancelledMessage) };
  context.self.tell('release', null);
}

function charge(
  state: AudioState,
  context: Context,
  stored: StoredAudio | null,
  heard: { seconds: number; source: UsageSource } | null = null,
): void {
  const { spec, payment, outcome, cost } = state;
  const { model } = spec;
  // They are not charged by tokens: there are none to show.
  const usage: StoredUsage = svcUsageOf(
    { spec: { id: spec.id, alias: model.alias }, payment, model, exhausted: false },
    zeroUsage,
    heard?.source ?? 'reported',
    cost?.chargeMicros ?? 0n,
  );
  if (heard !== null) usage.milliseconds = Math.round(heard.seconds * 1_000);
  else if (spec.work.kind === 'speech') usage.characters = spec.work.characters;
  const status: GenerationFinish['status'] =
    outcome?.status === 'cancelled' ? 'cancelled' : 'completed';
  state.finish = {
    kind: 'generation',
    id: spec.id,
    status,
    answerJson: stored === null ? null : JSON.stringify(stored),
    usageJson: JSON.stringify(usage),
    problemJson: null,
  };
  context.self.tell('settle', null);
}

function speechStored({ id, work }: AudioSpec, bytes: number): StoredAudio | null {
  if (work.kind !== 'speech') return null;
  const file = siblingId(id, 'blob');
  return { type: 'speech', file, media_type: speechMediaTypes[work.request.format], bytes };
}

function announceEnd(state: AudioState): void {
  const { end, spec } = state;
  state.end = null;
  if (end === null) return;
  if (end === 'end') spec.sink.end();
  else if (end === 'fail') spec.sink.fail();
  else spec.sink.open(end);
}
