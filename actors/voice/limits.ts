// The bounds of a voice session, with the arithmetic behind them, and what they must be to others.
import assert from 'node:assert/strict';
import { utteranceCharactersMax } from '../../media/providers/live/contract.ts';
import type { Config } from '../../runtime/config.ts';
import type { Widened } from '../../runtime/limits.ts';
import type { LedgerLimits } from '../wallet/limits.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** One voice connection (specification, 2.1 and 8; decisions.md, section 4). */
export const voiceLimits = {
  /** 512 samples at 16 kHz: 32 ms. */
  frameBytes: 1_024,
  frameMs: 32,
  startBytesMax: 32 * KIB,
  /**
   * What is over its own bound is told so; what is far over it ends the connection. The server
   * keeps a message until it is whole: 256 MiB when 1,000 sessions send their longest at once.
   */
  messageBytesMax: 256 * KIB,
  startMs: 5_000,
  /** Frames that are kept until the upstream is ready. */
  earlyAudioMs: 2_000,
  ticketMs: 60_000,
  continuationMs: 600_000,
  /** The next malformed message ends the session. */
  malformedMax: 3,
  /** What a network that stalled may send at once, and how much of a flood is only dropped. */
  frameBurstMs: 5_000,
  frameExcessMs: 5_000,
  /** Control messages of a client, all of which are answered: far more than hands can send. */
  controlBurst: 1_000,
  controlEveryMs: 10,
  /** Far more than lie unread after a standstill: 60 s of sound are 1,875 frames. */
  framesPerSecondMax: 4_096,
  /** What a client has not read of what was sent: 48 bytes a millisecond of audio. */
  slowMs: 5_000,
  bufferedBytesMax: 512 * KIB,
  /** A client that answers no ping for this long is gone. */
  silenceSeconds: 20,
  /** How often audio that waits is looked at, within its lead of 200 ms; and deadlines. */
  tickMs: 40,
  watchMs: 200,
  connectMs: 5_000,
  readyMs: 5_000,
  /** From the start message to `session.ready`, however many upstreams are tried. */
  startingMs: 15_000,
  /** A transcript that comes after its answer is complete when no part came for this long. */
  lateTranscriptMs: 1_000,
  utteranceCharactersMax,
  /** After the end the upstream may report what it still owes, and the client is told by then. */
  lingerMs: 4_000,
  lastWordsMs: 1_000,
  /** From a client's last mistake to the end of its session. */
  expelledMs: 1_000,
  /** What an upstream may generate of an answer until it is left, faster than it is heard. */
  aheadMs: 30_000,
  /** An upstream that owes the rest of an answer and says nothing for this long is lost. */
  stalledMs: 30_000,
  /** An upstream that is going away is left this long before it goes. */
  goingAwayMs: 3_000,
  /** Of one session's upstream, half a kilobyte each; what comes after them is counted. */
  problemsLoggedMax: 20,
  holdMarginMs: 120_000,
  /** A ledger that is away is asked for what is due beyond the hold until the session ends. */
  uncoveredMs: 15_000,
  toolMs: 10_000,
  toolCallsMax: 8,
  checkpointMs: 1_000,
  checkpointRowsMax: 500,
  /** Audio that waits for clients, of the whole process. */
  audioBytesMax: 512 * MIB,
  mailboxLengthMax: 64,
} as const;

export type VoiceLimits = Widened<typeof voiceLimits> & {
  readonly secondsMax: number;
  readonly contextCharactersMax: number;
  readonly idleMs: number;
  /** Of each shard. */
  readonly sessionsMax: number;
};

/** The bounds of voice in this process. Throws where one breaks a relation to others. */
export function createVoiceLimits(config: Config, ledger: LedgerLimits): VoiceLimits {
  const voice = voiceLimits;
  assert.ok(
    voice.lingerMs + voice.startingMs < voice.holdMarginMs,
    'the hold of a voice session outlives its start, its longest duration and its last usage',
  );
  assert.ok(voice.connectMs + voice.readyMs < voice.startingMs, 'a second upstream has its time');
  assert.ok(2 * ledger.askTimeoutMs < voice.uncoveredMs, 'a ledger that is away is asked twice');
  assert.ok(48 * voice.slowMs < voice.bufferedBytesMax, 'a slow client is ended before it loses');
  assert.ok(
    voice.controlBurst + 60_000 / voice.frameMs < voice.framesPerSecondMax,
    'a client that was not read for a minute is no flood',
  );
  assert.ok(voice.startBytesMax < voice.messageBytesMax, 'a start that is too long is told so');
  return {
    ...voice,
    secondsMax: config.voiceSecondsMax,
    contextCharactersMax: config.voiceContextChars,
    idleMs: config.voiceIdleSeconds * 1_000,
    sessionsMax: config.voiceSessionsMax,
  };
}
