// The money of a session while it lives: the hold of its longest duration, and its extension when
// what was reported outgrows it. Usage is summed; nothing is charged before the end.
import type { LiveUsage } from '../../media/providers/live/contract.ts';
import type { ActorContext, Handlers } from '../../runtime/actor/contract.ts';
import { errorEvent } from './events.ts';
import type { SessionClaim, SessionDue } from './holder.ts';
import { voiceLimits } from './limits.ts';
import type { VoiceSessionProtocol } from './protocol.ts';
import { send, type VoiceSession } from './state.ts';
import { addReport, chargeOf, estimated, holdMicros, tokensWithin } from './tariff.ts';

type Context = ActorContext<VoiceSessionProtocol>;

/** Asks for the hold; its answer is the message `held`. */
export function askHold(session: VoiceSession): void {
  const { deps, spec, started, funds, holdId } = session;
  if (started === null) return;
  const { secondsMax } = deps.limits.voice;
  const { holdMarginMs } = voiceLimits;
  const durationMs = secondsMax * 1_000;
  funds.state = 'asked';
  funds.heldMicros = holdMicros(started.tariff, durationMs);
  const { id, accountId, apiKeyId } = spec;
  void deps
    .wallet(session.payment.walletId)
    .ask(
      'hold',
      {
        holdId,
        amountMicros: funds.heldMicros,
        owner: { kind: 'voice_session', id, instanceId: deps.instanceId },
        expiresAtMs: Date.now() + durationMs + holdMarginMs,
        claim: {
          id,
          accountId,
          apiKeyId,
          model: started.model.alias,
          voiceId: started.message.voiceId,
        } satisfies SessionClaim,
      },
      deps.limits.ledger.askTimeoutMs,
    )
    .then((answer) => session.self.tell('held', answer));
}

/** Sound of an answer, on the hot path; its usage is still to come. */
export function noteSound({ funds }: VoiceSession, durationMs: number): void {
  funds.unreportedOutMs += durationMs;
  funds.answeredInMs = funds.unreportedInMs;
}

/** Sound of an answer that was given up: its report would count it, too. */
export function noteUnheard(session: VoiceSession, durationMs: number): void {
  noteSound(session, durationMs);
  session.funds.unheardMs += durationMs;
}

/** A report counts what was heard both ways since the one before. */
export function takeReport(session: VoiceSession, usage: LiveUsage): void {
  const { funds } = session;
  addReport(funds.usage, usage);
  const { inputSpeechTokens, inputTextTokens, outputSpeechTokens, outputTextTokens } = usage;
  const { history, counted } = funds;
  counted.speechTokens = inputSpeechTokens + outputSpeechTokens;
  counted.textTokens = inputTextTokens + outputTextTokens;
  history.speechTokens = Math.max(history.speechTokens, counted.speechTokens);
  history.textTokens = Math.max(history.textTokens, counted.textTokens);
  funds.reportedAtMs = performance.now();
  funds.unreportedInMs = 0;
  funds.unreportedOutMs = 0;
  funds.unheardMs = 0;
  funds.answeredInMs = 0;
  noteUsage(session);
}

/** An answer ended without its report, and no later one counts it. Silence costs nothing. */
export function missReport({ funds }: VoiceSession): void {
  if (funds.unreportedOutMs <= 0) return;
  funds.missedInMs += funds.answeredInMs;
  funds.missedOutMs += funds.unreportedOutMs;
  // What was sent since then belongs to the next answer: its report may count it.
  funds.unreportedInMs -= funds.answeredInMs;
  funds.unreportedOutMs = 0;
  funds.unheardMs = 0;
  funds.answeredInMs = 0;
}

/**
 * The upstream is lost: no report will come, and the last of its answer was never sent. What a
 * provider does not complete is charged as far as it was delivered.
 */
export function forgoUnsent({ funds }: VoiceSession, unsentMs: number): void {
  funds.unreportedOutMs = Math.max(0, funds.unreportedOutMs - unsentMs - funds.unheardMs);
}

/** Usage has grown: what is due is known anew, and the hold follows. */
export function noteUsage(session: VoiceSession): void {
  const { started, funds } = session;
  if (started === null) return;
  const due = chargeOf(started.tariff.card, funds.usage);
  funds.dueMicros = due.chargeMicros;
  funds.dueProviderMicros = due.providerCostMicros;
  funds.dirty = true;
  if (session.phase === 'live') followUsage(session, performance.now());
}

/** The hold covers what is due and the rest of the longest duration, as far as the wallet goes. */
function followUsage(session: VoiceSession, nowMs: number): void {
  const { started, funds, deps, holdId } = session;
  if (started === null || funds.extending) return;
  const neededMicros = funds.dueMicros + holdMicros(started.tariff, session.endsAtMs - nowMs);
  if (neededMicros <= funds.heldMicros) return;
  const missingMicros = funds.dueMicros - funds.heldMicros;
  funds.extending = true;
  funds.step += 1;
  void deps
    .wallet(session.payment.walletId)
    .ask(
      'extend',
      {
        holdId,
        step: funds.step,
        amountMicros: neededMicros - funds.heldMicros,
        minimumMicros: missingMicros > 0n ? missingMicros : 1n,
        expiresAtMs: Date.now() + voiceLimits.holdMarginMs,
      },
      deps.limits.ledger.askTimeoutMs,
    )
    .then((answer) => session.self.tell('extended', answer));
}

