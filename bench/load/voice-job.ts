// What the processes of the voice benches are asked for and what they answer: plain data over the
// IPC channel of a forked process, one question at a time.
import type { SessionOrder } from './voice-wire.ts';

export interface VoiceTarget {
  host: string;
  port: number;
  /** With the order in its query where the contender has no start message. */
  path: string;
  headers: Record<string, string>;
  /** `svc`: svc.voice.v1 with this voice; `raw`: binary messages both ways, nothing else. */
  wire: { kind: 'svc'; voiceId: string } | { kind: 'raw' };
}

/** What a session does beside talking. */
export type Abuse =
  /** Text and binary messages that mean nothing. */
  | 'garbage'
  /** Ten times the frames. */
  | 'flood'
  /** Reads nothing, while its upstream answers in bursts. */
  | 'deaf';

export type VoiceJob =
  /** Opens sessions that talk once they are ready; answers when all are, or failed. */
  | {
      kind: 'open';
      target: VoiceTarget;
      sessions: number;
      /** Number of the first session: they are named by number over all jobs. */
      first: number;
      mode: SessionOrder['mode'];
      deltaMs: number;
      perSecond: number;
      /** False: each is ended as soon as it is ready. */
      stay: boolean;
      /** A session that was ended as renewable is opened again, under its number. */
      renew: boolean;
      abuse: Abuse | null;
    }
  /** Forgets what was measured, and answers with what came within the time. */
  | { kind: 'measure'; durationMs: number; bargeEveryMs: number | null }
  /** Ends sessions by `end`, all from this number on; answers when they are closed. */
  | { kind: 'close'; from: number };

export interface Percentiles {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

export interface Opened {
  ready: number;
  failed: number;
  /** The first failure, in words. */
  failure: string;
  /** From the upgrade request to `session.ready`. */
  startMs: Percentiles;
  /** When the last one was ready, less when the first one was begun. */
  elapsedMs: number;
}

export interface Measured {
  /** Sessions that ended or failed meanwhile, abusing ones apart. */
  lost: number;
  failure: string;
  /** Sessions that began anew after a renewable end. */
  renewed: number;
  elapsedMs: number;
  framesSent: number;
  /** Those since the measurement before: what an upstream saw in all has to be all of them. */
  framesSentBefore: number;
  outputMessages: number;
  outputBytes: number;
  /** From the delta at the upstream to the message that has it. */
  downMs: Percentiles;
  /** From `barge_in` to `playback.clear`. */
  bargeMs: Percentiles;
  /** How late the generator's own frames were: it must not be the bottleneck. */
  lateMs: Percentiles;
  /** When each session sent its onsets, in milliseconds of the machine's clock. */
  onsets: [session: number, times: number[]][];
  /** How much further each answer's audio was ahead of the clock at its end than early in it. */
  driftMs: Percentiles;
  generatorCpuMicros: number;
}

/** What the upstream saw since it was last asked. */
export interface Seen {
  onsets: [session: number, times: number[]][];
  /** As much audio as so many frames have. */
  frames: number;
  open: number;
  cpuMicros: number;
}

export type UpstreamJob = { kind: 'port' } | { kind: 'seen' };
