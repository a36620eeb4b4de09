// What a thread counts of generations, speech and transcription.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import type { GenerationMetrics } from './spec.ts';

const FIRST_EVENT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

/** Declares them in the registry of the thread. */
export function createRequestMetrics(registry: MetricsRegistry): GenerationMetrics {
  const firstEvent = registry.histogram({
    name: 'tollgate_first_event_seconds',
    help: 'From the arrival of a request to the first event of its upstream.',
    bounds: FIRST_EVENT_SECONDS,
  });
  const givenAway = registry.sum(
    'tollgate_given_away_input_tokens_total',
    'Estimated input tokens of requests that were left before the first word.',
    ['model'],
  );
  return {
    firstEvent: (seconds) => firstEvent.observe(seconds),
    doubted: registry.counter(
      'tollgate_doubted_usage_total',
      'Usages that providers reported and that were not believed, by the part that was counted.',
      ['part'],
    ),
    unread: registry.counter(
      'tollgate_unread_parts_total',
      'Parts of answers that were of unknown kinds, by the family of the provider.',
      ['family'],
    ),
    ended: registry.counter('tollgate_generations_total', 'Ended generations.', ['status']),
    givenAway: (model, tokens) => givenAway(tokens, model),
    detached: registry.gauge(
      'tollgate_detached_generations',
      'Generations that run on without their client.',
    ),
  };
}
