// The state of one voice session. Its actor owns it; frames and upstream events change it by direct
// calls in the same thread, never while a handler waits: no handler does.
import type { SessionUsage } from '../../db/voice/sessions.ts';
import type { Lane } from '../../media/audio/lanes/lanes.ts';
import { Playout } from '../../media/audio/playout/playout.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { LiveCall } from '../../media/providers/live/contract.ts';
import type { ActorContext, ActorRef } from '../../runtime/actor/contract.ts';
import type { ClientSocket } from '../../runtime/http/route.ts';
import { siblingId } from '../../runtime/ids.ts';
import { firstPayment, type Payment } from '../billed-request/fallback.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Probe } from '../provider-health/breaker.ts';
import type { EndReason } from './events.ts';
import { type Bucket, fullBucket } from './frame-rate.ts';
import { voiceLimits } from './limits.ts';
import type { VoiceSessionProtocol } from './protocol.ts';
import type { VoiceDeps, VoiceSpec } from './spec.ts';
import type { StartMessage } from './start.ts';
import { noUsage, type Tariff } from './tariff.ts';
import type { TurnState } from './turn.ts';

/** The call of a session, as its route's health sees it. */
export interface RouteUse {
  routeId: string;
  /** Of its breaker. */
  probe: Probe;
  /** Epoch milliseconds, the clock of the health. */
  startedMs: number;
  /** How long the thread had stood still by then. */
  stoodMs: number;
  isReady: boolean;
  /** Providers bill answers, not sessions. */
  isFree: true;
}

/** What a valid start has decided. */
export interface Started {
  message: StartMessage;
  model: CatalogModel;
  upstreamVoice: string;
  tariff: Tariff;
  /** Those that are left to try. */
  targets: UpstreamTarget[];
}

/** The money of a session. */
export interface SessionFunds {
  /** `none`: never asked for; `asked`: nobody knows yet. */
  state: 'none' | 'asked' | 'held' | 'unknown' | 'refused';
  heldMicros: bigint;
  /** Counts the extensions. */
  step: number;
  extending: boolean;
  /** The wallet had nothing left when it was last asked. */
  isEmpty: boolean;
  /** Since when more is due than the hold has; null: it covers what is due. */
  uncoveredAtMs: number | null;
  usage: SessionUsage;
  dueMicros: bigint;
  dueProviderMicros: bigint;
  /** Differs from what was last written. */
  dirty: boolean;
  /** Sound since the last report of usage, sent to the upstream and received from it. */
  unreportedInMs: number;
  unreportedOutMs: number;
  /** Of the latter what nobody was given. */
  unheardMs: number;
  /** The longest conversation that a report has counted: the next one counts it again. */
  history: { speechTokens: number; textTokens: number };
  /** Of it what the last report counted. */
  counted: { speechTokens: number; textTokens: number };
  /** When usage was last reported, or the session went live. */
  reportedAtMs: number;
  /** What of the sent sound came before the last of the received one: that it answers. */
  answeredInMs: number;
  /** Sound of answers whose usage never came; estimated at the end. */
  missedInMs: number;
  missedOutMs: number;
  estimated: boolean;
  retries: number;
}

/** A tool call that runs; its abort ends what it waits for. */
export interface RunningTool {
  name: string;
  controller: AbortController;
}

