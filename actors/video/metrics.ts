// What a thread counts of video jobs.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export interface VideoMetrics {
  created(): void;
  /** `outcome` is `succeeded`, `cancelled` or the code of the failure. */
  ended(outcome: string): void;
  /** `outcome` is what was understood of the reply. */
  submitted(outcome: string): void;
  /** A poll whose reply says nothing of the job, by why. */
  pollFailed(why: string): void;
  /** From the creation of a job to its success. */
  lasted(seconds: number): void;
}

const FINAL_SECONDS = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];

/** Declares them in the registry of the thread. */
export function createVideoMetrics(registry: MetricsRegistry): VideoMetrics {
  const lasted = registry.histogram({
    name: 'tollgate_video_job_seconds',
    help: 'From the creation of a video job to its success.',
    bounds: FINAL_SECONDS,
  });
  const created = registry.counter('tollgate_video_jobs_created_total', 'Video jobs made.', []);
  return {
    created: () => created(),
    ended: registry.counter('tollgate_video_jobs_total', 'Video jobs that ended.', ['outcome']),
    submitted: registry.counter(
      'tollgate_video_submissions_total',
      'Submissions to video providers, by what their reply meant.',
      ['outcome'],
    ),
    pollFailed: registry.counter(
      'tollgate_video_polls_failed_total',
      'Polls of video providers that said nothing of the job.',
      ['why'],
    ),
    lasted: (seconds) => lasted.observe(seconds),
  };
}
