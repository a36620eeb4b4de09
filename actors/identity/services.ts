// What identity offers to routes.
import type { CountIdentity } from './metrics.ts';
import type { Passwords } from './passwords.ts';

export interface IdentityServices {
  passwords: Passwords;
  /** Counts what became of an attempt. */
  count: CountIdentity;
}
