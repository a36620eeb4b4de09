// The end of a session: the client is told once, the upstream gets a moment for the usage it owes,
// then everything is settled once. Whatever ends it, all ends go through here.
import type { Handlers } from '../../runtime/actor/contract.ts';
import { type EndReason, endedEvent, endings, errorEvent, type VoiceError } from './events.ts';
import { forgoUnsent, missReport, reduceHold } from './funding.ts';
import { routeLeft } from './health.ts';
import type { SessionFinish } from './holder.ts';
import { voiceLimits } from './limits.ts';
import type { VoiceSessionProtocol } from './protocol.ts';
import { send, type VoiceSession } from './state.ts';
import { addReport, chargeOf, estimated, isNothing } from './tariff.ts';
import { giveUpTools } from './tools.ts';
import { endLate, endUtterance } from './transcript.ts';

type ClosingMessages = 'reduce' | 'settle' | 'settled' | 'release' | 'released';

/** Ends a session that was accepted; its client hears `fatal`, if given, and `session.ended`. */
export function endSession(
  session: VoiceSession,
  reason: EndReason,
  fatal: VoiceError | null = null,
): void {
  if (!beginEnd(session, reason, fatal)) return;
  // A shard that ends has no time to wait for the last usage.
  const waitMs = reason === 'server_draining' ? 0 : voiceLimits.lastWordsMs;
  session.endDueMs = performance.now() + waitMs;
  advance(session);
}

/**
 * Ends a session whose client does what nobody may go on doing. The end and the close come a moment
 * after the error, whatever the upstream owes: until then its permit stays taken and what it sends
 * is not looked at, so coming back at once, again and again, is slow for it and costs us little.
 */
export function expel(session: VoiceSession, fatal: VoiceError): void {
  if (!beginEnd(session, 'error', fatal)) return;
  session.isExpelled = true;
  session.endDueMs = performance.now() + voiceLimits.expelledMs;
  advance(session);
}

/** Ends a session before it was ready: a fatal error, and nothing else. */
export function reject(session: VoiceSession, error: VoiceError): void {
  if (!beginEnd(session, 'rejected')) return;
  session.deps.metrics.refused(error.code);
  session.told = true;
  send(session, errorEvent(error));
  closeSocket(session, 1008, error.code);
  advance(session);
}

/** The client is gone, with or without a goodbye. */
export function clientGone(session: VoiceSession): void {
  session.socket = null;
  leavePermit(session);
  session.told = true;
  beginEnd(session, 'client_gone');
  advance(session);
}

/** The upstream will report nothing any more. */
export function upstreamOver(session: VoiceSession): void {
  session.call = null;
  session.callReady = false;
  if (session.phase === 'ending') advance(session);
}

/** Leaves an upstream that owes nothing. */
export function closeCall(session: VoiceSession): void {
  const { call } = session;
  session.call = null;
  session.callReady = false;
  call?.close(0);
}

/** False: it is ending already. Clients may read nothing behind an error that is fatal. */
function beginEnd(
  session: VoiceSession,
  reason: NonNullable<VoiceSession['endReason']>,
  fatal: VoiceError | null = null,
): boolean {
  const { phase } = session;
  if (phase === 'ending' || phase === 'over') return false;
  endLate(session);
  endUtterance(session);
  session.phase = 'ending';
  session.turn = 'ended';
  session.endReason = reason;
  session.early = null;
  session.playout.clear();
  session.lane?.close();
  session.lane = null;
  giveUpTools(session);
  if (fatal !== null) send(session, errorEvent(fatal));
  routeLeft(session);
  if (phase === 'live') {
    session.call?.close(voiceLimits.lingerMs);
    // An upstream that owes nothing has said so by then, and all is settled at once.
    session.context.after(0, 'reduce', null);
  } else closeCall(session);
  return true;
}

/** What is to be done next on the way to the end; harmless when called again. */
export function advance(session: VoiceSession): void {
  const { phase, call, funds } = session;
  if (phase !== 'ending') return;
  if (!session.told && maySendEnd(session)) sendEnd(session);
  if (!session.told || call !== null || funds.state === 'asked' || session.settling) return;
  session.settling = true;
  if (funds.state === 'held') {
    addEstimate(session);
    session.self.tell(funds.dueMicros > 0n ? 'settle' : 'release', null);
  } else if (funds.state === 'unknown') session.self.tell('release', null);
  else over(session);
}

function maySendEnd({ call, isExpelled, endDueMs }: VoiceSession): boolean {
  return (call === null && !isExpelled) || performance.now() >= endDueMs;
}

function sendEnd(session: VoiceSession): void {
  const { endReason, funds } = session;
  session.told = true;
  if (endReason === null || endReason === 'client_gone' || endReason === 'rejected') return;
  send(session, endedEvent(endReason, funds.usage));
  closeSocket(session, endings[endReason].closeCode, endReason);
}

function closeSocket(session: VoiceSession, code: number, reason: string): void {
  const { socket } = session;
  if (socket === null) return;
  // Its end may come back at once, on this stack.
  session.socket = null;
  leavePermit(session);
  socket.end(code, reason);
}

