// The actor of one voice session, beside its socket: it starts, watches deadlines, and ends once.
// Sound does not pass its mailbox (see protocol.ts), but a fault on its way ends this actor.
import type {
  ActorContext,
  ActorKind,
  ActorSystem,
  Handlers,
} from '../../runtime/actor/contract.ts';
import type { SocketHandlers } from '../../runtime/http/route.ts';
import { takesOver } from '../billed-request/fallback.ts';
import { isSpendRefusal, refusalMessage } from '../billed-request/spend-refusal.ts';
import type { HoldReply } from '../wallet/protocol.ts';
import {
  advance,
  clientGone,
  closing,
  crashed,
  endSession,
  giveUp,
  leavePermit,
  reject,
} from './closing.ts';
import { give } from './frame-rate.ts';
import { askHold, extended, isUncovered, watchEmpty } from './funding.ts';
import { takeMessage } from './intake.ts';
import { voiceLimits } from './limits.ts';
import { noteOmitted } from './problems.ts';
import type { VoiceSessionProtocol } from './protocol.ts';
import { forgetAwaited, isSlow } from './sound.ts';
import type { VoiceDeps, VoiceSpec } from './spec.ts';
import { newSession, type VoiceSession } from './state.ts';
import { takeSearch } from './tools.ts';
import { watchLate } from './transcript.ts';
import { goLive, openUpstream, rejectUnreached, watchUpstream } from './upstream.ts';

/** The sound of a standstill that a client may send at once: more lies in no buffer on the way. */
const unreadMsMax = 60_000;

export type VoiceSessionKind = ActorKind<VoiceSessionProtocol, VoiceSession, VoiceSpec>;

const behaviour: Handlers<VoiceSessionProtocol, VoiceSession> = {
  finish(session, reason) {
    endSession(session, reason);
  },

  withdraw(session) {
    const message = 'The API key or the account of this session may no longer be used.';
    const error = { code: 'unauthenticated', message, retryable: false, fatal: true } as const;
    if (session.phase !== 'live') reject(session, error);
    else endSession(session, 'error', error);
  },

  giveUp(session) {
    giveUp(session);
  },

  fault(_session, error) {
    throw error;
  },

  held(session, answer) {
    const { funds, deps, spec, payment } = session;
    const reply = answer.ok ? answer.value : null;
    if (session.phase !== 'ending' && takesOver(payment, spec.fallbackWalletId, reply)) {
      askHold(session);
      return;
    }
    if (!answer.ok) {
      // It may still become durable behind the lost answer: the release follows it.
      funds.state = 'unknown';
    } else funds.state = answer.value.status === 'held' ? 'held' : 'refused';
    const { accountId, apiKeyId } = spec;
    const payer = { walletId: payment.walletId, accountId, apiKeyId };
    if (answer.ok && answer.value.status === 'held') {
      deps.fundsEstimate.saw(payer, answer.value.availableMicros, Date.now());
    } else deps.fundsEstimate.forget(payer);
    if (session.phase === 'ending') {
      advance(session);
      return;
    }
    if (funds.state !== 'held') refuse(session, answer.ok ? answer.value : null);
    else if (session.call === null) openUpstream(session);
    else goLive(session);
  },

  extended,

  searched(session, { callId, hits }) {
    takeSearch(session, callId, hits);
  },

  ...closing,
};

function refuse(session: VoiceSession, reply: HoldReply | null): void {
  if (reply !== null && isSpendRefusal(reply)) {
    const short = 'The wallet does not cover the longest duration of a session.';
    const message = refusalMessage(reply, short);
    reject(session, { code: 'insufficient_credits', message, retryable: false, fatal: true });
    return;
  }
  const message = 'The ledger does not answer. Try again.';
  reject(session, { code: 'internal', message, retryable: true, fatal: true });
}

