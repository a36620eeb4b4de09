// What a thread counts of searches. Labels are of our own words: no provider and no query is one.
import type { SearchOutcome } from '../../media/search/contract.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export interface SearchMetrics {
  attempt(surface: string, state: SearchOutcome['state'] | 'skipped'): void;
  /** `hit`: kept. `shared`: of an equal search that was under way. `miss`: asked for. */
  found(surface: string, how: 'hit' | 'shared' | 'miss'): void;
}

export function createSearchMetrics(registry: MetricsRegistry): SearchMetrics {
  return {
    attempt: registry.counter(
      'tollgate_search_attempts_total',
      'Targets of search surfaces that were asked or passed over, by what came of it.',
      ['surface', 'state'],
    ),
    found: registry.counter(
      'tollgate_search_found_total',
      'Searches by how they were answered: kept, shared with an equal one, asked for.',
      ['surface', 'how'],
    ),
  };
}
