// The bounds of analyses (the specification of video, section 7), and the waits between tries.
import assert from 'node:assert/strict';
import type { Config } from '../../runtime/config.ts';
import type { Widened } from '../../runtime/limits.ts';
import { hastened } from '../video/haste.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const analysisLimits = {
  promptCharactersMax: 8_000,
  urlCharactersMax: 2_048,
  framesMax: 64,
  framesUsual: 16,
  /** An account has so many that wait or run. */
  openMax: 5,
  /** All accounts together have so many that wait. */
  queuedMax: 1_000,
  /** At once in a process. Their frames are in memory: 16 MiB of each. */
  runningMax: 2,
  queuedForMs: 30 * MINUTE,
  runningForMs: 15 * MINUTE,
  leaseMs: 15 * SECOND,
  renewMs: 5 * SECOND,
  /** One that nobody has for so long is put into the queue again. */
  leftMs: 5 * SECOND,
  leftMax: 500,
  askMs: 10 * SECOND,
  /** A shard that does not answer is asked again. */
  nextMs: 500,
  /** Work that breaks is begun again so often, with twice the pause each time: 31 s in all. */
  triesMax: 6,
  againMs: SECOND,
  againMsMax: 15 * SECOND,
  /** A service that is busy, and money that is not there for others, are waited for so long. */
  busyForMs: 2 * MINUTE,
  /** A generation that failed for nothing is begun once more. */
  failuresMax: 2,
  cancelWaitMs: 5 * SECOND,
  writeRetryMsMax: 2 * SECOND,
  sweptMax: 200,
} as const;

/** Waits that a test may shorten. */
const hasty = [
  'queuedForMs',
  'runningForMs',
  'leaseMs',
  'renewMs',
  'leftMs',
  'askMs',
  'againMs',
  'againMsMax',
  'busyForMs',
] as const satisfies (keyof typeof analysisLimits)[];

type AnalysisBounds = Readonly<Widened<typeof analysisLimits>>;

export type AnalysisLimits = AnalysisBounds & {
  /** How long they are kept behind their end; 0: for ever. */
  readonly keptMs: number;
};

export function createAnalysisLimits({
  videoDays,
  videoHaste,
}: Pick<Config, 'videoDays' | 'videoHaste'>): AnalysisLimits {
  assert.ok(analysisLimits.renewMs * 2 < analysisLimits.leaseMs, 'one renewal may fail');
  return {
    ...hastened<AnalysisBounds, (typeof hasty)[number]>(analysisLimits, hasty, videoHaste),
    keptMs: videoDays * 24 * 60 * MINUTE,
  };
}
