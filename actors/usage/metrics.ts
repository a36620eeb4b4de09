// What the main thread counts of usage.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export interface UsageMetrics {
  /** Rows of quarters that were not what the rows below them say. */
  repaired(count: number): void;
}

/** Declares them in the registry of the thread. */
export function createUsageMetrics(registry: MetricsRegistry): UsageMetrics {
  const repaired = registry.sum(
    'tollgate_usage_repairs_total',
    'Sums of usage that the nightly comparison made right.',
    [],
  );
  return { repaired: (count) => repaired(count) };
}
