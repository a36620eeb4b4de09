// What a thread counts of queries. The surface is one of a fixed list; nothing a caller wrote is in
// a label.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export type QueryOutcome =
  | 'found'
  | 'partial'
  | 'empty'
  | 'failed'
  | 'left'
  /** It was in the account's own cache. */
  | 'kept'
  /** It was told again under its key. */
  | 'replayed';

export interface QueryMetrics {
  ended(surface: string, outcome: QueryOutcome): void;
  /** From its arrival to a reply that is ready to leave. */
  replied(seconds: number): void;
}

const REPLY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45];

/** Declares them in the registry of the thread. */
export function createQueryMetrics(registry: MetricsRegistry): QueryMetrics {
  const replied = registry.histogram({
    name: 'tollgate_query_seconds',
    help: 'From the arrival of a query to its reply, cache hits and replays left out.',
    bounds: REPLY_SECONDS,
  });
  return {
    ended: registry.counter('tollgate_queries_total', 'Ended queries, by surface and outcome.', [
      'surface',
      'outcome',
    ]),
    replied: (seconds) => replied.observe(seconds),
  };
}
