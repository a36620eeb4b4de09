// What the main thread counts of exports and erasings.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export interface PersonalDataMetrics {
  /** `ready`, or `broken` where it is begun again or given up. */
  exported(outcome: 'ready' | 'broken'): void;
  erased(): void;
}

/** Declares them in the registry of the thread. */
export function createPersonalDataMetrics(registry: MetricsRegistry): PersonalDataMetrics {
  const exported = registry.counter(
    'tollgate_account_exports_total',
    'Copies of the data of accounts, by what came of making them.',
    ['outcome'],
  );
  const erased = registry.counter(
    'tollgate_account_erasures_total',
    'Accounts of which nothing personal is left.',
    [],
  );
  return { exported: (outcome) => exported(outcome), erased: () => erased() };
}
