// What was said, as the client is told it. A user's transcript that comes after its answer has
// no end of its own: it is complete when no part came for a while, or when anything else is said.
// An utterance too long to be kept is told as several; a part that is itself too long is cut.
import type { LiveEvent } from '../../media/providers/live/contract.ts';
import { cutText } from '../../runtime/http/text.ts';
import { transcriptEvent } from './events.ts';
import { voiceLimits } from './limits.ts';
import { send, type VoiceSession } from './state.ts';

const { utteranceCharactersMax } = voiceLimits;

export function takeTranscript(
  session: VoiceSession,
  event: Extract<LiveEvent, { type: 'transcript' }>,
  nowMs: number,
): void {
  const { role, itemId, text, final, isLate } = event;
  if (text === '' && !final) return;
  // More would fill what may wait for a client, and end its connection.
  const part = cutText(text, utteranceCharactersMax);
  if (isLate === true) addLate(session, part, nowMs);
  else endLate(session);
  if (role === 'assistant') takeAnswer(session, itemId, final ? text : part, final);
  else send(session, transcriptEvent(role, part, final));
  if ((session.late?.text.length ?? 0) >= utteranceCharactersMax - 1) endLate(session);
}

function takeAnswer(session: VoiceSession, itemId: string, text: string, final: boolean): void {
  // Nothing told that the item before was complete.
  if (itemId !== session.partialItemId) endUtterance(session);
  session.partialItemId = itemId;
  if (final) {
    const rest = cutText(text.slice(session.toldCharacters), utteranceCharactersMax);
    session.partial = '';
    session.toldCharacters = 0;
    if (rest !== '' || text === '') send(session, transcriptEvent('assistant', rest, true));
    return;
  }
  send(session, transcriptEvent('assistant', text, false));
  session.partial += text;
  // One that was cut may lack half a pair; kept, it would keep all that it was cut from.
  if (session.partial.length < utteranceCharactersMax - 1) return;
  session.toldCharacters += session.partial.length;
  send(session, transcriptEvent('assistant', session.partial, true));
  session.partial = '';
}

/** What the assistant said so far is its final form. */
export function endUtterance(session: VoiceSession): void {
  const { partial } = session;
  session.partial = '';
  session.toldCharacters = 0;
  if (partial !== '') send(session, transcriptEvent('assistant', partial, true));
}

function addLate(session: VoiceSession, text: string, nowMs: number): void {
  session.late = { text: (session.late?.text ?? '') + text, atMs: nowMs };
}

/** The late transcript is complete. */
export function endLate(session: VoiceSession): void {
  const { late } = session;
  if (late === null) return;
  session.late = null;
  if (late.text !== '') send(session, transcriptEvent('user', late.text, true));
}

export function watchLate(session: VoiceSession, nowMs: number): void {
  const { late } = session;
  if (late !== null && nowMs - late.atMs > voiceLimits.lateTranscriptMs) endLate(session);
}
