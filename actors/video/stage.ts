// The life of a job as a table: which moves there are, what a row needs next, and how long that may
// take. It is pure. Whoever takes a job over goes on from here.

import type { VideoJobStatus } from '../../db/video-jobs/rows.ts';
import type { VideoJob } from '../../db/video-jobs.ts';
import type { VideoLimits } from './limits.ts';
import type { JobError } from './problems.ts';

/** decisions.md, section 7. */
export const moves: Readonly<Record<VideoJobStatus, readonly VideoJobStatus[]>> = {
  queued: ['submitting', 'cancelled', 'failed'],
  submitting: ['running', 'failed'],
  running: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
  cancelled: [],
};

export function isFinal(status: VideoJobStatus): boolean {
  return moves[status].length === 0;
}

/**
 * `submit`: nobody has been asked, or whoever was has refused for certain. `lookUp`: somebody may
 * have taken it. `poll`: a provider makes it. `fetch`: it is done there. `settle`: it is stored.
 */
export type Stage = 'submit' | 'lookUp' | 'poll' | 'fetch' | 'settle' | 'over';

type StageFacts = Pick<VideoJob, 'status' | 'attemptOpen' | 'finalizingMs' | 'storedMs'>;

/** What is to be done next. */
export function stageOf({ status, attemptOpen, finalizingMs, storedMs }: StageFacts): Stage {
  if (isFinal(status)) return 'over';
  if (status === 'queued') return 'submit';
  if (status === 'submitting') return attemptOpen ? 'lookUp' : 'submit';
  if (storedMs !== null) return 'settle';
  return finalizingMs === null ? 'poll' : 'fetch';
}

export interface Deadline {
  /** The database's clock decides. */
  atMs: number;
  /** What a job fails with then. */
  code: JobError;
}

type DeadlineFacts = StageFacts &
  Pick<VideoJob, 'createdMs' | 'submittingMs' | 'runningMs' | 'deadlineMs'>;

/** When the stage ends without success. `minutesMax` is that of the candidate. */
export function deadlineOf(job: DeadlineFacts, minutesMax: number, limits: VideoLimits): Deadline {
  const { createdMs, submittingMs, runningMs, finalizingMs } = job;
  switch (stageOf(job)) {
    case 'submit':
      if (job.status === 'queued') {
        return { atMs: createdMs + limits.queuedForMs, code: 'queue_timeout' };
      }
      return {
        atMs: (submittingMs ?? createdMs) + limits.submittingForMs,
        code: 'no_route_available',
      };
    case 'lookUp':
      return {
        atMs: (submittingMs ?? createdMs) + limits.submittingForMs,
        code: 'submission_unknown',
      };
    case 'poll':
      return {
        atMs: (runningMs ?? createdMs) + runningFor(minutesMax, limits),
        code: 'provider_timeout',
      };
    case 'fetch':
      return {
        atMs: (finalizingMs ?? createdMs) + limits.finalizingForMs,
        code: 'download_failed',
      };
    default:
      return { atMs: job.deadlineMs, code: 'internal' };
  }
}

function runningFor(minutesMax: number, { haste }: VideoLimits): number {
  return Math.ceil((minutesMax * 60_000) / haste);
}

/** The longest that a job and its hold may live, from its creation. */
export function longestLifeMs(minutesMax: number, limits: VideoLimits): number {
  const { queuedForMs, submittingForMs, storingForMs, holdMarginMs } = limits;
  return (
    queuedForMs + submittingForMs + runningFor(minutesMax, limits) + storingForMs + holdMarginMs
  );
}
