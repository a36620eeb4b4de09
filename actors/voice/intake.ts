// What comes from the client: the start, frames, controls. Frames go through here on the stack of
// the socket, without a promise.
import { endSession, expel, reject } from './closing.ts';
import { readControl } from './control.ts';
import { clearEvent, errorEvent, statusEvent, type VoiceErrorCode } from './events.ts';
import { isRested, take } from './frame-rate.ts';
import { askHold } from './funding.ts';
import { voiceLimits } from './limits.ts';
import { acceptsContinuation } from './sealed.ts';
import { clearSound, endAnswer, updateTurn } from './sound.ts';
import { readStart } from './start.ts';
import { send, type VoiceSession } from './state.ts';
import { holdMicros } from './tariff.ts';
import { giveUpTools } from './tools.ts';
import { forward, openUpstream } from './upstream.ts';

const { frameBytes, frameMs, earlyAudioMs, frameExcessMs } = voiceLimits;
const earlyFramesMax = Math.floor(earlyAudioMs / frameMs);
const excessFramesMax = Math.floor(frameExcessMs / frameMs);
/** Louder than a quiet room: about -38 dBFS. */
const audibleMin = 400;
/** No divisor of a frame's samples: a steady tone of 1 kHz might be looked at where it is 0. */
const listenToEvery = 17;
const listenEveryMs = 1_000;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** One message of the client; the bytes are lent for this call. */
export function takeMessage(session: VoiceSession, data: ArrayBuffer, isBinary: boolean): void {
  if (isBinary) takeFrame(session, data);
  else takeText(session, data);
}

function takeFrame(session: VoiceSession, data: ArrayBuffer): void {
  if (isEnding(session)) return;
  const nowMs = performance.now();
  const { counters } = session.deps.host;
  counters.framesIn += 1;
  if (session.wasShort) {
    malformed(session, 'Only the last frame of audio may be shorter than 1,024 bytes.', nowMs);
    if (isEnding(session)) return;
  }
  const { byteLength } = data;
  if (byteLength !== frameBytes) {
    const isShort = byteLength < frameBytes && byteLength > 0 && byteLength % 2 === 0;
    if (!isShort) {
      malformed(session, 'A frame of audio has 1,024 bytes.', nowMs);
      return;
    }
    session.wasShort = true;
  }
  if (!take(session.frames, frameMs, nowMs)) {
    flooded(session);
    return;
  }
  if (session.excessFrames > 0 && isRested(session.frames)) session.excessFrames = 0;
  const pcm = new Uint8Array(data);
  if (nowMs - session.lastSoundMs > listenEveryMs && isAudible(data)) session.lastSoundMs = nowMs;
  if (session.phase === 'live') forward(session, pcm);
  else keepEarly(session, pcm);
}

function isEnding({ phase }: VoiceSession): boolean {
  return phase === 'ending' || phase === 'over';
}

/** Looks at some of the samples: speech is loud for longer than a frame. */
function isAudible(data: ArrayBuffer): boolean {
  const samples = new Int16Array(data);
  for (let index = 0; index < samples.length; index += listenToEvery) {
    const sample = samples[index] ?? 0;
    if (sample > audibleMin || sample < -audibleMin) return true;
  }
  return false;
}

function keepEarly(session: VoiceSession, pcm: Uint8Array): void {
  session.early ??= [];
  if (session.early.length < earlyFramesMax) session.early.push(pcm.slice());
  else session.deps.host.counters.framesDropped += 1;
}

/** More sound than there is time: dropped, told once, and the end of whoever goes on. */
function flooded(session: VoiceSession): void {
  session.deps.host.counters.framesDropped += 1;
  session.excessFrames += 1;
  const isFatal = session.excessFrames > excessFramesMax;
  if (session.excessFrames > 1 && !isFatal) return;
  const message = 'Audio comes faster than real time; what is too much is dropped.';
  fault(session, 'frame_rate_exceeded', message, isFatal);
}

