// Sound towards the client: paced, its position known, and cleared at once when somebody
// interrupts. Whose turn it is follows from what is heard: states never contradict sound.
import type { LivePosition } from '../../media/providers/live/contract.ts';
import { clearEvent, statusEvent } from './events.ts';
import { voiceLimits } from './limits.ts';
import { send, type VoiceSession } from './state.ts';
import { endUtterance } from './transcript.ts';
import { stateOf, wayTo } from './turn.ts';

const outputBytesPerMs = 48;
/** An answer that nobody has begun is not awaited longer than this. */
const awaitedMsMax = 15_000;

/** Shows the client whose turn it is, if that changed. */
export function updateTurn(session: VoiceSession, nowMs: number): void {
  if (session.phase !== 'live') return;
  const target = stateOf({
    isAwaited: session.answering || session.awaitedSinceMs !== null || session.tools !== null,
    isHeard: !session.playout.isQuiet(nowMs),
  });
  if (target === session.turn || target === 'ended') return;
  for (const state of wayTo(session.turn, target)) {
    session.turn = state;
    if (state !== 'ended') send(session, statusEvent(state));
  }
}

/** Takes sound of the upstream. False: there is no room, and a hole is no answer. */
export function takeSound(
  session: VoiceSession,
  itemId: string,
  pcm: Uint8Array,
  nowMs: number,
): boolean {
  if (!session.playout.push(itemId, pcm, nowMs)) return false;
  session.lastSoundMs = nowMs;
  if (session.turn !== 'speaking') updateTurn(session, nowMs);
  sendDue(session, nowMs);
  if (session.playout.pressed) press(session, true);
  session.deps.host.pace(session);
  return true;
}

/** Sends what is due. False: nothing waits, and what was sent is played. */
export function pace(session: VoiceSession, nowMs: number): boolean {
  if (session.phase !== 'live') return false;
  sendDue(session, nowMs);
  if (session.paused && !session.playout.pressed) press(session, false);
  if (!session.playout.isQuiet(nowMs)) return true;
  session.lastSoundMs = nowMs;
  updateTurn(session, nowMs);
  return false;
}

/** A long answer waits at the upstream, where it costs nobody memory. */
function press(session: VoiceSession, paused: boolean): void {
  if (session.paused === paused) return;
  session.paused = paused;
  if (paused) session.call?.pause();
  else session.call?.resume();
}

function sendDue(session: VoiceSession, nowMs: number): void {
  const { playout, socket } = session;
  const dueMs = playout.nextDueMs;
  if (socket === null || dueMs === null || dueMs > nowMs) return;
  const chunks = playout.due(nowMs);
  const { counters } = session.deps.host;
  counters.messagesOut += chunks.length;
  for (const { itemId, pcm } of chunks) {
    session.itemId = itemId;
    socket.binary(pcm);
  }
}

/** What the client has not taken from us, in milliseconds of sound. */
export function clientLagMs(session: VoiceSession): number {
  return (session.socket?.bufferedBytes ?? 0) / outputBytesPerMs;
}

/** Whether the client is so far behind that the session must end. */
export function isSlow(session: VoiceSession): boolean {
  const lagMs = clientLagMs(session);
  const { counters } = session.deps.host;
  if (lagMs > counters.lagMs) counters.lagMs = lagMs;
  return lagMs > voiceLimits.slowMs;
}

/**
 * Somebody interrupts: what waits is void, and the client drops what it has before any later sound.
 * Returns how far the user has heard; null: nothing is being played.
 */
export function clearSound(session: VoiceSession, nowMs: number): LivePosition | null {
  const { playout, itemId } = session;
  const heardMs = itemId === null || playout.isQuiet(nowMs) ? null : playout.heardMs(itemId);
  const unsentItems = playout.unsentItems;
  playout.clear();
  send(session, clearEvent);
  press(session, false);
  return itemId === null || heardMs === null ? null : { itemId, heardMs, unsentItems };
}

/** The answer is over as it is: its text so far is its final form. */
export function endAnswer(session: VoiceSession): void {
  session.answering = false;
  session.awaitedSinceMs = null;
  endUtterance(session);
}

/** The user speaks: an answer that was not begun may never come. */
export function forgetAwaited(session: VoiceSession, nowMs: number): void {
  const { awaitedSinceMs } = session;
  if (awaitedSinceMs === null || nowMs - awaitedSinceMs < awaitedMsMax) return;
  session.awaitedSinceMs = null;
  updateTurn(session, nowMs);
}
