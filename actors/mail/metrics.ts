// What the main thread counts of mail. No address is a label.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export interface MailMetrics {
  /** An attempt is over. */
  tried(outcome: 'sent' | 'deferred' | 'refused' | 'stopped'): void;
  /** Mails are over. */
  ended(state: 'sent' | 'failed', count: number): void;
  /** How many wait in the whole deployment, as was last seen here. */
  queued(count: number): void;
}

export function createMailMetrics(registry: MetricsRegistry): MailMetrics {
  const ended = registry.sum('tollgate_mails_total', 'Mails that are over.', ['state']);
  let queued = 0;
  registry.watch([['tollgate_mails_queued', 'Mails that wait, as last counted.', () => queued]]);
  return {
    tried: registry.counter('tollgate_mail_attempts_total', 'Attempts to send a mail.', [
      'outcome',
    ]),
    ended: (state, count) => ended(count, state),
    queued(count) {
      queued = count;
    },
  };
}