function takeText(session: VoiceSession, data: ArrayBuffer): void {
  if (isEnding(session)) {
    takeLast(session, data);
    return;
  }
  const nowMs = performance.now();
  const text = textOf(data);
  if (session.phase === 'waiting') {
    takeStart(session, text, data.byteLength);
    return;
  }
  const control = text === null ? null : readControl(text);
  const isPaced = take(session.controls, voiceLimits.controlEveryMs, nowMs);
  if (control === null) malformed(session, 'The message is not a control message.', nowMs);
  else if (control === 'end') endSession(session, 'client_end');
  else {
    session.lastSoundMs = nowMs;
    bargeIn(session, nowMs);
    // Answered first: even the one too many is.
    if (!isPaced) malformed(session, 'There are too many control messages.', nowMs);
  }
}

/** Who interrupts cannot know of an end that it was not told yet. An error was told. */
function takeLast(session: VoiceSession, data: ArrayBuffer): void {
  if (session.told || session.endReason === 'error') return;
  const text = textOf(data);
  if (text !== null && readControl(text) === 'barge_in') send(session, clearEvent);
}

function textOf(data: ArrayBuffer): string | null {
  try {
    return utf8.decode(data);
  } catch {
    // RFC 6455 wants UTF-8, and uWS does not look.
    return null;
  }
}

/** In the order of the protocol: the sound is dropped and the client told before the upstream. */
function bargeIn(session: VoiceSession, nowMs: number): void {
  session.deps.host.counters.bargeIns += 1;
  const heard = clearSound(session, nowMs);
  if (session.phase !== 'live') return;
  session.call?.bargeIn(heard);
  giveUpTools(session);
  endAnswer(session);
  updateTurn(session, nowMs);
}

/** Three of them are told, the fourth ends the session. */
function malformed(session: VoiceSession, message: string, nowMs: number): void {
  if (session.phase === 'waiting') {
    invalidStart(session, 'The first message must be the start message.');
    return;
  }
  session.wasShort = false;
  session.malformed += 1;
  session.lastSoundMs = nowMs;
  fault(session, 'invalid_message', message, session.malformed > voiceLimits.malformedMax);
}

function fault(
  session: VoiceSession,
  code: VoiceErrorCode,
  message: string,
  isFatal: boolean,
): void {
  const error = { code, message, retryable: false, fatal: isFatal };
  if (isFatal) expel(session, error);
  else send(session, errorEvent(error));
}

function invalidStart(session: VoiceSession, message: string): void {
  reject(session, { code: 'invalid_start', message, retryable: false, fatal: true });
}

function takeStart(session: VoiceSession, text: string | null, bytesLength: number): void {
  const { deps, spec } = session;
  if (text === null) {
    invalidStart(session, 'The start message is not UTF-8.');
    return;
  }
  const reading = readStart(text, bytesLength, deps.limits.voice.contextCharactersMax);
  if (!reading.ok) {
    invalidStart(session, reading.message);
    return;
  }
  const message = reading.start;
  const { voiceId, continuationToken } = message;
  const chosen = spec.findVoice(voiceId);
  if (chosen === null || chosen.model.tokensPerSecondMax === null) {
    const text = 'voice_id: there is no such voice.';
    reject(session, { code: 'unknown_voice', message: text, retryable: false, fatal: true });
    return;
  }
  const wanted = { accountId: spec.accountId, voiceId };
  const isContinued =
    continuationToken === null ||
    acceptsContinuation(deps.sealer, continuationToken, wanted, Date.now());
  if (!isContinued) {
    const text = 'continuation_token: it has expired, or is of another account or voice.';
    reject(session, { code: 'invalid_continuation', message: text, retryable: false, fatal: true });
    return;
  }
  const { model, upstreamVoice } = chosen;
  session.started = {
    message,
    model,
    upstreamVoice,
    tariff: { card: model.card, perSecond: chosen.model.tokensPerSecondMax },
    targets: deps.health.order(model.targets, Date.now()),
  };
  begin(session);
}

/** The upstream of a rich wallet is called while the hold is on its way to the disk. */
function begin(session: VoiceSession): void {
  const { deps, spec, started } = session;
  if (started === null) return;
  session.phase = 'starting';
  session.acceptedMs = performance.now();
  send(session, statusEvent('connecting'));
  askHold(session);
  const amountMicros = holdMicros(started.tariff, deps.limits.voice.secondsMax * 1_000);
  if (deps.fundsEstimate.expectsFunds(spec, amountMicros, Date.now())) openUpstream(session);
}
