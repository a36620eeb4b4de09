// The upstream calls of a speech or transcription: one after the other while nothing was heard.
// Nothing is delivered before the hold is durable.
import { type BlobWriter, writeBlob } from '../../media/blobs/writer.ts';
import { beginsAs } from '../../media/model/audio.ts';
import type { UpstreamFailure } from '../../media/model/events.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { AudioCall } from '../../media/providers/speech/contract.ts';
import { plainFailure } from '../../media/transport/refusal.ts';
import type { ActorContext } from '../../runtime/actor/contract.ts';
import { awakeMs } from '../../runtime/awake.ts';
import { siblingId } from '../../runtime/ids.ts';
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import { failureProblem, mayTryNext, noteFailure } from '../billed-request/failure.ts';
import { noProbe } from '../provider-health/breaker.ts';
import { finishAudio } from './closing.ts';
import type { AudioProtocol } from './protocol.ts';
import type { AudioSpec } from './spec.ts';
import type { AudioState } from './state.ts';

type Context = ActorContext<AudioProtocol>;

/** Fewer bytes do not show what they are the beginning of. */
const signatureBytesMin = 4;

/** Calls the next target; fails when none is left. */
export function startAttempt(state: AudioState, context: Context): void {
  const { deps, spec } = state;
  const nowMs = Date.now();
  const target = state.targets.shift();
  if (target === undefined) {
    finishAudio(state, context, { status: 'failed', problem: plainProblem('no_route_available') });
    return;
  }
  // The probe of a half-open breaker is taken by another call: this one goes elsewhere if it can.
  const probe = deps.health.started(target.routeId, nowMs);
  if (probe === null && state.targets.length > 0) {
    startAttempt(state, context);
    return;
  }
  state.attempts += 1;
  state.body = [];
  const attempt = state.attempts;
  const { self } = context;
  const handle = deps.upstream.start(
    deps.family(target.family),
    callOf(state, target),
    deps.limits.upstream,
    {
      bytes: (bytes) => {
        if (!self.tell('upstreamBytes', { attempt, bytes })) handle.abort();
      },
      ended: (failure) => void self.tell('upstreamEnded', { attempt, failure }),
    },
  );
  state.attempt = {
    number: attempt,
    target,
    handle,
    probe: probe ?? noProbe,
    startedMs: nowMs,
    bytes: 0,
  };
  deps.log.debug({ generation: spec.id, route: target.routeId }, 'audio call');
}

function callOf({ deps, spec }: AudioState, target: UpstreamTarget): AudioCall {
  const family = deps.family(target.family);
  const { work, model } = spec;
  if (work.kind === 'transcription') return family.encodeTranscription(work.request, target);
  const voice = model.voices[work.request.voice] ?? work.request.voice;
  return family.encodeSpeech(work.request, voice, target);
}

/** Bytes of the attempt, once the hold is durable. */
export function takeBytes(state: AudioState, context: Context, bytes: Uint8Array): void {
  const { attempt, deps, spec } = state;
  if (attempt === null) return;
  const { speechBytesMax, transcriptBytesMax } = deps.limits.audio;
  const nowMs = Date.now();
  if (attempt.bytes === 0) {
    const durationMs = nowMs - attempt.startedMs - attempt.handle.ownMs;
    deps.health.firstEvent(attempt.target.routeId, durationMs, nowMs);
  }
  attempt.bytes += bytes.length;
  if (spec.work.kind === 'transcription') {
    state.body.push(bytes);
    if (attempt.bytes > transcriptBytesMax) {
      failAttempt(state, context, plainFailure('garbage', 'the transcript is too long'));
    }
    return;
  }
  if (attempt.bytes > speechBytesMax) {
    failAttempt(state, context, plainFailure('garbage', 'the audio is too long'));
    return;
  }
  if (state.isHeard) {
    deliver(state, context, bytes);
    return;
  }
  const begun = state.body.length === 0 ? bytes : Buffer.concat([...state.body, bytes]);
  state.body = [begun];
  if (begun.length < signatureBytesMin) return;
  if (beginsAs(spec.work.request.format, begun)) deliver(state, context, begun);
  else failAttempt(state, context, plainFailure('garbage', 'the reply is no audio'));
}

