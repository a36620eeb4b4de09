// One speech or one transcription from its hold to its settlement. It outlives its client where
// that was sent audio under an idempotency key: the rest is read, kept and paid.
import type { ActorContext, ActorKind, Handlers } from '../../runtime/actor/contract.ts';
import { plainProblem } from '../../runtime/problem.ts';
import { atTurnEnd } from '../../runtime/turns.ts';
import { abandoned, interrupted } from '../billed-request/failure.ts';
import {
  askFallback,
  askHold,
  type HoldRefusal,
  leaveShard,
  mayCallAhead,
  refusalOf,
  setDetached,
} from '../billed-request/settlement.ts';
import { generationLimits } from '../generation/limits.ts';
import { abortAttempt } from './attempt.ts';
import { attemptEnded, readOn, startAttempt, takeBytes, taken } from './attempts.ts';
import { closeAudio, closing, finishAudio, over } from './closing.ts';
import { audioLimits } from './limits.ts';
import type { AudioProtocol } from './protocol.ts';
import type { AudioDeps, AudioSpec } from './spec.ts';
import { type AudioState, newAudioState } from './state.ts';

type Context = ActorContext<AudioProtocol>;
export type AudioKind = ActorKind<AudioProtocol, AudioState, AudioSpec>;

const behaviour: Handlers<AudioProtocol, AudioState> = {
  clientGone(state, _payload, context) {
    state.isGone = true;
    if (state.phase !== 'running') return;
    if (!state.isHeard) finishAudio(state, context, abandoned());
    else if (state.spec.idempotencyKey === null) {
      finishAudio(state, context, { status: 'completed' });
    } else {
      setDetached(state, true);
      taken(state, 'client');
    }
  },

  drained(state, by) {
    taken(state, by);
  },

  cancel(state, _payload, context) {
    if (state.phase === 'over') return { status: 'ended' };
    if (state.phase === 'holding') state.outcome = { status: 'cancelled' };
    else if (state.phase === 'running') finishAudio(state, context, { status: 'cancelled' });
    return { status: 'cancelling' };
  },

  interrupt(state, _payload, context) {
    if (state.phase === 'holding') state.outcome = interrupted();
    else if (state.phase === 'running') finishAudio(state, context, interrupted());
  },

  giveUp(state, _payload, context) {
    if (state.phase === 'over') return;
    const problem = plainProblem('dependency_unavailable');
    state.end = state.isHeard ? 'fail' : { kind: 'failed', problem };
    over(state, context);
  },

  callAhead(state, _payload, context) {
    const isWanted = state.phase === 'holding' && state.outcome === null && !state.isGone;
    if (isWanted && state.attempt === null) startAttempt(state, context);
  },

  held(state, answer, context) {
    if (state.phase !== 'holding') return;
    const { spec, held, outcome, isGone } = state;
    const isWanted = outcome === null && !isGone;
    if (isWanted && askFallback(state, context, answer, held.chargeMicros, spec.model.alias))
      return;
    const refusal = refusalOf(state, answer);
    if (refusal !== null) {
      refused(state, context, refusal);
      return;
    }
    state.phase = 'running';
    if (state.outcome !== null) finishAudio(state, context, state.outcome);
    else if (state.isGone) finishAudio(state, context, abandoned());
    else if (state.attempt === null) startAttempt(state, context);
    else catchUp(state, context);
  },

  upstreamBytes(state, { attempt, bytes }, context) {
    if (state.attempt?.number !== attempt) return;
    if (state.phase === 'holding') {
      state.waiting.push(bytes);
      state.attempt.handle.pause();
    } else if (state.phase === 'running') takeBytes(state, context, bytes);
  },

  upstreamEnded(state, { attempt, failure }, context) {
    if (state.attempt?.number !== attempt) return;
    if (state.phase === 'holding') state.waitingEnd = { failure };
    else if (state.phase === 'running') attemptEnded(state, context, failure);
  },

  ...closing,
};

/** The kind, with what its shard gives it. One that crashes is not started again. */
export function createAudioKind(deps: AudioDeps): AudioKind {
  return {
    name: 'audio',
    parent: 'audio',
    placement: 'local',
    supervision: { strategy: 'stop', crashesMax: 1, withinMs: 1_000 },
    mailboxLengthMax: generationLimits.mailboxLengthMax,
    populationMax: audioLimits.runningMax,
    start(context, spec) {
      const state = newAudioState(deps, spec);
      const { self } = context;
      spec.sink.listen({
        gone: () => void self.tell('clientGone', null),
        drained: () => void self.tell('drained', 'client'),
      });
      const { chargeMicros } = state.held;
      askHold(state, context, chargeMicros, spec.model.alias);
      // Behind the hold, in a handler: what the encoding of a request throws gives the hold back.
      if (mayCallAhead(state, chargeMicros)) atTurnEnd(() => void self.tell('callAhead', null));
      // At the end: a start that throws has no state, and nothing of it is taken back.
      deps.running.set(spec.id, self);
      return state;
    },
    behaviour,
    stopped(state, reason) {
      leaveShard(state, reason);
      abortAttempt(state);
      state.file?.discard();
      if (state.phase !== 'over') tellCrash(state);
    },
  };
}

/** What came while the hold was on its way. */
function catchUp(state: AudioState, context: Context): void {
  const { attempt, waiting, waitingEnd } = state;
  state.waiting = [];
  state.waitingEnd = null;
  for (const bytes of waiting) {
    takeBytes(state, context, bytes);
    // Its bytes have failed it: what is left of it is not the next one's.
    if (state.attempt !== attempt) return;
  }
  if (waiting.length > 0) readOn(state);
  if (waitingEnd !== null) attemptEnded(state, context, waitingEnd.failure);
}

function refused(state: AudioState, context: Context, refusal: HoldRefusal): void {
  if (refusal.status === 'duplicate') {
    closeAudio(state, context, { kind: 'duplicate' }, { release: false });
    return;
  }
  const { problem } = refusal;
  // A hold that may still become durable behind the lost answer is followed by its release.
  const release = refusal.status === 'unknown';
  if (release) state.outcome = { status: 'failed', problem };
  closeAudio(state, context, { kind: 'failed', problem }, { release });
}

/** A bug ended the actor: the client hears of it. */
function tellCrash({ spec, isHeard }: AudioState): void {
  if (isHeard) spec.sink.fail();
  else spec.sink.open({ kind: 'failed', problem: plainProblem('internal') });
}