export interface VoiceSession {
  readonly deps: VoiceDeps;
  readonly spec: VoiceSpec;
  readonly self: ActorRef<VoiceSessionProtocol>;
  readonly context: ActorContext<VoiceSessionProtocol>;
  readonly holdId: string;
  /** Who holds for it, and settles it. */
  readonly payment: Payment;
  /** waiting (for the start) → starting (hold and upstream) → live → ending → over. */
  phase: 'waiting' | 'starting' | 'live' | 'ending' | 'over';
  turn: TurnState;
  socket: ClientSocket | null;
  /** Of its key: how many connections it may have at once. */
  hasPermit: boolean;
  openedMs: number;
  /** When its start was accepted. */
  acceptedMs: number;
  started: Started | null;
  call: LiveCall | null;
  callReady: boolean;
  /** Whose verdict is open; null: nobody's. */
  route: RouteUse | null;
  lane: Lane | null;
  /** Frames that came before the upstream was ready; null: there were none. */
  early: Uint8Array[] | null;
  readonly playout: Playout;
  /** The upstream waits until what there is was heard. */
  paused: boolean;
  /** The item that was sent last. */
  itemId: string | null;
  /** An answer was begun and its end did not come. */
  answering: boolean;
  /** Since when the user waits for an answer; null: does not. */
  awaitedSinceMs: number | null;
  /** The assistant's utterance as far as it was told, until its final form. */
  partial: string;
  /** Of which item. */
  partialItemId: string | null;
  /** How much of that utterance was told as final before, since it is long. */
  toldCharacters: number;
  /** The user's utterance of which parts come after its answer, and when the last one came. */
  late: { text: string; atMs: number } | null;
  tools: Map<string, RunningTool> | null;
  readonly frames: Bucket;
  readonly controls: Bucket;
  /** Frames beyond the rate that were dropped lately. */
  excessFrames: number;
  malformed: number;
  /** The newest frame was shorter than the others: no mistake, unless another one follows. */
  wasShort: boolean;
  /** When anything was last heard or said, for the idle timeout. */
  lastSoundMs: number;
  endsAtMs: number;
  /** That its upstream has told of. */
  problems: number;
  /** When the upstream said anything. */
  lastWordMs: number;
  /** When an upstream that is going away is left. */
  leaveAtMs: number;
  readonly funds: SessionFunds;
  endReason: EndReason | 'client_gone' | 'rejected' | null;
  /** The client was told of the end, or is gone. */
  told: boolean;
  endDueMs: number;
  /** For what its client did. */
  isExpelled: boolean;
  settling: boolean;
}

export function newSession(
  deps: VoiceDeps,
  spec: VoiceSpec,
  context: ActorContext<VoiceSessionProtocol>,
): VoiceSession {
  const nowMs = performance.now();
  const { frameBurstMs, controlBurst, controlEveryMs } = voiceLimits;
  return {
    deps,
    spec,
    self: context.self,
    context,
    holdId: siblingId(spec.id, 'hold'),
    payment: firstPayment(spec),
    phase: 'waiting',
    turn: 'connecting',
    socket: null,
    hasPermit: true,
    openedMs: nowMs,
    acceptedMs: nowMs,
    started: null,
    call: null,
    callReady: false,
    route: null,
    lane: null,
    early: null,
    playout: new Playout(deps.budget),
    paused: false,
    itemId: null,
    answering: false,
    awaitedSinceMs: null,
    partial: '',
    partialItemId: null,
    toldCharacters: 0,
    late: null,
    tools: null,
    frames: fullBucket(frameBurstMs, 1.25, nowMs),
    controls: fullBucket(controlBurst * controlEveryMs, 1, nowMs),
    excessFrames: 0,
    malformed: 0,
    wasShort: false,
    lastSoundMs: nowMs,
    endsAtMs: Number.POSITIVE_INFINITY,
    problems: 0,
    lastWordMs: nowMs,
    leaveAtMs: Number.POSITIVE_INFINITY,
    funds: newFunds(nowMs),
    endReason: null,
    told: false,
    endDueMs: Number.POSITIVE_INFINITY,
    isExpelled: false,
    settling: false,
  };
}

function newFunds(nowMs: number): SessionFunds {
  return {
    state: 'none',
    heldMicros: 0n,
    step: 0,
    extending: false,
    isEmpty: false,
    uncoveredAtMs: null,
    usage: { ...noUsage },
    dueMicros: 0n,
    dueProviderMicros: 0n,
    dirty: false,
    unreportedInMs: 0,
    unreportedOutMs: 0,
    unheardMs: 0,
    history: { speechTokens: 0, textTokens: 0 },
    counted: { speechTokens: 0, textTokens: 0 },
    reportedAtMs: nowMs,
    answeredInMs: 0,
    missedInMs: 0,
    missedOutMs: 0,
    estimated: false,
    retries: 0,
  };
}

/** Sends an event; a client that is gone hears nothing. */
export function send(session: VoiceSession, event: string): void {
  session.socket?.text(event);
}