function deliver(state: AudioState, context: Context, bytes: Uint8Array): void {
  const { deps, spec, attempt } = state;
  if (!state.isHeard) {
    state.isHeard = true;
    deps.metrics.firstEvent((Date.now() - spec.createdAtMs) / 1_000);
    if (spec.idempotencyKey !== null) state.file = keep(state, context);
    spec.sink.open({ kind: 'audio' });
  }
  const { waitsFor } = state;
  if (!spec.sink.write(bytes) && !waitsFor.client) {
    waitsFor.client = true;
    state.slowSinceMs = awakeMs();
  }
  if (state.file?.write(bytes) === false) waitsFor.disk = true;
  if (waitsFor.client || waitsFor.disk) attempt?.handle.pause();
}

/** Under an id that follows from the request's: its row names the object by it. */
function keep({ deps, spec }: AudioState, context: Context): BlobWriter {
  return writeBlob(deps.blobs, {
    id: siblingId(spec.id, 'blob'),
    bytesMax: deps.limits.audio.speechBytesMax,
    onDrain: () => void context.self.tell('drained', 'disk'),
    onLost: (err) => deps.log.warn({ err, generation: spec.id }, 'the audio could not be kept'),
  });
}

/** Client or disk has taken what was written. */
export function taken(state: AudioState, by: 'client' | 'disk'): void {
  const { waitsFor } = state;
  if (by === 'client') state.slowMs = slowMsOf(state);
  waitsFor[by] = false;
  readOn(state);
}

/** Reads the upstream on, unless somebody has yet to take what was written. */
export function readOn({ attempt, waitsFor }: AudioState): void {
  if (!waitsFor.client && !waitsFor.disk) attempt?.handle.resume();
}

function slowMsOf({ waitsFor, slowMs, slowSinceMs }: AudioState): number {
  return waitsFor.client ? slowMs + awakeMs() - slowSinceMs : slowMs;
}

function failAttempt(state: AudioState, context: Context, failure: UpstreamFailure): void {
  state.attempt?.handle.abort();
  attemptEnded(state, context, failure);
}

/** The upstream is over: done, failed for good, or failed with another target to try. */
export function attemptEnded(
  state: AudioState,
  context: Context,
  failure: UpstreamFailure | null,
): void {
  const { deps, spec, attempt } = state;
  if (attempt === null) return;
  const nowMs = Date.now();
  const { routeId, family } = attempt.target;
  const isSilent = spec.work.kind === 'speech' && !state.isHeard;
  let cause = failure;
  if (isSilent) cause ??= plainFailure('garbage', 'the reply is empty');
  if (cause === null && spec.work.kind === 'transcription') {
    const transcript = deps.family(family).readTranscript(Buffer.concat(state.body).toString());
    if (transcript !== null) {
      state.attempt = null;
      deps.health.succeeded(routeId, nowMs, null, attempt);
      finishAudio(state, context, { status: 'completed' }, transcript);
      return;
    }
    cause = plainFailure('garbage', 'the reply is no transcript');
  }
  state.attempt = null;
  if (cause === null) {
    deps.health.succeeded(routeId, nowMs, null, attempt);
    finishAudio(state, context, { status: 'completed' });
    return;
  }
  deps.health.failed(routeId, cause, nowMs, attempt);
  noteFailure(state, routeId, cause);
  const { isHeard: isShown, targets } = state;
  if (mayTryNext(state, cause, { isShown, left: targets.length, nowMs })) {
    startAttempt(state, context);
  } else if (slowMsOf(state) >= deps.limits.audio.slowMs) {
    // No provider waits for ever: who makes it wait until it gives up has bought what it sent.
    finishAudio(state, context, { status: 'cancelled' });
  } else {
    const problem = failureProblem(state, cause, rejectionOf(spec));
    finishAudio(state, context, { status: 'failed', problem });
  }
}

function rejectionOf({ work }: AudioSpec): PlainProblem {
  const refused = work.kind === 'speech' ? 'request as invalid' : 'recording';
  return plainProblem('invalid_request', `The model refused the ${refused}.`);
}