/**
 * The session is over, and a last report may still come. It counts what was said since the one
 * before, all of the conversation once more as its input, and what was generated ahead of time.
 */
export function reduceHold(session: VoiceSession, nowMs: number): void {
  const { started, funds, deps, spec, holdId } = session;
  if (started === null || funds.state !== 'held') return;
  const { card, perSecond } = started.tariff;
  const { unreportedInMs, unreportedOutMs, history, dueMicros, dueProviderMicros } = funds;
  const saidMs = Math.max(nowMs - funds.reportedAtMs, unreportedInMs, unreportedOutMs);
  const most = { ...funds.usage };
  addReport(most, estimated(perSecond, funds.missedInMs, funds.missedOutMs));
  addReport(most, tokensWithin(perSecond, saidMs + voiceLimits.aheadMs));
  most.inputSpeechTokens += history.speechTokens;
  most.inputTextTokens += history.textTokens;
  const { chargeMicros: keepMicros } = chargeOf(card, most);
  // A tier of more tokens may cost less.
  if (keepMicros < dueMicros) return;
  // Should the ledger be away, the settlement gives it back. An extension whose answer was lost
  // may have had the next number.
  deps.wallet(session.payment.walletId).tell('reduce', {
    holdId,
    step: funds.step + 2,
    keepMicros,
    checkpoint: {
      id: spec.id,
      usage: { ...funds.usage },
      dueMicros,
      dueProviderMicros,
    } satisfies SessionDue,
  });
}

export const extended: Handlers<VoiceSessionProtocol, VoiceSession>['extended'] = (
  session,
  answer,
  _context: Context,
) => {
  const { funds } = session;
  funds.extending = false;
  if (answer.ok && answer.value.status === 'extended') {
    funds.heldMicros += answer.value.addedMicros;
    funds.isEmpty = false;
    if (session.phase === 'live') followUsage(session, performance.now());
    return;
  }
  if (answer.ok && answer.value.status === 'hold_not_active') {
    // Ended by others: expired, or this process was taken for dead. Nothing covers what follows.
    loseHold(session);
    return;
  }
  // A ledger that is away, or a wallet that is empty: both are asked again with the next report,
  // and the session goes on for as long as its hold covers it. What is beyond: `isUncovered`.
  const isRefused = answer.ok && answer.value.status !== 'unavailable';
  if (isRefused) funds.isEmpty = true;
  else funds.step -= 1;
  if (session.phase !== 'live' || !isRefused) return;
  if (!coversNext(session)) session.self.tell('finish', 'credits_exhausted');
};

/**
 * The hold has something for what is said next. Of an answer that is the conversation once more,
 * as its input, and the sound that came of it and was not reported yet.
 */
function coversNext({ started, funds }: VoiceSession): boolean {
  if (started === null || funds.dueMicros >= funds.heldMicros) return false;
  const { card, perSecond } = started.tariff;
  const { missedInMs, missedOutMs, answeredInMs, unreportedOutMs, counted } = funds;
  const least = { ...funds.usage };
  addReport(least, estimated(perSecond, missedInMs + answeredInMs, missedOutMs + unreportedOutMs));
  least.inputSpeechTokens += counted.speechTokens;
  least.inputTextTokens += counted.textTokens;
  return chargeOf(card, least).chargeMicros < funds.heldMicros;
}

/**
 * An answer outgrows what is left of an empty wallet: the wallet is asked once more, and what it
 * says ends the session. Looked at a few times a second, since no sound waits for money.
 */
export function watchEmpty(session: VoiceSession, nowMs: number): void {
  if (session.funds.isEmpty && !coversNext(session)) followUsage(session, nowMs);
}

/**
 * More is due than the hold has, and a ledger that is asked all the while does not answer. Looked
 * at a few times a second; true: the session has gone on like that for too long.
 */
export function isUncovered(session: VoiceSession, nowMs: number): boolean {
  const { funds, deps } = session;
  if (funds.dueMicros <= funds.heldMicros) {
    funds.uncoveredAtMs = null;
    return false;
  }
  funds.uncoveredAtMs ??= nowMs;
  followUsage(session, nowMs);
  return nowMs - funds.uncoveredAtMs > deps.limits.voice.uncoveredMs;
}

/** The end that follows settles what was used, as far as whoever ended the hold did not. */
export function loseHold(session: VoiceSession): void {
  if (session.phase !== 'live') return;
  const message = 'The credits held for this session were released before its end.';
  send(session, errorEvent({ code: 'internal', message, retryable: true, fatal: true }));
  session.self.tell('finish', 'error');
}
