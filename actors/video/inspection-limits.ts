// The bounds within which files of video are looked at, with the arithmetic behind them.
import assert from 'node:assert/strict';
import type { Widened } from '../../runtime/limits.ts';

const MIB = 1_024 * 1_024;
const SECOND = 1_000;

/** Generated videos (shared/spec/video.md, section 5) and sources (section 7). */
export const videoInspectionLimits = {
  /** Generated videos have a thread, and so do sources. A neighbour finds a second one. */
  threadsMax: 1,
  queueLengthMax: 64,
  idleMs: 120 * SECOND,
  /** Decoders of 16 megapixels, and 384 MiB of pictures in all groups of frames. */
  toolMemoryBytesMax: 1_024 * MIB,
  /** Reading an index or key frames; decoding. A source is read by two of the first and one. */
  quickCpuSecondsMax: 10,
  patientCpuSecondsMax: 40,
  sourceCpuSecondsMax: 60,
  /** A process uses one core at most. */
  videoProgramMs: 50 * SECOND,
  sourceProgramMs: 90 * SECOND,
  /** A file has so long, with its wait for a thread. 300 KB take 0.2 s. */
  videoMs: 110 * SECOND,
  sourceMs: 280 * SECOND,
} as const;

export type VideoInspectionLimits = Widened<typeof videoInspectionLimits>;

/** The bounds of this process. Throws where one breaks a relation to others. */
export function createVideoInspectionLimits(): VideoInspectionLimits {
  const limits: VideoInspectionLimits = videoInspectionLimits;
  const { quickCpuSecondsMax, patientCpuSecondsMax, sourceCpuSecondsMax } = limits;
  assert.ok(
    2 * quickCpuSecondsMax + patientCpuSecondsMax <= sourceCpuSecondsMax,
    'the programs that read a source have its CPU time together',
  );
  assert.ok(
    patientCpuSecondsMax * SECOND < Math.min(limits.videoProgramMs, limits.sourceProgramMs),
    'a program that spins ends by itself',
  );
  assert.ok(
    2 * limits.videoProgramMs < limits.videoMs && 3 * limits.sourceProgramMs < limits.sourceMs,
    'a program that waits is ended before its task',
  );
  return limits;
}
