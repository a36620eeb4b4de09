// The end of a speech or transcription: kept for the owner of its key, charged or given back, then
// told. Nobody is told that it is whole before its charge is in the ledger.
import type { Transcript } from '../../media/model/audio.ts';
import { speechMediaTypes } from '../../media/model/audio.ts';
import type { SvcUsage } from '../../media/model/dialects/contract.ts';
import type { ActorContext, Handlers } from '../../runtime/actor/contract.ts';
import { plainProblem } from '../subscriber/problem.ts';
import type { GenerationFinish } from '../wallet/protocol.ts';
import { abortAttempt } from './attempts.ts';
import type { AudioProtocol } from './protocol.ts';
import type { AudioSpec, StoredAudio } from './spec.ts';
import { type AudioOutcome, type AudioState, costOf } from './state.ts';

type Context = ActorContext<AudioProtocol>;

const cancelledMessage = 'The request was cancelled before its answer began.';
type ClosingMessages = 'kept' | 'settle' | 'settled' | 'release' | 'released';

export const closing: Pick<Handlers<AudioProtocol, AudioState>, ClosingMessages> = {
  kept(state, bytes, context) {
    if (state.phase !== 'closing') return;
    const { spec, deps } = state;
    state.file = null;
    if (bytes === null) deps.log.warn({ generation: spec.id }, 'the audio could not be kept');
    charge(state, context, bytes === null ? null : speechStored(spec, bytes));
  },

  settle(state, _payload, context) {
    const { deps, spec, cost } = state;
    if (state.phase !== 'closing' || cost === null) return;
    const { holdId, finish } = state;
    void deps
      .wallet(spec.walletId)
      .ask('settle', { holdId, ...cost, finish }, deps.limits.ledger.askTimeoutMs)
      .then((answer) => context.self.tell('settled', answer));
  },

  settled(state, answer, context) {
    if (answer.ok && answer.value.status === 'settled') {
      over(state, context);
      return;
    }
    if (answer.ok && answer.value.status === 'hold_unknown') {
      throw new Error(`audio ${state.spec.id} was delivered without a durable hold`);
    }
    retry(state, context, 'settle');
  },

  release(state, _payload, context) {
    if (state.phase !== 'closing') return;
    const { deps, spec, holdId, finish } = state;
    const reason = state.outcome?.status === 'cancelled' ? 'cancelled' : 'failed';
    void deps
      .wallet(spec.walletId)
      .ask('release', { holdId, reason, finish }, deps.limits.ledger.askTimeoutMs)
      .then((answer) => context.self.tell('released', answer));
  },

  released(state, answer, context) {
    if (answer.ok && answer.value.status !== 'unavailable') over(state, context);
    else {
      // The client need not wait for a ledger that is away: nothing is charged either way.
      tellEnd(state);
      retry(state, context, 'release');
    }
  },
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
    charge(state, context, stored, isReported ? 'reported' : 'estimated');
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
  } else void file.finish().then((bytes) => context.self.tell('kept', bytes));
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
  tellEnd(state);
  giveBack(state, context);
}

function giveBack(state: AudioState, context: Context): void {
  const { outcome, spec } = state;
  const problem = outcome?.status === 'failed' ? outcome.problem : null;
  state.finish = {
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
  source: SvcUsage['source'] = 'reported',
): void {
  const { spec, outcome, cost } = state;
  const status: GenerationFinish['status'] =
    outcome?.status === 'cancelled' ? 'cancelled' : 'completed';
  state.finish = {
    id: spec.id,
    status,
    answerJson: stored === null ? null : JSON.stringify(stored),
    usageJson: JSON.stringify(svcUsageOf(spec, cost?.chargeMicros ?? 0n, source)),
    problemJson: null,
  };
  context.self.tell('settle', null);
}

function speechStored({ id, work }: AudioSpec, bytes: number): StoredAudio | null {
  if (work.kind !== 'speech') return null;
  return { type: 'speech', file: id, media_type: speechMediaTypes[work.request.format], bytes };
}

/** Speech and transcription are not charged by tokens: there are none to show. */
function svcUsageOf(
  { id, model }: AudioSpec,
  chargeMicros: bigint,
  source: SvcUsage['source'],
): SvcUsage {
  return {
    request_id: id,
    model: model.alias,
    input_tokens: 0,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    search_calls: 0,
    charge_microcredits: Number(chargeMicros),
    wallet_type: 'personal',
    source,
    credits_exhausted: false,
    replayed: false,
    simulated: model.simulated,
  };
}

function retry(state: AudioState, context: Context, step: 'settle' | 'release'): void {
  const delayMs = Math.min(2_000, 50 * 2 ** Math.min(state.retries, 10));
  state.retries += 1;
  if (state.retries % 30 === 3) {
    const { id, accountId } = state.spec;
    const fields = { generation: id, account: accountId, retries: state.retries };
    state.deps.log.warn(fields, `ledger unavailable: ${step} is repeated`);
  }
  context.after(delayMs * (0.5 + Math.random() / 2), step, null);
}

function tellEnd(state: AudioState): void {
  const { end, spec } = state;
  state.end = null;
  if (end === null) return;
  if (end === 'end') spec.desk.end();
  else if (end === 'fail') spec.desk.fail();
  else spec.desk.open(end);
}

/** Tells the client and ends the actor; money is done with, or left to others. */
export function over(state: AudioState, context: Context): void {
  state.phase = 'over';
  tellEnd(state);
  context.stop();
}
