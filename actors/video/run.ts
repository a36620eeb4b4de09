// One process's work on one job, under one epoch. Every write of it names the epoch, so a run that
// was replaced changes nothing. Its clock is the database's, as it was when the job was taken.
import { takeVideoJob } from '../../db/video-jobs/moves.ts';
import type { VideoJob } from '../../db/video-jobs.ts';
import type { VideoSettings } from '../../media/model/video.ts';
import type { VideoFile } from '../../media/providers/video/contract.ts';
import type { LeasedWork } from '../../runtime/work/leases.ts';
import { pause } from '../../runtime/work/pause.ts';
import type { Candidate } from './candidates.ts';
import type { VideoDeps } from './deps.ts';
import type { JobError } from './problems.ts';
import { deadlineOf } from './stage.ts';

/** What a step of the work leads to. */
export type Step =
  /** The row has moved: its next stage says what is to be done. */
  | { kind: 'next' }
  /** The job fails, and nothing is charged. */
  | { kind: 'fail'; code: JobError }
  /** It is somebody else's, or over, or this run was told to stop. */
  | { kind: 'gone' };

export const next: Step = { kind: 'next' };
export const gone: Step = { kind: 'gone' };

export function fail(code: JobError): Step {
  return { kind: 'fail', code };
}

export class Run implements LeasedWork {
  readonly deps: VideoDeps;
  /** As the row stands; steps change it with the row. */
  readonly job: VideoJob;
  readonly candidates: readonly Candidate[];
  /** Where the provider says that the file is; null: it has to be asked. */
  file: VideoFile | null = null;
  progress: number;
  readonly #stopping = new AbortController();
  readonly #losing = new AbortController();
  readonly #offsetMs: number;

  constructor(deps: VideoDeps, job: VideoJob) {
    this.deps = deps;
    this.job = job;
    this.candidates = JSON.parse(job.candidates) as Candidate[];
    this.progress = job.progress;
    this.#offsetMs = job.nowMs - performance.now();
  }

  get id(): string {
    return this.job.id;
  }

  get epoch(): number {
    return this.job.epoch;
  }

  /** Told to stop: waits, polls and downloads are cut off. A submission is not. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Replaced: nothing that it does counts. */
  get lostSignal(): AbortSignal {
    return this.#losing.signal;
  }

  stop(): void {
    this.#stopping.abort();
  }

  lost(): void {
    this.#losing.abort();
    this.#stopping.abort();
  }

  /** Epoch milliseconds by the database's clock. */
  nowMs(): number {
    return Math.round(performance.now() + this.#offsetMs);
  }

  /** The candidate of the submission. */
  get candidate(): Candidate | null {
    return this.candidates[this.job.candidate ?? -1] ?? null;
  }

  deadline() {
    const longest = Math.max(...this.candidates.map(({ minutesMax }) => minutesMax), 1);
    const minutesMax = this.candidate?.minutesMax ?? longest;
    return deadlineOf(this.job, minutesMax, this.deps.limits);
  }

  /** Waits, but no longer than to the deadline of the stage. */
  pause(ms: number): Promise<void> {
    return this.pauseUntil(ms, this.deadline().atMs);
  }

  pauseUntil(ms: number, untilMs: number): Promise<void> {
    return this.pauseFor(Math.max(0, Math.min(ms, untilMs - this.nowMs())));
  }

  pauseFor(ms: number): Promise<void> {
    return pause(ms, this.signal);
  }

  settings(): VideoSettings {
    const { prompt, durationSeconds, aspectRatio, resolution, generateAudio, seed } = this.job;
    return {
      prompt,
      durationSeconds,
      aspectRatio: aspectRatio as VideoSettings['aspectRatio'],
      resolution: resolution as VideoSettings['resolution'],
      generateAudio,
      seed,
    };
  }
}

/** Takes the job and keeps its lease; null: others work on it, or nobody has to. */
export async function startRun(
  deps: VideoDeps,
  id: string,
  taking: Pick<Parameters<typeof takeVideoJob>[2], 'fromOthers' | 'statuses'>,
): Promise<Run | null> {
  const { leaseMs } = deps.limits;
  const job = await takeVideoJob(deps.sql, id, { leaseMs, ...taking });
  return job === null ? null : new Run(deps, job);
}
