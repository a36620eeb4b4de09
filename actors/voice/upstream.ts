// The upstream of a session: opened with its hold, tried at the next target while it was not ready,
// and read as it speaks. What it says is acted on at once, on the stack of its socket.
import { strict as assert } from 'node:assert';
import { outputBytesPerMs } from '../../media/audio/playout/playout.ts';
import type {
  LiveCall,
  LiveEvent,
  LiveFailureKind,
  LiveSetup,
} from '../../media/providers/live/contract.ts';
import { closeCall, endSession, reject, upstreamOver } from './closing.ts';
import { errorEvent, inputAudio, readyEvent, statusEvent } from './events.ts';
import { forgoUnsent, missReport, noteSound, noteUnheard, takeReport } from './funding.ts';
import { routeFailed, routeReady, takeTarget } from './health.ts';
import { voiceLimits } from './limits.ts';
import { note, noteProblem } from './problems.ts';
import { sealContinuation } from './sealed.ts';
import { clearSound, endAnswer, takeSound, updateTurn } from './sound.ts';
import { send, type VoiceSession } from './state.ts';
import { callTool, giveUpTools, refuseTool, toolsFor } from './tools.ts';
import { takeTranscript } from './transcript.ts';

const instructions =
  'You are a helpful voice assistant. Answer in the language of the user, briefly, in plain ' +
  'spoken sentences without markup.';
/** Of the instructions, and of the tools that are declared. */
const ownTokensMax = 1_000;

/** Calls the next target. Nothing is sent to it but the set-up before the hold is durable. */
export function openUpstream(session: VoiceSession): void {
  const { deps, started } = session;
  const target = takeTarget(session);
  if (started === null || target === null) {
    rejectUnreached(session);
    return;
  }
  const { message, upstreamVoice } = started;
  const setup: LiveSetup = {
    instructions,
    voice: upstreamVoice,
    context: message.context,
    tools: toolsFor(message.toolsEnabled, session.spec.webSearch() !== null),
  };
  const family = deps.family(target.family);
  const call = deps.openCall(family, target, setup, {
    events: (events) => {
      if (session.call !== call) return;
      try {
        takeEvents(session, call, events);
      } catch (error) {
        session.self.tell('fault', error);
      }
    },
  });
  session.call = call;
  session.callReady = false;
  // The one before may have said that it goes.
  session.leaveAtMs = Number.POSITIVE_INFINITY;
  openLane(session, family.inputRateHz);
}

/** No upstream was ready: none is left, or the client has waited for long. */
export function rejectUnreached(session: VoiceSession): void {
  const message = 'The voice model cannot be reached at the moment.';
  reject(session, { code: 'upstream_error', message, retryable: true, fatal: true });
}

/** Sound is resampled for an upstream that wants another rate than ours. */
function openLane(session: VoiceSession, inputRateHz: number): void {
  session.lane?.close();
  const { lanes, straightLanes, host } = session.deps;
  const isOurRate = inputRateHz === inputAudio.sample_rate_hz;
  session.lane = (isOurRate ? straightLanes : lanes).open({
    output: (pcm: Uint8Array) => {
      if (session.call?.audio(pcm) === false) host.counters.framesDropped += 1;
    },
    failed: () => failSession(session, 'The sound could not be converted.'),
    fault: (error) => void session.self.tell('fault', error),
  });
  // As many lanes as sessions: one is always free.
  assert(session.lane !== null, 'a session has its lane');
}

function takeEvents(session: VoiceSession, call: LiveCall, events: readonly LiveEvent[]): void {
  const nowMs = performance.now();
  session.lastWordMs = nowMs;
  for (const event of events) {
    if (session.call !== call) return;
    if (event.type === 'audio') takeAudio(session, event, nowMs);
    else takeEvent(session, event, nowMs);
  }
}

type AudioEvent = Extract<LiveEvent, { type: 'audio' }>;

function takeAudio(session: VoiceSession, event: AudioEvent, nowMs: number): void {
  if (session.phase !== 'live') return;
  const { itemId, pcm } = event;
  if (event.isReported !== true) noteSound(session, pcm.byteLength / outputBytesPerMs);
  if (takeSound(session, itemId, pcm, nowMs)) return;
  const message = 'The answer is longer than can be kept for this client.';
  failSession(session, message);
}

function takeEvent(
  session: VoiceSession,
  event: Exclude<LiveEvent, { type: 'audio' }>,
  nowMs: number,
): void {
  switch (event.type) {
    case 'ready':
      session.callReady = true;
      routeReady(session);
      goLive(session);
      return;
    case 'usage':
      takeReport(session, event.usage);
      return;
    case 'unheard':
      noteUnheard(session, event.durationMs);
      return;
    case 'unreported':
      missReport(session);
      return;
    case 'going_away':
      goingAway(session, event.leftMs, nowMs);
      return;
    case 'failed':
      callFailed(session, event.kind, event.text);
      return;
    case 'ended':
      upstreamOver(session);
      return;
    default:
      if (session.phase === 'live') takeTurnEvent(session, event, nowMs);
  }
}

type CallNews = 'ready' | 'usage' | 'unheard' | 'unreported' | 'going_away' | 'failed' | 'ended';
type TurnEvent = Exclude<LiveEvent, { type: 'audio' | CallNews }>;

