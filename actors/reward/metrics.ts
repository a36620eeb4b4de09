// What a thread counts of rewards.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export interface RewardMetrics {
  /** `outcome`: approved, rejected, review, later. */
  judged(outcome: string): void;
}

export function createRewardMetrics(registry: MetricsRegistry): RewardMetrics {
  return {
    judged: registry.counter('tollgate_rewards_judged_total', 'Evidence that was judged.', [
      'outcome',
    ]),
  };
}
