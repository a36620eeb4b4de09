// What was said, as the client is told it. A user's transcript that comes after its answer has
// no end of its own: it is complete when no part came for a while, or when anything else is said.
import type { LiveEvent } from '../../media/providers/live-contract.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { transcriptEvent } from './events.ts';
import { send, type VoiceSession } from './state.ts';

const partialCharactersMax = 32_768;

export function takeTranscript(
  session: VoiceSession,
  { role, text, final, isLate }: Extract<LiveEvent, { type: 'transcript' }>,
  nowMs: number,
): void {
  if (text === '' && !final) return;
  if (isLate === true) addLate(session, text, nowMs);
  else endLate(session);
  if (role === 'assistant') session.partial = final ? '' : longer(session.partial, text);
  send(session, transcriptEvent(role, text, final));
}

function addLate(session: VoiceSession, text: string, nowMs: number): void {
  session.late = { text: longer(session.late?.text ?? '', text), atMs: nowMs };
}

/** What is too long to be kept is told in parts only. */
function longer(partial: string, text: string): string {
  return partial.length < partialCharactersMax ? partial + text : '';
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
  if (late !== null && nowMs - late.atMs > fixedLimits.voice.lateTranscriptMs) endLate(session);
}