function takeTurnEvent(session: VoiceSession, event: TurnEvent, nowMs: number): void {
  session.lastSoundMs = nowMs;
  switch (event.type) {
    case 'speech_started':
      session.awaitedSinceMs = null;
      // The rest of an answer that has no item yet is given up without an end.
      session.answering = false;
      break;
    case 'speech_stopped':
      session.awaitedSinceMs = nowMs;
      break;
    case 'answer_started':
      session.answering = true;
      session.awaitedSinceMs = null;
      break;
    case 'audio_done':
      session.playout.endItem(event.itemId);
      // Some upstreams end an answer when it would have been played: nobody thinks meanwhile.
      session.answering = false;
      session.deps.host.pace(session);
      break;
    case 'transcript':
      takeTranscript(session, event, nowMs);
      break;
    case 'interrupted':
      interrupted(session, nowMs);
      break;
    case 'answer_done':
      session.answering = false;
      session.awaitedSinceMs = null;
      // A whole answer has its whole text. Of another one nobody goes on with its calls.
      if (event.outcome !== 'completed') {
        giveUpTools(session);
        endAnswer(session);
      }
      if (event.outcome === 'failed') sendFailed(session);
      break;
    case 'tool_call':
      session.answering = true;
      callTool(session, event);
      break;
    case 'tool_refused':
      refuseTool(session, event);
      break;
    case 'tool_cancelled':
      giveUpTools(session, event.callIds);
      break;
    case 'problem':
      noteProblem(session, event.code, event.text);
  }
  updateTurn(session, nowMs);
}

/** The user would wait for it in silence. */
function sendFailed(session: VoiceSession): void {
  const message = 'The voice model failed to answer.';
  send(session, errorEvent({ code: 'upstream_error', message, retryable: true, fatal: false }));
}

/** The user spoke over the answer. All of it was played: then it has no meaning. */
function interrupted(session: VoiceSession, nowMs: number): void {
  if (!session.playout.isQuiet(nowMs)) {
    const heard = clearSound(session, nowMs);
    if (heard !== null) session.call?.truncate(heard);
  }
  giveUpTools(session);
  endAnswer(session);
}

function goingAway(session: VoiceSession, leftMs: number, nowMs: number): void {
  const leaveAtMs = nowMs + Math.max(0, leftMs - voiceLimits.goingAwayMs);
  session.leaveAtMs = Math.min(session.leaveAtMs, leaveAtMs);
}

function callFailed(session: VoiceSession, kind: LiveFailureKind, text: string): void {
  const { phase } = session;
  note(session, { kind, text, route: session.route?.routeId }, 'voice upstream failed');
  routeFailed(session, kind, text);
  if (phase === 'starting') {
    // Also one that was set up while the hold is on its way: its client knows of neither.
    closeCall(session);
    openUpstream(session);
    return;
  }
  if (phase === 'live') {
    const message = 'The connection to the voice model was lost.';
    send(session, errorEvent({ code: 'upstream_error', message, retryable: true, fatal: false }));
    session.call = null;
    forgoUnsent(session, session.playout.bufferedMs);
    endSession(session, 'upstream_closed');
  }
  upstreamOver(session);
}

/** It has begun an answer, nothing of it is left to hear, and nothing more of it comes. */
export function watchUpstream(session: VoiceSession, nowMs: number): void {
  const { stalledMs } = session.deps.limits.voice;
  if (session.turn !== 'thinking' || !session.answering || session.tools !== null) return;
  if (nowMs - session.lastWordMs < stalledMs) return;
  const { call } = session;
  callFailed(session, 'timeout', `an answer stalled for ${stalledMs} ms`);
  call?.close(0);
}

function failSession(session: VoiceSession, message: string): void {
  const error = { code: 'upstream_error', message, retryable: true, fatal: true } as const;
  endSession(session, 'error', error);
}

/** No tokenizer makes more of a text than it has bytes; ours, with the tools, is short. */
function contextTokensMax(context: LiveSetup['context']): number {
  const bytes = context.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  return bytes + ownTokensMax;
}

/** Hold durable and upstream ready: from here on sound goes both ways. */
export function goLive(session: VoiceSession): void {
  const { phase, callReady, call, funds, deps, spec, started } = session;
  if (phase !== 'starting' || !callReady || funds.state !== 'held') return;
  if (call === null || started === null) return;
  const { secondsMax } = deps.limits.voice;
  const nowMs = performance.now();
  session.phase = 'live';
  session.lastSoundMs = nowMs;
  session.endsAtMs = nowMs + secondsMax * 1_000;
  const { voiceId } = started.message;
  const { accountId, id: sessionId } = spec;
  const expiresAtMs = Date.now() + voiceLimits.continuationMs;
  const continuationToken = sealContinuation(deps.sealer, { accountId, voiceId }, expiresAtMs);
  const model = started.model.alias;
  session.turn = 'listening';
  // The upstream has it: up to 24,000 characters that nobody needs any more.
  funds.history.textTokens = contextTokensMax(started.message.context);
  started.message.context = [];
  funds.reportedAtMs = nowMs;
  session.socket?.together(() => {
    send(
      session,
      readyEvent({ sessionId, model, voiceId, continuationToken, durationSecondsMax: secondsMax }),
    );
    send(session, statusEvent('listening'));
  });
  deps.metrics.started((nowMs - session.openedMs) / 1_000);
  const early = session.early ?? [];
  session.early = null;
  for (const frame of early) forward(session, frame);
}

/** One frame on its way to the upstream. */
export function forward(session: VoiceSession, pcm: Uint8Array): void {
  const { lane, deps, funds } = session;
  funds.unreportedInMs += voiceLimits.frameMs;
  if (lane?.push(pcm) !== true) deps.host.counters.framesDropped += 1;
}
