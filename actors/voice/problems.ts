// What a session's upstream does wrong, in the log. An upstream may say so with every message: the
// first are lines, the others a number in a last one.
import { voiceLimits } from './limits.ts';
import type { VoiceSession } from './state.ts';

const { problemsLoggedMax } = voiceLimits;

export function note(session: VoiceSession, details: object, message: string): void {
  const { deps, spec } = session;
  deps.log.warn({ ...details, session: spec.id, exchange: spec.exchangeId }, message);
}

export function noteProblem(session: VoiceSession, code: string, text: string): void {
  session.problems += 1;
  if (session.problems > problemsLoggedMax) return;
  note(session, { code, text }, 'voice upstream reports a problem');
}

/** The session is over. */
export function noteOmitted(session: VoiceSession): void {
  const omitted = session.problems - problemsLoggedMax;
  if (omitted > 0) note(session, { omitted }, 'voice upstream reported more problems');
}
