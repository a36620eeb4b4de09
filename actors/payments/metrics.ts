// What the main thread counts of payments. No account and no amount is a label.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export interface PaymentMetrics {
  /** A purchase moved to this state by its provider's answer. */
  moved(status: string): void;
  /** A purchase was credited. */
  credited(): void;
  /** A call of a provider had no answer. */
  failed(provider: string): void;
  /** Something was paid that nobody asked for. */
  anomaly(kind: string): void;
  /** What came of a stored event. */
  event(outcome: 'done' | 'foreign' | 'delayed'): void;
  /** What came of a charge without the person. */
  toppedUp(outcome: 'paid' | 'declined' | 'paused' | 'unknown'): void;
}

export function createPaymentMetrics(registry: MetricsRegistry): PaymentMetrics {
  const credited = registry.counter(
    'tollgate_purchases_credited_total',
    'Purchases whose credits were granted.',
    [],
  );
  return {
    moved: registry.counter('tollgate_purchases_moved_total', 'Moves of purchases.', ['status']),
    credited: () => credited(),
    failed: registry.counter(
      'tollgate_payment_calls_failed_total',
      'Calls of payment providers without an answer.',
      ['provider'],
    ),
    anomaly: registry.counter(
      'tollgate_payment_anomalies_total',
      'Payments that are not what was asked for.',
      ['kind'],
    ),
    event: registry.counter('tollgate_payment_events_total', 'Events of payment providers.', [
      'outcome',
    ]),
    toppedUp: registry.counter('tollgate_top_ups_total', 'Charges without the person.', [
      'outcome',
    ]),
  };
}
