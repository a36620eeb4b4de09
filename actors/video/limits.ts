// The bounds of video jobs, with the deadlines of their stages.
import assert from 'node:assert/strict';
import type { Config } from '../../runtime/config.ts';
import type { Widened } from '../../runtime/limits.ts';
import { hastened } from './haste.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const videoLimits = {
  promptCharactersMax: 32_000,
  titleCharactersMax: 80,
  candidatesMax: 3,
  /** Jobs of all accounts that nobody has submitted. */
  queuedMax: 10_000,
  /** How long a count of those is good. */
  queuedFreshMs: SECOND,
  leaseMs: 15 * SECOND,
  renewMs: 5 * SECOND,
  /** A job that nobody has for so long is put into the queue again. */
  leftMs: 5 * SECOND,
  leftMax: 500,
  queuedForMs: 30 * MINUTE,
  submittingForMs: 10 * MINUTE,
  finalizingForMs: 10 * MINUTE,
  /** With a store that does not answer. */
  storingForMs: 120 * MINUTE,
  /** A hold goes on behind the last deadline of its job. */
  holdMarginMs: 30 * MINUTE,
  /** A submission whose reply was lost is looked for. */
  lookUpMs: 2 * MINUTE,
  lookUpEveryMs: 5 * SECOND,
  /** A provider does not know a job that it had. */
  lostMs: 3 * MINUTE,
  /** Between two looks for a free slot. */
  slotMs: 500,
  /** A refusal that names no time. */
  refusedMs: 5 * SECOND,
  /** A provider that asks for more is asked again after this. */
  retryAfterMsMax: MINUTE,
  pollJitter: 0.2,
  /** The file is asked for anew so many times. */
  linksMax: 3,
  storeMs: 120 * SECOND,
  inspectMs: 120 * SECOND,
  /** What a route takes whose videos nobody has timed. */
  durationMsGuess: MINUTE,
  durationsKept: 20,
  ledgerRetryMsMax: 2 * SECOND,
  /** How long a submission, a poll or a look-up may take. */
  call: { connectMs: 5 * SECOND, headersMs: 30 * SECOND, totalMs: 40 * SECOND },
  /** Actors of one process that wait or run. */
  workedMax: 2_000,
  askMs: 10 * SECOND,
  /** How long a route waits for an end that it asked for. */
  endMs: 10 * SECOND,
  reasonCharactersMax: 200,
  qualityBand: 5,
} as const;

/** Waits that a test may shorten; all in milliseconds. */
const hasty = [
  'leaseMs',
  'renewMs',
  'leftMs',
  'queuedForMs',
  'submittingForMs',
  'finalizingForMs',
  'storingForMs',
  'holdMarginMs',
  'lookUpMs',
  'lookUpEveryMs',
  'lostMs',
  'slotMs',
  'refusedMs',
  'askMs',
] as const satisfies (keyof typeof videoLimits)[];

type VideoBounds = Readonly<Widened<typeof videoLimits>>;

export type VideoLimits = VideoBounds & {
  /** Open jobs of one account. */
  readonly jobsMax: number;
  /** How long files are kept; 0: until they are removed. */
  readonly keptMs: number;
  /** What waits are divided by. */
  readonly haste: number;
};

export function createVideoLimits({
  videoJobsMax,
  videoDays,
  videoHaste,
}: Pick<Config, 'videoJobsMax' | 'videoDays' | 'videoHaste'>): VideoLimits {
  assert.ok(videoLimits.renewMs * 2 < videoLimits.leaseMs, 'one renewal may fail');
  return {
    ...hastened<VideoBounds, (typeof hasty)[number]>(videoLimits, hasty, videoHaste),
    jobsMax: videoJobsMax,
    keptMs: videoDays * 24 * 60 * MINUTE,
    haste: videoHaste,
  };
}
