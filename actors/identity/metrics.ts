// What of signing in is counted: what failed, which no audit event tells of, and codes that were
// asked for. No label names a person.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

export type IdentityEvent =
  | 'code_asked'
  | 'code_refused'
  | 'code_right'
  | 'code_wrong'
  | 'guess_refused'
  | 'password_right'
  | 'password_wrong'
  | 'password_refused'
  | 'registered'
  | 'registration_refused';

/** Counts one of these. */
export type CountIdentity = (event: IdentityEvent) => void;

export function createIdentityCounter(registry: MetricsRegistry): CountIdentity {
  const help = 'Codes, passwords and new accounts, by what became of them.';
  return registry.counter('tollgate_identity_events_total', help, ['event']);
}
