// What both simulated accounts are made of.
import type { PaymentFaults } from './faults.ts';
import type { Later } from './later.ts';
import type { Webhooks } from './webhooks.ts';

export interface AccountParts {
  faults: PaymentFaults;
  webhooks: Webhooks;
  later: Later;
  /** Such as `pi_…`: of no other simulator, before or after. */
  newId(prefix: string): string;
}