/**
 * The key's permit is that of a connection: a client that renews finds it free. The shard's own is
 * that of the session, which may still wait for usage.
 */
export function leavePermit(session: VoiceSession): void {
  if (!session.hasPermit) return;
  session.hasPermit = false;
  session.spec.releasePermit();
}

/** Sound of an answer whose usage never came is charged by the clock, and marked. */
function addEstimate(session: VoiceSession): void {
  const { funds, started } = session;
  missReport(session);
  if (started === null || funds.missedOutMs <= 0) return;
  const { card, perSecond } = started.tariff;
  addReport(funds.usage, estimated(perSecond, funds.missedInMs, funds.missedOutMs));
  funds.missedInMs = 0;
  funds.missedOutMs = 0;
  funds.estimated = true;
  const due = chargeOf(card, funds.usage);
  funds.dueMicros = due.chargeMicros;
  funds.dueProviderMicros = due.providerCostMicros;
}

export const closing: Pick<Handlers<VoiceSessionProtocol, VoiceSession>, ClosingMessages> = {
  reduce(session) {
    if (session.phase === 'ending' && !session.settling) reduceHold(session, performance.now());
  },

  settle(session) {
    const { deps, spec, holdId, funds } = session;
    void deps
      .wallet(session.payment.walletId)
      .ask(
        'settle',
        {
          holdId,
          chargeMicros: funds.dueMicros,
          providerCostMicros: funds.dueProviderMicros,
          finish: finishOf(session),
          spender: { accountId: spec.accountId, apiKeyId: spec.apiKeyId },
        },
        deps.limits.ledger.askTimeoutMs,
      )
      .then((answer) => session.self.tell('settled', answer));
  },

  settled(session, answer) {
    if (answer.ok && answer.value.status === 'settled') over(session);
    else if (answer.ok && answer.value.status === 'hold_unknown') {
      throw new Error(`voice session ${session.spec.id} ran without a durable hold`);
    } else retry(session, 'settle');
  },

  release(session) {
    const { deps, holdId } = session;
    void deps
      .wallet(session.payment.walletId)
      .ask(
        'release',
        { holdId, reason: 'cancelled', finish: finishOf(session) },
        deps.limits.ledger.askTimeoutMs,
      )
      .then((answer) => session.self.tell('released', answer));
  },

  released(session, answer) {
    if (answer.ok && answer.value.status !== 'unavailable') over(session);
    else retry(session, 'release');
  },
};

function finishOf({ spec, funds, endReason }: VoiceSession): SessionFinish {
  const source = funds.estimated ? 'estimated' : isNothing(funds.usage) ? 'none' : 'reported';
  const usage = { ...funds.usage };
  return { kind: 'voice_session', id: spec.id, reason: endReason ?? 'error', source, usage };
}

function retry(session: VoiceSession, step: 'settle' | 'release'): void {
  const { funds, deps, spec } = session;
  funds.retries += 1;
  if (funds.retries % 30 === 3) {
    deps.log.warn({ session: spec.id, step, retries: funds.retries }, 'the ledger is away');
  }
  session.context.after(Math.min(2_000, 50 * 2 ** Math.min(funds.retries, 10)), step, null);
}

export function over(session: VoiceSession): void {
  session.phase = 'over';
  session.context.stop();
}

/** Nobody waits any longer: told if need be, and settled with what is known by now. */
export function giveUp(session: VoiceSession): void {
  beginEnd(session, 'server_draining');
  if (!session.told) sendEnd(session);
  closeCall(session);
  settleBlindly(session, session.endReason ?? 'server_draining');
  over(session);
}

/** The actor ends without having come to its end: clients and money must not notice more. */
export function crashed(session: VoiceSession): void {
  if (!session.told) {
    const message = 'An internal error ended the session.';
    send(session, errorEvent({ code: 'internal', message, retryable: true, fatal: true }));
    session.endReason = 'error';
    sendEnd(session);
  }
  closeCall(session);
  forgoUnsent(session, session.playout.bufferedMs);
  settleBlindly(session, 'error');
}

/** Without waiting for the answer: should the ledger be away, reconciliation ends the hold. */
function settleBlindly(session: VoiceSession, reason: string): void {
  const { deps, spec, holdId, funds } = session;
  if (funds.state === 'none' || funds.state === 'refused') return;
  if (funds.state === 'held') addEstimate(session);
  const wallet = deps.wallet(session.payment.walletId);
  const ended = { ...finishOf(session), reason };
  const { dueMicros, dueProviderMicros } = funds;
  if (funds.state === 'held' && dueMicros > 0n) {
    wallet.tell('settle', {
      holdId,
      chargeMicros: dueMicros,
      providerCostMicros: dueProviderMicros,
      finish: ended,
      spender: { accountId: spec.accountId, apiKeyId: spec.apiKeyId },
    });
  } else wallet.tell('release', { holdId, reason: 'failed', finish: ended });
}