/** This thread stood still: nobody was silent or late meanwhile, and what was said lies unread. */
export function stoodStill(session: VoiceSession, forMs: number, nowMs: number): void {
  const later = (atMs: number) => Math.min(nowMs, atMs + forMs);
  session.openedMs = later(session.openedMs);
  session.acceptedMs = later(session.acceptedMs);
  session.lastSoundMs = later(session.lastSoundMs);
  session.lastWordMs = later(session.lastWordMs);
  if (session.awaitedSinceMs !== null) session.awaitedSinceMs = later(session.awaitedSinceMs);
  if (session.late !== null) session.late.atMs = later(session.late.atMs);
  const { funds } = session;
  if (funds.uncoveredAtMs !== null) funds.uncoveredAtMs = later(funds.uncoveredAtMs);
  // Others may have taken this process for dead: the checkpoint finds the row ended, and not only
  // once an answer that nothing covers was given.
  funds.dirty = true;
  session.endDueMs += forMs;
  give(session.frames, Math.min(forMs, unreadMsMax));
}

/** Deadlines of one session, looked at a few times a second. */
export function watch(session: VoiceSession, nowMs: number): void {
  const { phase, deps } = session;
  if (phase === 'waiting' && nowMs - session.openedMs > voiceLimits.startMs) {
    const message = 'No start message came within 5 seconds.';
    reject(session, { code: 'start_timeout', message, retryable: true, fatal: true });
  } else if (phase === 'starting' && nowMs - session.acceptedMs > voiceLimits.startingMs) {
    rejectUnreached(session);
  } else if (phase === 'live') watchLive(session, nowMs, deps.limits.voice.idleMs);
  else if (phase === 'ending') advance(session);
}

function watchLive(session: VoiceSession, nowMs: number, idleMs: number): void {
  if (isSlow(session)) {
    const message = 'The client does not read what it is sent.';
    const error = { code: 'slow_consumer', message, retryable: true, fatal: true } as const;
    endSession(session, 'error', error);
  } else if (nowMs >= session.endsAtMs) endSession(session, 'max_duration');
  else if (nowMs >= session.leaveAtMs) endSession(session, 'upstream_closed');
  else if (isIdle(session, nowMs, idleMs)) endSession(session, 'idle_timeout');
  else if (isUncovered(session, nowMs)) {
    const message = 'The ledger does not answer. Try again.';
    const error = { code: 'internal', message, retryable: true, fatal: true } as const;
    endSession(session, 'error', error);
  } else {
    watchEmpty(session, nowMs);
    forgetAwaited(session, nowMs);
    watchLate(session, nowMs);
    watchUpstream(session, nowMs);
  }
}

/** Nobody speaks: no sound of the user, no answer that is heard or awaited. */
function isIdle(session: VoiceSession, nowMs: number, idleMs: number): boolean {
  return session.turn === 'listening' && nowMs - session.lastSoundMs > idleMs;
}

/** The kind, with what its shard gives it. A session that crashes is not started again. */
export function createVoiceSessionKind(deps: VoiceDeps): VoiceSessionKind {
  return {
    name: 'voice-session',
    parent: 'voice',
    placement: 'local',
    supervision: { strategy: 'stop', crashesMax: 1, withinMs: 1_000 },
    mailboxLengthMax: voiceLimits.mailboxLengthMax,
    start(context: ActorContext<VoiceSessionProtocol>, spec) {
      const session = newSession(deps, spec, context);
      spec.link.session = session;
      deps.host.add(session);
      return session;
    },
    behaviour,
    stopped(session, reason) {
      const { deps } = session;
      if (session.phase !== 'over') crashed(session);
      session.phase = 'over';
      session.lane?.close();
      session.playout.close();
      deps.host.remove(session);
      deps.host.leave();
      deps.metrics.ended(reason === 'stopped' ? (session.endReason ?? 'given_up') : reason);
      leavePermit(session);
      noteOmitted(session);
    },
  };
}

/** Starts a session for a connection that is being upgraded; null: no room. */
export function openSession(
  system: ActorSystem,
  kind: VoiceSessionKind,
  spec: VoiceSpec,
): SocketHandlers | null {
  const { link } = spec;
  if (system.spawn(kind, spec.id, spec) === null || link.session === null) return null;
  const guard = (act: (session: VoiceSession) => void) => {
    const { session } = link;
    if (session === null) return;
    try {
      act(session);
    } catch (error) {
      session.self.tell('fault', error);
    }
  };
  return {
    opened: (socket) =>
      guard((session) => {
        session.socket = socket;
      }),
    message(data, isBinary) {
      const { session } = link;
      if (session === null) return;
      try {
        takeMessage(session, data, isBinary);
      } catch (error) {
        session.self.tell('fault', error);
      }
    },
    closed: () => guard(clientGone),
  };
}
