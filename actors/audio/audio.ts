// One speech or one transcription from its hold to its settlement. It outlives its client where
// that was sent audio under an idempotency key: the rest is read, kept and paid.
import { strict as assert } from 'node:assert';
import type { ActorContext, ActorKind, Handlers } from '../../runtime/actor/contract.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { plainProblem } from '../subscriber/problem.ts';
import type { HoldReply } from '../wallet/protocol.ts';
import { abortAttempt, attemptEnded, startAttempt, takeBytes, taken } from './attempts.ts';
import { closeAudio, closing, finishAudio, over } from './closing.ts';
import type { AudioProtocol } from './protocol.ts';
import type { AudioDeps, AudioSpec } from './spec.ts';
import { type AudioOutcome, type AudioState, newAudioState, setDetached } from './state.ts';

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
    const problem = plainProblem('overloaded', 'The service is restarting. Try again.');
    if (state.phase === 'holding') state.outcome = { status: 'failed', problem };
    else if (state.phase === 'running') finishAudio(state, context, { status: 'failed', problem });
  },

  giveUp(state, _payload, context) {
    if (state.phase === 'over') return;
    const problem = plainProblem('dependency_unavailable');
    state.end = state.isHeard ? 'fail' : { kind: 'failed', problem };
    over(state, context);
  },

  held(state, answer, context) {
    const { deps, spec } = state;
    if (state.phase !== 'holding') return;
    if (!answer.ok || answer.value.status !== 'held') deps.foresight.forget(spec.walletId);
    if (!answer.ok) {
      // The hold may still become durable behind the lost answer: the release follows it.
      const problem = plainProblem('dependency_unavailable');
      state.outcome = { status: 'failed', problem };
      closeAudio(state, context, { kind: 'failed', problem }, { release: true });
      return;
    }
    if (answer.value.status !== 'held') {
      closeAudio(state, context, refusal(answer.value), { release: false });
      return;
    }
    deps.foresight.saw(spec.walletId, answer.value.availableMicros, Date.now());
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
export function createAudioKind(deps: AudioDeps | null): AudioKind {
  return {
    name: 'audio',
    parent: 'audio',
    placement: 'local',
    supervision: { strategy: 'stop', crashesMax: 1, withinMs: 1_000 },
    mailboxLengthMax: fixedLimits.generation.mailboxLengthMax,
    populationMax: fixedLimits.audio.runningMax,
    start(context, spec) {
      assert(deps !== null, 'audio runs on shards');
      const state = newAudioState(deps, spec);
      deps.running.set(spec.id, context.self);
      const { self } = context;
      spec.desk.listen({
        gone: () => void self.tell('clientGone', null),
        drained: () => void self.tell('drained', 'client'),
      });
      askHold(state, context);
      if (mayCallAhead(state)) startAttempt(state, context);
      return state;
    },
    behaviour,
    stopped(state, reason) {
      const { deps, spec } = state;
      deps.running.delete(spec.id);
      abortAttempt(state);
      state.file?.discard();
      setDetached(state, false);
      if (state.phase !== 'over') crashed(state);
      deps.metrics.ended(reason === 'stopped' ? (state.outcome?.status ?? 'refused') : reason);
      spec.releasePlace();
    },
  };
}

/** Never with an idempotency key: until the hold is there, another request may have it. */
function mayCallAhead({ deps, spec, held }: AudioState): boolean {
  if (spec.idempotencyKey !== null) return false;
  return deps.foresight.expectsFunds(spec.walletId, held.chargeMicros, spec.createdAtMs);
}

/** What came while the hold was on its way. */
function catchUp(state: AudioState, context: Context): void {
  const { waiting, waitingEnd } = state;
  state.waiting = [];
  for (const bytes of waiting) takeBytes(state, context, bytes);
  if (waiting.length > 0) state.attempt?.handle.resume();
  if (waitingEnd !== null && state.phase === 'running') {
    attemptEnded(state, context, waitingEnd.failure);
  }
}

function askHold(state: AudioState, context: Context): void {
  const { deps, spec } = state;
  const { ledger } = deps.limits;
  void deps
    .wallet(spec.walletId)
    .ask(
      'hold',
      {
        holdId: state.holdId,
        amountMicros: state.held.chargeMicros,
        owner: { kind: 'generation', id: spec.id, instanceId: deps.instanceId },
        expiresAtMs: spec.createdAtMs + ledger.holdExpiryMs,
        claim: {
          id: spec.id,
          accountId: spec.accountId,
          apiKeyId: spec.apiKeyId,
          route: spec.route,
          idempotencyKey: spec.idempotencyKey,
          fingerprint: spec.fingerprint,
          model: spec.model.alias,
        },
      },
      ledger.askTimeoutMs,
    )
    .then((answer) => context.self.tell('held', answer));
}

function refusal(reply: Exclude<HoldReply, { status: 'held' }>): AudioState['end'] {
  switch (reply.status) {
    case 'duplicate':
      return { kind: 'duplicate' };
    case 'insufficient':
      return {
        kind: 'failed',
        problem: plainProblem('insufficient_credits', undefined, {
          required_microcredits: Number(reply.requiredMicros),
          available_microcredits: Number(reply.availableMicros),
        }),
      };
    case 'wallet_not_found':
    case 'unavailable':
      return { kind: 'failed', problem: plainProblem('dependency_unavailable') };
  }
}

/** The client left before it heard anything: nothing is charged. */
function abandoned(): AudioOutcome {
  const problem = plainProblem('upstream_error', 'The client went away before the answer began.');
  return { status: 'failed', problem };
}

/** A bug ended the actor: the client hears of it, and the hold goes back. */
function crashed({ deps, spec, holdId, isHeard }: AudioState): void {
  const problem = plainProblem('internal');
  if (isHeard) spec.desk.fail();
  else spec.desk.open({ kind: 'failed', problem });
  const finish = {
    id: spec.id,
    status: 'failed' as const,
    answerJson: null,
    usageJson: null,
    problemJson: JSON.stringify(problem),
  };
  deps.wallet(spec.walletId).tell('release', { holdId, reason: 'failed', finish });
}
