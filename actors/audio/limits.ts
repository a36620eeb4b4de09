// The bounds of speech and transcription, with the arithmetic behind them.
import assert from 'node:assert/strict';
import type { KernelLimits, Widened } from '../../runtime/limits.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Speech and transcription (specification 2.2 and 2.3). */
export const audioLimits = {
  charactersMax: 4_096,
  fileBytesMax: 3 * MIB,
  /** A recording of 3 MiB, and its fields. */
  transcriptionBytesMax: 3 * MIB + 64 * KIB,
  secondsMax: 120,
  /** 4,096 characters are 5 minutes: 15 MB of 24 kHz PCM, 48 MB where the voice is slow. */
  speechBytesMax: 64 * MIB,
  /** Of one transcript. */
  transcriptBytesMax: MIB,
  /** Beside its hold: decoding 120 s takes 0.3 s, several at once on a slow core more. */
  inspectTimeoutMs: 15_000,
  /** Recordings that are looked at, each by one process at a time, or wait for it. */
  inspectThreadsMax: 2,
  inspectQueueLengthMax: 64,
  /**
   * Recordings in the memory of one shard, waiting or on their way: 85 of the largest. One account
   * has half of it at most.
   */
  recordingBytesMax: 256 * MIB,
  /** Loading the threads again costs 60 ms. */
  inspectIdleMs: 120_000,
  /** Of the tools that read what strangers send. */
  toolMemoryBytesMax: 768 * MIB,
  toolCpuSecondsMax: 10,
  /** A decoder is ended before the task that waits for it, and nobody leaves one behind. */
  decodeTimeoutMs: 13_000,
  /** Read ahead of a client that is slow. */
  aheadBytesMax: 256 * KIB,
  /** A client that let the provider wait this long in all is why the provider gave up. */
  slowMs: 5_000,
  runningMax: 4_096,
  keptMs: 24 * 3_600_000,
  /** A private file that should be gone by now. */
  leftoverMs: 10 * 60_000,
} as const;

export type AudioLimits = Widened<typeof audioLimits>;

/** The bounds of audio in this process. Throws where one breaks a relation to others. */
export function createAudioLimits({ upstream }: KernelLimits): AudioLimits {
  const { toolCpuSecondsMax, decodeTimeoutMs, inspectTimeoutMs, runningMax } = audioLimits;
  assert.ok(
    toolCpuSecondsMax * 1_000 < decodeTimeoutMs && decodeTimeoutMs < inspectTimeoutMs,
    'a tool that spins ends by itself, one that waits before its task',
  );
  assert.ok(
    upstream.connectionsPerOriginMax >= runningMax,
    'no call that may run waits for the connection of another one',
  );
  return audioLimits;
}
