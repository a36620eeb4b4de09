// What a thread counts of analyses.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export interface AnalysisMetrics {
  created(): void;
  /** `outcome` is `completed` or the code of the failure. */
  ended(outcome: string): void;
  /** From the creation of an analysis to its result. */
  lasted(seconds: number): void;
}

const FINAL_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 900, 2_700];

/** Declares them in the registry of the thread. */
export function createAnalysisMetrics(registry: MetricsRegistry): AnalysisMetrics {
  const lasted = registry.histogram({
    name: 'tollgate_video_analysis_seconds',
    help: 'From the creation of a video analysis to its result.',
    bounds: FINAL_SECONDS,
  });
  const created = registry.counter(
    'tollgate_video_analyses_created_total',
    'Video analyses that were asked for.',
    [],
  );
  return {
    created: () => created(),
    ended: registry.counter('tollgate_video_analyses_total', 'Video analyses that ended.', [
      'outcome',
    ]),
    lasted: (seconds) => lasted.observe(seconds),
  };
}
